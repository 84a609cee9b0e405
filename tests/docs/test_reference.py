"""The documentation says what the code does, and its links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from tests.docs.pages import EXAMPLES, PAGES, ROOT

from toolpost import on

MEMBERS = ("hookspecs", "core", "builtin_tools/*", "plugins/*/*")


def test_the_written_pages_are_current() -> None:
    stale = [
        str(page.relative_to(ROOT)) for page, text in _generate().pages().items() if page.read_text("utf-8") != text
    ]
    assert stale == [], "run `uv run python docs/generate.py`"


def test_every_event_has_a_row_with_all_that_its_contract_says() -> None:
    generate = _generate()
    rows = [line for line in generate.hooks_page().splitlines() if line.startswith("| [")]
    assert len(rows) == len(on.__all__)
    for name in on.__all__:
        said = generate.contract_of(getattr(on, name))
        assert all([said.summary, said.when, said.how_often, said.answer, said.failure]), name


def test_every_settings_key_with_a_meaning_is_read_by_somebody() -> None:
    folders = ("core/src", "builtin_tools/*/src", "plugins/*/*/src")
    files = [file for folder in folders for file in ROOT.glob(f"{folder}/**/*.py") if file.name != "keys.py"]
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    names = [re.escape(key.rpartition(".")[2]) for key in _generate().MEANINGS]
    assert [name for name in names if not re.search(rf"""["'.]{name}[."']""", code)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", prose)
    assert [to for to in targets if "://" not in to and not (page.parent / to).exists()] == []


def test_every_dependency_is_explained() -> None:
    page = (ROOT / "docs/design/dependencies.md").read_text(encoding="utf-8")
    explained = {line.split("|")[1].strip() for line in page.splitlines() if line.startswith("|")}
    assert sorted(_dependencies() - explained) == []
    assert sorted(explained - _dependencies() - {"distribution", "---"}) == []


def test_every_example_stands_in_the_index() -> None:
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    assert [folder.name for folder in EXAMPLES if f"examples/{folder.name}/" not in index] == []


def _generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs/generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _dependencies() -> set[str]:
    found: set[str] = set()
    for file in (file for member in MEMBERS for file in ROOT.glob(f"{member}/pyproject.toml")):
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        found |= {re.split(r"[<>=!~\[; ]", line)[0] for line in project.get("dependencies", ())}
    return {name for name in found if not name.startswith("toolpost")}
