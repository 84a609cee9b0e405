"""Tools: `@tool` for a function, `Tool` for one that needs more."""

from __future__ import annotations

import inspect
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Generic,
    Literal,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
    overload,
)

from toolpost._frozen import frozen
from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin
from toolpost._schema import InputShape, JsonSchema, Param, shape_of, shape_of_function

if TYPE_CHECKING:
    from toolpost.context import ToolContext
    from toolpost.frontends import View
    from toolpost.messages import Message, ToolResultBlock
    from toolpost.permissions import Decision, PermissionMatcher, PermissionScope, RuleUpdate

__all__ = ["InputShape", "JsonSchema", "McpInfo", "Param", "Progress", "Tool", "ToolResult", "tool"]

I = TypeVar("I")  # noqa: E741 - the input of a tool
UNLIMITED: Final = math.inf


class Progress(Protocol):
    """Tells the person how a call is getting on; never awaited, never fails."""

    def __call__(self, text: str, /, **data: Any) -> None:
        """Show a line; `data` is passed on to programs."""


ContextModifier: TypeAlias = "Callable[[ToolContext], ToolContext]"


@frozen()
class ToolResult:
    """What a call came to.

    `data` is the structured output, JSON-shaped: hooks and programs get it, `to_result_block` makes the model's text of
    it. `new_messages` follow the result. `context_modifier` changes the context of later calls; of what permissions
    depend on it moves the current folder only. `is_error` marks a result that the model should read as a failure although
    the tool ran.
    """

    data: Any
    new_messages: Sequence[Message] = ()
    context_modifier: ContextModifier | None = None
    mcp_meta: Mapping[str, Any] | None = None
    is_error: bool = False


@frozen()
class McpInfo:
    """Which server a tool comes from, and its name there; `source` says who set the server up (compat.md 2.1)."""

    server: str
    tool: str
    source: str = "dynamic"


