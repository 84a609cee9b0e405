from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpost import FileRecord, InvalidInput, ToolContext, ToolFailed
from toolpost.testing import call_tool, make_context
from toolpost_tool_notebook_edit import NotebookEdit

EDIT = NotebookEdit()


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)


def code(source: Any, **more: Any) -> dict[str, Any]:
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [{"output_type": "stream"}]}
    return {**cell, "source": source, **more}


def book(*cells: dict[str, Any], minor: int = 5) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": minor}


def seen(ctx: ToolContext, document: Any, **form: Any) -> Path:
    """Put a notebook there and note it as read."""
    text = document if isinstance(document, str) else json.dumps(document, **form)
    path = ctx.cwd / "n.ipynb"
    data = text.encode()
    path.write_bytes(data)
    ctx.reads.put(path, FileRecord(digest=hashlib.sha256(data).hexdigest(), mtime_ns=0, size=len(data)))
    return path


async def edit(ctx: ToolContext, **given: Any) -> Any:
    return (await call_tool(EDIT, {"notebook_path": str(ctx.cwd / "n.ipynb"), "new_source": "", **given}, ctx)).data


def cells_of(path: Path) -> list[Any]:
    return list(json.loads(path.read_bytes())["cells"])


async def test_all_but_the_changed_cell_stays_byte_for_byte(ctx: ToolContext) -> None:
    kept = '{"cells":[\n {"cell_type" : "raw","source":"\\u00e4 1.50","n":1.50},\n '
    text = kept + '{"id":"b","cell_type":"raw","source":"x"}\n]}\n\n'
    path = seen(ctx, text)

    await edit(ctx, cell_id="b", new_source="y")

    assert path.read_text().startswith(kept)
    assert path.read_text().endswith("}\n]}\n\n")
    assert cells_of(path)[1] == {"id": "b", "cell_type": "raw", "source": "y", "metadata": {}}


async def test_the_result_says_which_lines_of_the_file_changed(ctx: ToolContext) -> None:
    path = seen(ctx, book(code(["a"], id="x"), code(["b"], id="y")), indent=1)
    before = path.read_text().splitlines()

    data = await edit(ctx, cell_id="y", new_source="c")

    (hunk,) = data["structuredPatch"]
    old = [line[1:] for line in hunk["lines"] if line[0] != "+"]
    assert before[hunk["oldStart"] - 1 :][: hunk["oldLines"]] == old
    assert [line for line in hunk["lines"] if '"b"' in line or '"c"' in line] == ['-    "b"', '+    "c"']


async def test_the_files_indentation_and_line_endings_are_kept(ctx: ToolContext) -> None:
    document = book(code(["a\n", "b"], id="x"), code(["c"], id="y"))
    path = seen(ctx, json.dumps(document, indent=3).replace("\n", "\r\n"))

    await edit(ctx, cell_id="y", new_source="d\ne", edit_mode="insert", cell_type="markdown")
    await edit(ctx, cell_id="x", new_source="1\n2")
    await edit(ctx, cell_id="y", edit_mode="delete")

    text = path.read_bytes().decode()
    assert text == json.dumps(json.loads(text), indent=3).replace("\n", "\r\n")
    assert [cell["source"] for cell in cells_of(path)] == [["1\n", "2"], ["d\n", "e"]]


async def test_a_compact_notebook_stays_compact(ctx: ToolContext) -> None:
    path = seen(ctx, book(code("a", id="x")), separators=(",", ":"))

    await edit(ctx, new_source="b", edit_mode="insert", cell_type="code")

    text = path.read_text()
    assert text == json.dumps(json.loads(text), separators=(",", ":"))


async def test_changing_the_type_of_a_cell_gives_it_the_keys_of_that_type(ctx: ToolContext) -> None:
    path = seen(ctx, book(code("a", id="x", metadata={"tags": ["keep"]})))

    await edit(ctx, cell_id="x", new_source="b", cell_type="markdown")
    assert cells_of(path) == [{"cell_type": "markdown", "metadata": {"tags": ["keep"]}, "source": "b", "id": "x"}]

    await edit(ctx, cell_id="x", new_source="c", cell_type="code")
    assert cells_of(path)[0]["outputs"] == []
    assert cells_of(path)[0]["execution_count"] is None


