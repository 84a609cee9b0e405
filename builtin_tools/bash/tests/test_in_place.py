from __future__ import annotations

from pathlib import Path

import pytest

from toolpost import Diff, View
from toolpost.testing import make_context
from toolpost_tool_bash import Bash, BashInput

LINES = "".join(f"line {number}\n" for number in range(1, 41))


async def preview(command: str, folder: Path) -> View | None:
    (folder / "src").mkdir()
    for name in ("a.txt", "src/b.txt"):
        (folder / name).write_text(LINES)
    view = await Bash().preview(BashInput(command), make_context(folder))
    assert [(folder / name).read_text() for name in ("a.txt", "src/b.txt")] == [LINES, LINES]
    return view


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("sed -i 's/line 20/other/' a.txt", "a.txt"),
        ("sed -Ei.bak 's/line (20)/other/' a.txt", "a.txt"),
        ("sed --in-place -e 's/line 20/other/' ./a.txt", "a.txt"),
        ("cd src && sed -i 's/line 20/other/' b.txt", "src/b.txt"),
        ("sed -i 's/line 20/other/' a.txt && git diff", "a.txt"),
    ],
)
async def test_an_edit_in_place_is_shown_as_the_change_of_its_file(command: str, name: str, tmp_path: Path) -> None:
    view = await preview(command, tmp_path)
    around = [f"line {number}" for number in (17, 18, 19, 20, 21, 22, 23)]
    after = [*around[:3], "other", *around[4:]]
    assert isinstance(view, Diff)
    assert Path(view.path).resolve() == tmp_path.resolve() / name
    assert (view.before, view.after, view.first_line) == ("\n".join(around), "\n".join(after), 17)


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/nothing/x/' a.txt",
        "sed -i 's/line 20/touch made/e' a.txt",
        "sed -i '20w made' a.txt",
        "sed -i 's/line/x/' a.txt src/b.txt",
        "sed -i 's/line 20/x/' missing.txt",
        "sed -i 's/line 20/x/' a.txt && touch made",
        "sed -n 20p a.txt",
        "rm a.txt",
    ],
)
async def test_whatever_else_is_shown_as_the_command_and_not_run(command: str, tmp_path: Path) -> None:
    assert await preview(command, tmp_path) is None
    assert not (tmp_path / "made").exists()
