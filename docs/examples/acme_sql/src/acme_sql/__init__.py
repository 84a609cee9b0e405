"""Tools for one SQLite database: its schema, queries, and changes that are asked about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from toolpost import Ask, Decision, PermissionScope, Plugin, Progress, Tool, ToolContext, ToolResult, hookimpl

from .database import connection


@dataclass(frozen=True)
class Nothing:
    pass


@dataclass(frozen=True)
class Statement:
    sql: Annotated[str, "One statement, with ? for each value"]
    values: Annotated[tuple[str, ...], "What the ? stand for, in order"] = ()


class Schema(Tool[Nothing]):
    """Show the statements that made the tables, indexes and views of the SQL database."""

    name = "sql_schema"
    search_hint = "tables and columns of the database"
    input_model = Nothing
    database: str = "app.db"

    def is_read_only(self, input: Nothing) -> bool:
        return True

    async def call(self, input: Nothing, ctx: ToolContext, progress: Progress) -> ToolResult:
        return ToolResult(await connection(ctx, self.database).schema())


class Query(Tool[Statement]):
    """Ask the SQL database with one SELECT statement. It can't change anything; sql_execute does."""

    name = "sql_query"
    search_hint = "rows of the database"
    input_model = Statement
    database: str = "app.db"
    max_rows: int = 100

    def is_read_only(self, input: Statement) -> bool:
        return True

    def render_call(self, input: Statement) -> str:
        return input.sql

    async def call(self, input: Statement, ctx: ToolContext, progress: Progress) -> ToolResult:
        rows = await connection(ctx, self.database).query(input.sql, input.values, self.max_rows, ctx.abort)
        return ToolResult(rows)


class Execute(Tool[Statement]):
    """Change the SQL database with one statement. It is committed if it works, else nothing is changed."""

    name = "sql_execute"
    input_model = Statement
    database: str = "app.db"

    def is_destructive(self, input: Statement) -> bool:
        return True

    def render_call(self, input: Statement) -> str:
        return input.sql

    async def check_permissions(self, input: Statement, scope: PermissionScope) -> Decision | None:
        return Ask(f"It changes {self.database}: {input.sql:.200}")

    async def call(self, input: Statement, ctx: ToolContext, progress: Progress) -> ToolResult:
        changed = await connection(ctx, self.database).execute(input.sql, input.values, ctx.abort)
        return ToolResult(f"Done; {changed} rows changed.")


class Sql(Plugin):
    """The family: what its tools share are the settings, and the connection in the session's stash."""

    database: str = "app.db"
    max_rows: int = 100

    @hookimpl
    def tools(self) -> Sequence[Tool[Any]]:
        return (
            Schema(database=self.database),
            Query(database=self.database, max_rows=self.max_rows),
            Execute(database=self.database),
        )