async def test_an_unknown_cell_is_refused_with_the_ids_that_there_are(ctx: ToolContext) -> None:
    seen(ctx, book(code("a", id="x"), code("b")))

    with pytest.raises(ToolFailed, match=r"no cell 'z'.*x, cell-1"):
        await edit(ctx, cell_id="z", new_source="c")


async def test_an_id_that_two_cells_have_is_refused_and_their_numbers_are_named(ctx: ToolContext) -> None:
    path = seen(ctx, book(code("a", id="x"), code("b", id="x")))

    with pytest.raises(ToolFailed, match="cell-0 or cell-1"):
        await edit(ctx, cell_id="x", new_source="c")
    await edit(ctx, cell_id="cell-1", new_source="c")

    assert [cell["source"] for cell in cells_of(path)] == ["a", "c"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 1}', '{"cells": [1]}', '{"worksheets": []}', "[" * 100_000])
async def test_what_is_no_notebook_is_refused_and_left_alone(ctx: ToolContext, text: str) -> None:
    path = seen(ctx, text)

    with pytest.raises(ToolFailed, match="not a valid notebook"):
        await edit(ctx, cell_id="a", new_source="b")

    assert path.read_text() == text


async def test_an_edit_that_changes_nothing_is_refused(ctx: ToolContext) -> None:
    seen(ctx, book({"cell_type": "markdown", "id": "x", "metadata": {}, "source": "a"}))

    with pytest.raises(ToolFailed, match="nothing would change"):
        await edit(ctx, cell_id="x", new_source="a")


async def test_half_a_character_is_refused(ctx: ToolContext) -> None:
    seen(ctx, book(code("a", id="x")))

    with pytest.raises((ToolFailed, InvalidInput), match="half a character"):
        await edit(ctx, cell_id="x", new_source="\ud83d")


async def test_half_a_character_in_the_file_stays_an_escape(ctx: ToolContext) -> None:
    path = seen(ctx, book(code("a", id="x", metadata={"odd": "\udc80", "even": "ä"})))

    await edit(ctx, cell_id="x", new_source="ü")

    assert cells_of(path)[0]["metadata"] == {"odd": "\udc80", "even": "ä"}


CELLS = st.lists(
    st.fixed_dictionaries(
        {"cell_type": st.sampled_from(["code", "markdown", "raw"]), "source": st.text() | st.lists(st.text())},
        optional={"metadata": st.dictionaries(st.text(), st.floats(allow_nan=False) | st.text(), max_size=2)},
    ),
    max_size=4,
)
FORMS = st.fixed_dictionaries({"indent": st.sampled_from([None, 0, 1, 4, "\t"]), "ensure_ascii": st.just(True)})


@settings(max_examples=80, deadline=None)
@given(
    cells=CELLS,
    form=FORMS,
    mode=st.sampled_from(["replace", "insert", "delete"]),
    at=st.integers(0, 3),
    source=st.text(st.characters(exclude_categories=["Cs"])),
)
async def test_a_change_leaves_every_other_cell_and_key_as_it_was(
    cells: list[dict[str, Any]], form: dict[str, Any], mode: str, at: int, source: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ctx = make_context(Path(folder).resolve())
        document = {"metadata": {"cells": []}, **book(*cells, minor=4), "more": {"cells": [1]}}
        path = seen(ctx, document, **form)
        more = {} if mode == "insert" and not cells else {"cell_id": f"cell-{at}"}
        try:
            await edit(ctx, new_source=source, edit_mode=mode, cell_type="code", **more)
        except ToolFailed:
            assert json.loads(path.read_bytes()) == document
            return
        after = json.loads(path.read_bytes())

    assert {**after, "cells": 0} == {**document, "cells": 0}
    if mode == "delete":
        assert after["cells"] == cells[:at] + cells[at + 1 :]
        return
    place = at if mode == "replace" else at + 1 if cells else 0
    others = cells[:place] + cells[place + (mode == "replace") :]
    made = after["cells"].pop(place)
    assert after["cells"] == others
    assert "".join(made["source"]) == source
