import sqlite3
from contextlib import closing

from acme_sql import Execute, Query, Schema
from toolpost.testing import ToolContract


def shop() -> bytes:
    """Return a small database."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("create table fruit (name text, price integer)")
        db.executemany("insert into fruit values (?, ?)", [("apple", 3), ("pear", 4), ("plum", 2)])
        db.commit()
        return db.serialize()


FOREVER = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"


class TestSchema(ToolContract):
    tool = Schema
    example = {}
    files = {"app.db": shop()}


class TestQuery(ToolContract):
    tool = Query
    example = {"sql": "select name from fruit where price > ?", "values": ["2"]}
    examples_invalid = ({"sql": "delete from fruit"}, {"sql": "select"}, {"sql": "select 1; select 2"})
    example_slow = {"sql": FOREVER}
    files = {"app.db": shop()}


class TestExecute(ToolContract):
    tool = Execute
    example = {"sql": "update fruit set price = price + ?", "values": ["1"]}
    examples_invalid = ({"sql": "update nothing set a = 1"},)
    files = {"app.db": shop()}
