"""The page on recovery has the table that the loop goes by."""

from __future__ import annotations

import re
from pathlib import Path

from toolpost_core.loop.recover import COURSES, WITHOUT_END, Course

PAGE = Path(__file__).parents[2] / "docs/explanation/recovery.md"


def row_of(course: Course) -> tuple[str, str]:
    """Return the last two cells of a course's row."""
    steps = [
        f"`{step.transition}`" + (f" ({step.times})" if 1 < step.times < WITHOUT_END else "") for step in course.steps
    ]
    return ", ".join(steps), f"`{course.end}`"


def test_the_page_has_each_course_of_the_loop_and_no_other() -> None:
    cells = re.findall(r"^\| [^|]+ \| (`[^|]+) \| (`\w+`) \|$", PAGE.read_text(), re.MULTILINE)

    assert sorted(cells) == sorted(row_of(course) for course in COURSES.values() if course.steps)