class Tool(Plugin, ABC, Generic[I]):
    """A tool. Every default is fail-closed: not concurrency-safe, not read-only, asks before it runs.

    A subclass names itself, says what its input is and does its work in `call`:

        @frozen()
        class ReadInput:
            file_path: Annotated[str, "Absolute path of the file"]
            offset: Annotated[int | None, Param("First line, from 1", minimum=1)] = None

        class Read(Tool[ReadInput]):
            name = "Read"
            input_model = ReadInput

            def prompt(self, options: Mapping[str, Any]) -> str: ...
            async def call(self, input: ReadInput, ctx: ToolContext, progress: Progress) -> ToolResult: ...

    `input_model` is a dataclass or anything that pydantic can read. A tool that only has a JSON Schema (MCP) gives
    `input_schema` instead and gets the input as a dict. `max_result_chars` bounds what goes to the model inline (more is
    kept in a file with a preview); `UNLIMITED` is never moved to a file. `should_defer` tools are sent only after they
    were searched for, unless `always_load`. A failing call of an `aborts_siblings` tool calls off the calls of that tool
    that the model asked for beside it. `overrides` names the plugin whose tool of the same name this one replaces.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    search_hint: ClassVar[str] = ""
    input_model: ClassVar[type[Any] | None] = None
    input_schema: ClassVar[Mapping[str, Any] | None] = None
    output_model: ClassVar[type[Any] | None] = None
    max_result_chars: ClassVar[float] = 100_000
    should_defer: ClassVar[bool] = False
    always_load: ClassVar[bool] = False
    strict: ClassVar[bool] = False
    is_mcp: ClassVar[bool] = False
    mcp_info: ClassVar[McpInfo | None] = None
    overrides: ClassVar[str] = ""
    aborts_siblings: ClassVar[bool] = False

    @abstractmethod
    async def call(self, input: I, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Do the work; every gate has answered. Raises ToolError for a failure that the model reads."""

    def prompt(self, options: Mapping[str, Any]) -> str:
        """Return what the model is told about the tool; must not change within a session."""
        del options
        return inspect.getdoc(type(self)) or self.name

    def description(self, input: I) -> str:
        """Return one line for the person who is asked for permission."""
        return self.activity(input)

    def shape(self) -> InputShape[I]:
        """Return the shape of the input. Core calls it once a session."""
        if self.input_model is not None:
            return cast("InputShape[I]", shape_of(self.input_model))
        if self.input_schema is not None:
            return cast("InputShape[I]", _SchemaShape(dict(self.input_schema)))
        raise TypeError(f"{type(self).__qualname__} has neither input_model nor input_schema")

    def is_enabled(self) -> bool:
        """Whether the tool can work here at all."""
        return True

    def warm(self) -> None:
        """Import what a first call needs; core does so while the model answers. May do nothing."""

    def is_read_only(self, input: I) -> bool:
        """Whether this call changes nothing."""
        del input
        return False

    def is_concurrency_safe(self, input: I) -> bool:
        """Whether this call may run beside others."""
        del input
        return False

    def is_destructive(self, input: I) -> bool:
        """Whether this call may lose something for good."""
        del input
        return False

    def is_open_world(self, input: I) -> bool:
        """Whether this call reaches beyond this machine."""
        del input
        return False

    def is_search_or_read(self, input: I) -> bool:
        """Whether front ends may fold this call into a group of look-ups."""
        del input
        return False

    def interrupt_behavior(self) -> Literal["cancel", "block"]:
        """Whether a new message of the person ends a running call (`cancel`) or waits for it (`block`)."""
        return "block"

    async def validate_input(self, input: I, ctx: ToolContext) -> str | None:
        """Return what is wrong with the input beyond its shape, for the model; None if nothing. Changes nothing."""
        del input, ctx
        return None

    async def check_permissions(self, input: I, scope: PermissionScope) -> Decision | None:
        """Return the tool's own opinion on the call, or None. Rules, hooks and modes are held against it by core."""
        del input, scope
        return None

    def permission_matcher(self, input: I, scope: PermissionScope) -> PermissionMatcher | None:
        """Return how rules with a specifier are matched, for tools whose input needs understanding."""
        del input, scope
        return None

    def suggestions(self, input: I, scope: PermissionScope) -> Sequence[RuleUpdate]:
        """Return what a person who says "yes, always" would grant: by default all calls of the tool in this project.

        It should be as narrow as is of use. Nothing is offered where it is empty.
        """
        del input, scope
        return (
            {
                "type": "addRules",
                "behavior": "allow",
                "rules": [{"toolName": self.name}],
                "destination": "localSettings",
            },
        )

    async def preview(self, input: I, ctx: ToolContext) -> View | None:
        """Return what the call would do, to show it to the person who is asked; None for the input as it is.

        Changes nothing; what it raises is passed over.
        """
        del input, ctx
        return None

    def get_path(self, input: I) -> str | None:
        """Return the file or folder that the call is about, as the input gives it."""
        del input
        return None

    def backfill_observable_input(self, input: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any]:
        """Return the input as hooks and permissions should see it, such as with an absolute path."""
        del ctx
        return input

    def classifier_input(self, input: I) -> str:
        """Return what a permission classifier reads; empty to leave the call out."""
        del input
        return ""

    def to_result_block(self, data: Any, tool_use_id: str) -> ToolResultBlock:
        """Make the block that the model reads of `ToolResult.data`."""
        return {"type": "tool_result", "tool_use_id": tool_use_id, "content": _content(data)}

    def activity(self, input: I) -> str:
        """Return a few words for the spinner, such as "Reading src/app.py"."""
        del input
        return self.name

    def render_call(self, input: I) -> str:
        """Return the call's most telling argument, for the line that a front end shows."""
        return self.get_path(input) or ""

    def render_result(self, data: Any) -> View | None:
        """Return how a front end shows the result, or None for its text."""
        del data
        return None

    @hookimpl(specname="tools")
    def _tools(self) -> Sequence[Tool[Any]]:
        return (self,)


