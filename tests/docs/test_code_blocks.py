"""Code in the documentation runs, and what it shows of the examples is what the examples hold."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from tests.docs.pages import EXAMPLES, PAGES, ROOT, Block, blocks

READABLE = {"json": json.loads, "toml": tomllib.loads}
RUN = [page for page in PAGES if any("run" in block.words for block in blocks(page))]
BLOCKS = [block for page in PAGES for block in blocks(page)]


def _name(block: Block) -> str:
    return f"{block.page.relative_to(ROOT)}:{block.line}"


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_blocks_of_a_page_run_one_after_another(page: Path) -> None:
    namespace: dict[str, object] = {"__name__": "a_page_of_the_documentation"}
    for block in blocks(page):
        if block.language == "python" and "run" in block.words:
            exec(compile("\n" * block.line + block.text, str(page), "exec", dont_inherit=True), namespace)


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "python"], ids=_name)
def test_python_is_python(block: Block) -> None:
    compile(block.text, _name(block), "exec", dont_inherit=True)


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language in READABLE], ids=_name)
def test_data_can_be_read(block: Block) -> None:
    READABLE[block.language](block.text)


def test_the_tutorial_shows_the_files_of_its_example() -> None:
    shown = [block.text for block in blocks(ROOT / "docs/tutorial.md")]
    example = ROOT / "docs/examples/acme_words"
    for file in ("src/acme_words/__init__.py", "tests/test_contract.py"):
        assert (example / file).read_text(encoding="utf-8") in shown, file
    packaging = next(tomllib.loads(text) for text in shown if text.startswith("[project]"))
    project = tomllib.loads((example / "pyproject.toml").read_text(encoding="utf-8"))
    assert packaging["project"].items() <= project["project"].items()
    assert packaging["build-system"] == project["build-system"]


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_an_example_is_turned_on_by_the_name_of_its_entry_point(folder: Path) -> None:
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [name for entries in project["entry-points"].values() for name in entries]
    settings = [json.loads(block.text) for block in blocks(folder / "README.md") if block.language == "json"]
    assert [list(block["plugins"]) for block in settings] == [names]
