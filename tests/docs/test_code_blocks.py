"""Code in the documentation runs, and what it shows of the examples is what the examples hold."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from tests.docs.pages import EXAMPLES, PAGES, ROOT, Block, as_module, blocks

from toolpost_core.plugins.capabilities import parse

READABLE = {"json": json.loads, "toml": tomllib.loads}
RUN = [page for page in PAGES if any("run" in block.words for block in blocks(page))]
BLOCKS = [block for page in PAGES for block in blocks(page)]


def _name(block: Block) -> str:
    return f"{block.page.relative_to(ROOT)}:{block.line}"


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_blocks_of_a_page_run_one_after_another(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("a_page_of_the_documentation")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(as_module(page), str(page), "exec", dont_inherit=True), vars(module))


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "python"], ids=_name)
def test_python_is_python(block: Block) -> None:
    compile(block.text, _name(block), "exec", dont_inherit=True)


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language in READABLE], ids=_name)
def test_data_can_be_read(block: Block) -> None:
    READABLE[block.language](block.text)


@pytest.mark.parametrize("block", [block for block in BLOCKS if "[capabilities" in block.text], ids=_name)
def test_capabilities_are_ones_that_there_are(block: Block) -> None:
    assert parse(block.text, _name(block)).mistake == ""


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_an_example_is_turned_on_by_the_name_of_its_entry_point(folder: Path) -> None:
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [name for entries in project["entry-points"].values() for name in entries]
    shown = [json.loads(block.text) for block in blocks(folder / "README.md") if block.language == "json"]
    assert [list(block["plugins"]) for block in shown if "plugins" in block] == [names]
