"""The documentation says what the code does, and its links lead somewhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import generate
import pytest
from tests.docs.pages import EXAMPLES, PAGES, ROOT, prose

from toolpost import on

MEMBERS = ("hookspecs", "core", "builtin_tools/*", "plugins/*/*")


def test_the_written_pages_are_current() -> None:
    stale = [str(page.relative_to(ROOT)) for page, text in generate.pages().items() if page.read_text("utf-8") != text]
    assert stale == [], "run `uv run python docs/generate.py`"


def test_every_event_has_a_row_with_all_that_its_contract_says() -> None:
    rows = [line for line in generate.hooks_page().splitlines() if line.startswith("| [")]
    assert len(rows) == len(on.__all__)
    for name in on.__all__:
        said = generate.contract_of(getattr(on, name))
        assert all([said.summary, said.when, said.how_often, said.answer, said.failure]), name


def test_every_settings_key_with_a_meaning_is_read_by_somebody() -> None:
    folders = ("hookspecs/src", "core/src", "builtin_tools/*/src", "plugins/*/*/src")
    files = [file for folder in folders for file in ROOT.glob(f"{folder}/**/*.py") if file.name != "keys.py"]
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    names = [re.escape(key.rpartition(".")[2]) for key in generate.MEANINGS]
    assert [name for name in names if not re.search(rf"""["'.]{name}[."']""", code)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file_and_a_heading_of_it(page: Path) -> None:
    links = [to for to in re.findall(r"\]\(([^)\s]+)\)", prose(page)) if "://" not in to]
    assert [to for to in links if not (page.parent / to.partition("#")[0]).exists()] == []
    to_headings = [to for to in links if "#" in to]
    assert [to for to in to_headings if to.partition("#")[2] not in _anchors(page, to.partition("#")[0])] == []


def test_every_dependency_is_explained() -> None:
    page = (ROOT / "docs/design/dependencies.md").read_text(encoding="utf-8")
    explained = {line.split("|")[1].strip() for line in page.splitlines() if line.startswith("|")}
    assert sorted(_dependencies() - explained) == []
    assert sorted(explained - _dependencies() - {"distribution", "---"}) == []


def test_every_example_stands_in_the_index() -> None:
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    assert [folder.name for folder in EXAMPLES if f"examples/{folder.name}/" not in index] == []


def _anchors(page: Path, to: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(page.parent / to if to else page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _dependencies() -> set[str]:
    found: set[str] = set()
    for file in (file for member in MEMBERS for file in ROOT.glob(f"{member}/pyproject.toml")):
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        found |= {re.split(r"[<>=!~\[; ]", line)[0] for line in project.get("dependencies", ())}
    return {name for name in found if not name.startswith("toolpost")}