class _SchemaShape:
    """A JSON Schema as it is; core checks inputs against it."""

    def __init__(self, schema: JsonSchema) -> None:
        self.schema = schema

    def parse(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        return dict(raw)


Function: TypeAlias = Callable[..., Awaitable[Any]]


class FunctionTool(Tool[dict[str, Any]]):
    """What `@tool` makes of a function."""

    function: ClassVar[Function]
    text: ClassVar[str]
    injected: ClassVar[tuple[str, ...]]
    flags: ClassVar[Mapping[str, bool]]

    def shape(self) -> InputShape[dict[str, Any]]:
        """Return the shape of the function's parameters."""
        return shape_of_function(type(self).function, skip=self.injected)

    def prompt(self, options: Mapping[str, Any]) -> str:
        """Return the function's docstring."""
        del options
        return self.text

    def is_read_only(self, input: dict[str, Any]) -> bool:
        """As the decorator says."""
        del input
        return self.flags["read_only"]

    def is_concurrency_safe(self, input: dict[str, Any]) -> bool:
        """As the decorator says."""
        del input
        return self.flags["concurrency_safe"]

    def is_destructive(self, input: dict[str, Any]) -> bool:
        """As the decorator says."""
        del input
        return self.flags["destructive"]

    def is_open_world(self, input: dict[str, Any]) -> bool:
        """As the decorator says."""
        del input
        return self.flags["open_world"]

    def get_path(self, input: dict[str, Any]) -> str | None:
        """Return the parameter `path` or `file_path`, if the function has one."""
        path = input.get("file_path", input.get("path"))
        return None if path is None else str(path)

    async def call(self, input: dict[str, Any], ctx: ToolContext, progress: Progress) -> ToolResult:
        """Call the function; what it returns is the result's data unless it is a ToolResult."""
        extra = {"ctx": ctx, "progress": progress}
        answer = await type(self).function(**input, **{name: extra[name] for name in self.injected})
        return answer if isinstance(answer, ToolResult) else ToolResult(answer)


@overload
def tool(function: Function, /) -> FunctionTool: ...


@overload
def tool(
    *,
    name: str | None = None,
    aliases: Sequence[str] = (),
    read_only: bool = False,
    concurrency_safe: bool = False,
    destructive: bool = False,
    open_world: bool = False,
    search_hint: str = "",
    max_result_chars: float = 100_000,
    should_defer: bool = False,
    overrides: str = "",
) -> Callable[[Function], FunctionTool]: ...


def tool(
    function: Function | None = None,
    *,
    name: str | None = None,
    aliases: Sequence[str] = (),
    read_only: bool = False,
    concurrency_safe: bool = False,
    destructive: bool = False,
    open_world: bool = False,
    search_hint: str = "",
    max_result_chars: float = 100_000,
    should_defer: bool = False,
    overrides: str = "",
) -> FunctionTool | Callable[[Function], FunctionTool]:
    """Make a tool of an async function: its schema from the signature, its description from the docstring.

    Parameters named `ctx` and `progress` are handed in by core. The tool's name is the function's unless given.
    """

    def make(function: Function) -> FunctionTool:
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"@tool needs an async function; make it `async def {function.__name__}`")
        accepted = inspect.signature(function).parameters
        body: dict[str, Any] = {
            "__module__": function.__module__,
            "__doc__": function.__doc__,
            "name": name or function.__name__,
            "aliases": tuple(aliases),
            "search_hint": search_hint,
            "max_result_chars": max_result_chars,
            "should_defer": should_defer,
            "overrides": overrides,
            "function": staticmethod(function),
            "text": inspect.getdoc(function) or function.__name__,
            "injected": tuple(key for key in ("ctx", "progress") if key in accepted),
            "flags": {
                "read_only": read_only,
                "concurrency_safe": concurrency_safe,
                "destructive": destructive,
                "open_world": open_world,
            },
        }
        made = type(function.__name__, (FunctionTool,), body)
        return cast("FunctionTool", made())

    return make if function is None else make(function)


def _content(data: Any) -> Any:
    if isinstance(data, str):
        return data
    if isinstance(data, list) and data and all(isinstance(block, dict) and "type" in block for block in data):
        return data
    if is_dataclass(data) and not isinstance(data, type):
        data = asdict(data)
    return "" if data is None else json.dumps(data, ensure_ascii=False, default=str)
