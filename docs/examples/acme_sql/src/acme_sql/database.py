"""One connection a session, used in a thread, so that the session goes on while the database works."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from toolpost import AbortSignal, StashKey, ToolContext, ToolFailed

T = TypeVar("T")


class Connection:
    """The database of a session. The stash closes it as the session ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = asyncio.Lock()
        self._open: sqlite3.Connection | None = None

    async def schema(self) -> str:
        rows = await self._run(lambda db: db.execute("select sql from sqlite_master where sql is not null").fetchall())
        return ";\n".join(sql for (sql,) in rows) or "The database has no tables."

    async def query(self, sql: str, values: Sequence[str], limit: int, abort: AbortSignal) -> dict[str, Any]:
        def ask(db: sqlite3.Connection) -> dict[str, Any]:
            db.execute("pragma query_only = on")
            try:
                cursor = db.execute(sql, tuple(values))
                rows = [list(map(_plain, row)) for row in cursor.fetchmany(limit)]
                columns = [column[0] for column in cursor.description or ()]
                return {"columns": columns, "rows": rows, "more": cursor.fetchone() is not None}
            finally:
                db.execute("pragma query_only = off")

        return await self._run(ask, abort)

    async def execute(self, sql: str, values: Sequence[str], abort: AbortSignal) -> int:
        def change(db: sqlite3.Connection) -> int:
            with db:
                return max(db.execute(sql, tuple(values)).rowcount, 0)

        return await self._run(change, abort)

    async def aclose(self) -> None:
        if self._open is not None:
            self._open.close()

    async def _run(self, work: Callable[[sqlite3.Connection], T], abort: AbortSignal | None = None) -> T:
        async with self._turn:
            db = self._connected()
            task = asyncio.create_task(asyncio.to_thread(work, db))
            watch = asyncio.create_task(abort.wait()) if abort is not None else None
            try:
                await asyncio.wait({task, watch} if watch else {task}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                if watch is not None:
                    watch.cancel()
                # An interrupt that comes before the statement began is lost, so it is repeated.
                while not task.done():
                    db.interrupt()
                    await asyncio.wait({task}, timeout=0.01)
            if abort is not None:
                abort.raise_if_aborted()
            try:
                return await task
            except (sqlite3.Error, sqlite3.Warning, UnicodeError) as error:
                raise ToolFailed(f"{self._path.name}: {error}. Nothing was changed.") from error

    def _connected(self) -> sqlite3.Connection:
        if self._open is None:
            try:
                # mode=rw makes no new file where the path is wrong.
                self._open = sqlite3.connect(f"{self._path.as_uri()}?mode=rw", uri=True, check_same_thread=False)
            except sqlite3.Error as error:
                raise ToolFailed(f"Can't open {self._path}: {error}. Is the setting `database` right?") from error
        return self._open


_CONNECTION = StashKey[Connection]("acme-sql connection")


def connection(ctx: ToolContext, database: str) -> Connection:
    """Return the session's connection; all tools of the family share it."""
    if _CONNECTION not in ctx.stash:
        ctx.stash[_CONNECTION] = Connection(ctx.resolve(database))
    return ctx.stash[_CONNECTION]


def _plain(value: Any) -> Any:
    return f"{len(value)} bytes" if isinstance(value, bytes) else value
