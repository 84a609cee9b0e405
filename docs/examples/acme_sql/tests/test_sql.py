import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from acme_sql import Execute, Query, Schema, Sql
from toolpost import Ask, Tool, ToolFailed
from toolpost.testing import call_tool, make_context


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "app.db")) as db, db:
        db.execute("create table fruit (name text, price integer)")
        db.executemany("insert into fruit values (?, ?)", [("apple", 3), ("pear", 4), ("plum", 2)])
    return tmp_path


def call(folder: Path, *calls: tuple[Tool[Any], dict[str, Any]]) -> list[Any]:
    """Make calls in one session; return what they came to."""

    async def run() -> list[Any]:
        ctx = make_context(folder)
        try:
            return [(await call_tool(tool, given, ctx)).data for tool, given in calls]
        finally:
            await ctx.stash.aclose()

    return asyncio.run(run())


def test_a_query_sees_what_was_executed_before_it(folder: Path) -> None:
    change = (Execute(), {"sql": "update fruit set price = ? where name = ?", "values": ["9", "plum"]})
    done, found = call(folder, change, (Query(), {"sql": "select price from fruit where name = 'plum'"}))
    assert done == "Done; 1 rows changed."
    assert found == {"columns": ["price"], "rows": [[9]], "more": False}


def test_an_answer_is_cut_at_the_row_that_the_setting_says_and_says_so(folder: Path) -> None:
    (found,) = call(folder, (Query(max_rows=2), {"sql": "select name from fruit"}))
    assert (found["rows"], found["more"]) == ([["apple"], ["pear"]], True)


def test_a_query_can_not_change_anything(folder: Path) -> None:
    before = (folder / "app.db").read_bytes()
    with pytest.raises(ToolFailed, match="readonly"):
        call(folder, (Query(), {"sql": "delete from fruit"}))
    assert (folder / "app.db").read_bytes() == before


def test_a_wrong_path_makes_no_database(folder: Path) -> None:
    with pytest.raises(ToolFailed, match="`database`"):
        call(folder, (Schema(database="none.db"), {}))
    assert not (folder / "none.db").exists()


def test_a_change_asks_and_names_the_statement(folder: Path) -> None:
    tool = Execute()
    answer = asyncio.run(
        tool.check_permissions(tool.shape().parse({"sql": "drop table fruit"}), make_context(folder).scope)
    )
    assert isinstance(answer, Ask)
    assert "drop table fruit" in answer.reason


def test_the_family_hands_its_settings_to_its_tools() -> None:
    tools = {tool.name: tool for tool in Sql(database="x.db", max_rows=5).tools()}
    assert sorted(tools) == ["sql_execute", "sql_query", "sql_schema"]
    assert {vars(tool)["database"] for tool in tools.values()} == {"x.db"}
