"""The contract kit of tools."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from toolpost.context import ToolContext
from toolpost.errors import Aborted, InvalidInput, ToolError, ToolpostError
from toolpost.permissions import Decision
from toolpost.testing._contract import BOUND, Contract, finish, made, quickest, registered
from toolpost.testing._folders import outside, snapshot
from toolpost.testing._schema_check import problems
from toolpost.testing._tool_bytes import sent_by
from toolpost.testing._tool_inputs import mistakes, nonsense
from toolpost.testing._tool_results import is_jsonable, problem_of
from toolpost.testing.context import call_tool, make_context
from toolpost.testing.doubles import AbortSwitch
from toolpost.tools import Tool, ToolResult

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class ToolContract(Contract):
    """The suite for a tool.

    `tool` is the tool or its class, `example` an input that works in a folder with `files` in it. `examples_invalid` are
    inputs that must be refused, `example_slow` one whose call takes long. `services` maps Protocols to doubles.
    """

    tool: ClassVar[Tool[Any] | type[Tool[Any]]]
    example: ClassVar[Mapping[str, Any]]
    examples_invalid: ClassVar[Sequence[Mapping[str, Any]]] = ()
    example_slow: ClassVar[Mapping[str, Any] | None] = None
    services: ClassVar[Mapping[Any, object]] = {}
    max_prompt_chars: ClassVar[int] = 12_000
    within: ClassVar[float] = 1.0
    """Seconds that a call may take to its end after it was called off."""

    def make(self) -> Tool[Any]:
        """Return the tool."""
        tool: Tool[Any] = made(type(self).tool)
        return tool

    def make_example(self, folder: Path) -> Mapping[str, Any]:
        """Return the example; override it where an input depends on the folder."""
        del folder
        return self.example

    async def prepare(self, ctx: ToolContext) -> None:
        """Do what must come before the example's call, such as having read a file; nothing by default."""

    def test_it_registers_itself_as_a_tool(self) -> None:
        """If this fails: make it with @tool or inherit from Tool, and let the entry point name it: core asks its hook."""
        tool = self.make()
        assert tool in registered(tool, "tools"), f"the plugin {tool!r} does not register the tool"

    def test_its_names_are_legal(self) -> None:
        """If this fails: use 1 to 64 letters, digits, _ or - for each name, none twice: the service takes no others."""
        tool = self.make()
        names = [tool.name, *tool.aliases]
        assert [name for name in names if not _NAME.fullmatch(name)] == []
        assert len(set(names)) == len(names), f"{names} has a name twice"

    def test_its_input_schema_is_valid(self) -> None:
        """If this fails: mend the part that is named: the service refuses a whole request for one bad schema."""
        assert problems(self.make().shape().schema) == []

    def test_its_schema_survives_the_wire(self) -> None:
        """If this fails: keep to what JSON has (no sets, tuples, dates or NaN) and to string keys: it is sent as JSON."""
        schema = self.make().shape().schema
        assert json.loads(json.dumps(schema, allow_nan=False)) == schema

    def test_its_name_schema_and_prompt_are_the_same_bytes_in_every_process(self) -> None:
        """If this fails: an order or text depends on the hash seed, the time or an id(), and costs the prompt cache."""
        tool = self.make()
        assert sent_by(tool, seed=1) == sent_by(tool, seed=2)

    def test_its_schema_and_prompt_are_the_same_bytes_each_time(self) -> None:
        """If this fails: take times, paths, sets and random ids out of prompt() and schema; they cost the prompt cache."""
        first, second = ((tool.prompt({}), json.dumps(tool.shape().schema)) for tool in (self.make(), self.make()))
        assert first == second

    def test_its_prompt_says_something_and_not_too_much(self) -> None:
        """If this fails: write a docstring or prompt() of at least a sentence, or cut it: every request carries it."""
        text = self.make().prompt({})
        assert 15 <= len(text) <= self.max_prompt_chars, f"the prompt has {len(text)} characters"

    def test_the_example_is_a_legal_input(self, folder: Path) -> None:
        """If this fails: mend `example`, or what shape() and validate_input() refuse; all other rules look at its call."""
        tool = self.make()
        ctx = self._context(folder)
        parsed = tool.shape().parse(self.make_example(folder))
        finish(self.prepare(ctx))
        assert finish(tool.validate_input(parsed, ctx)) is None

    def test_an_input_of_the_wrong_shape_is_refused_by_the_name_of_the_parameter(self, folder: Path) -> None:
        """If this fails: raise InvalidInput that names the parameter; it is all the model has to mend its call."""
        tool = self.make()
        if tool.input_model is None and tool.input_schema is not None:
            return  # Core holds inputs against a bare schema.
        shape = tool.shape()
        for parameter, wrong in mistakes(shape.schema, self.make_example(folder)):
            with pytest.raises(InvalidInput, match=re.escape(parameter)):
                shape.parse(wrong)

    def test_invalid_examples_are_refused(self, folder: Path) -> None:
        """If this fails: refuse it in shape(), validate_input() or with a ToolError from call(): the model then mends it."""
        for example in self.examples_invalid:
            with pytest.raises(ToolError):
                finish(self._call(self._context(folder), example))

    def test_its_flags_agree_with_each_other(self, folder: Path) -> None:
        """If this fails: a read-only call destroys nothing, only such calls are searches or reads: core goes by flags."""
        tool = self.make()
        parsed = tool.shape().parse(self.make_example(folder))
        flags = [tool.is_read_only, tool.is_destructive, tool.is_concurrency_safe, tool.is_open_world]
        assert [flag(parsed) for flag in flags] == [bool(flag(parsed)) for flag in flags], (
            "flags must be bools, and stay"
        )
        assert not (tool.is_read_only(parsed) and tool.is_destructive(parsed)), "read-only and destructive at once"
        assert tool.is_read_only(parsed) or not tool.is_search_or_read(parsed), "a search or read that is not read-only"
        assert not (tool.should_defer and tool.always_load), "should_defer and always_load at once"
        assert tool.interrupt_behavior() in ("cancel", "block")
        assert tool.max_result_chars > 0

    def test_it_can_be_shown_to_a_person(self, folder: Path) -> None:
        """If this fails: activity(), description() and render_call() give a short line for any legal input, to be read."""
        tool = self.make()
        parsed = tool.shape().parse(self.make_example(folder))
        for text in (tool.activity(parsed), tool.description(parsed)):
            assert text.strip(), "an empty line says nothing"
            assert len(text) <= 500, f"{text!r:.80} is too long for a line"
        assert isinstance(tool.render_call(parsed), str)
        assert isinstance(tool.get_path(parsed), str | None)

    def test_its_permission_questions_change_nothing(self, folder: Path) -> None:
        """If this fails: answer from the input and the scope alone; these run before anybody allowed anything."""
        tool = self.make()
        ctx = self._context(folder)
        example = self.make_example(folder)
        before, asked = snapshot(folder), json.dumps(example)
        parsed = tool.shape().parse(example)
        assert isinstance(finish(tool.check_permissions(parsed, ctx.scope)), Decision | None)
        matcher = tool.permission_matcher(parsed, ctx.scope)
        assert matcher is None or list(matcher.parts) or matcher.doubt, "a matcher needs a part or a doubt"
        tool.backfill_observable_input(example, ctx)
        assert json.dumps(example) == asked, "backfill_observable_input must return a new mapping"
        assert snapshot(folder) == before

    def test_a_call_gives_a_result_that_the_model_can_read(self, folder: Path) -> None:
        """If this fails: return JSON-shaped data in a ToolResult, and make the same legal tool_result of it each time."""
        tool = self.make()
        result = finish(self._example_call(folder))
        assert isinstance(result, ToolResult)
        assert not result.is_error, f"the example failed: {result.data!r:.300}"
        assert is_jsonable(result.data), "ToolResult.data must be JSON-serialisable: programs and hooks get it"
        block = tool.to_result_block(result.data, "toolu_test")
        assert block == tool.to_result_block(result.data, "toolu_test"), "the block differs from one time to the next"
        assert (block["type"], block["tool_use_id"]) == ("tool_result", "toolu_test")
        assert problem_of(block["content"]) == ""
        tool.render_result(result.data)

    def test_a_call_that_is_read_only_changes_nothing(self, folder: Path) -> None:
        """If this fails: is_read_only() must be False for a call that writes: read-only calls are run without asking."""
        tool = self.make()
        if not tool.is_read_only(tool.shape().parse(self.make_example(folder))):
            return
        before = snapshot(folder)
        finish(self._example_call(folder))
        assert snapshot(folder) == before

    def test_a_call_that_is_read_only_writes_nothing_elsewhere(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """If this fails: a file appeared or changed in the home or temporary folder; the call is not read-only."""
        tool = self.make()
        if not tool.is_read_only(tool.shape().parse(self.make_example(folder))):
            return
        for variable, name in (("HOME", "home"), ("TMPDIR", "tmp"), ("XDG_CACHE_HOME", "cache")):
            (tmp_path / name).mkdir(exist_ok=True)
            monkeypatch.setenv(variable, str(tmp_path / name))
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
        before = outside(tmp_path, folder)
        finish(self._example_call(folder))
        assert outside(tmp_path, folder) == before

    def test_an_input_that_makes_no_sense_is_refused_not_crashed_on(self, folder: Path) -> None:
        """If this fails: the model writes the input. Raise ToolError with what is wrong; only an OSError says it too.

        Only calls that say that they are read-only are made; of the others, what core asks before it makes a call.
        """
        tool, example = self.make(), self.make_example(folder)
        for wrong in nonsense(tool.shape().schema, example):
            try:
                finish(self._ask_about(tool, self._context(folder), wrong))
            except (ToolpostError, OSError):
                continue
            except Exception as error:
                pytest.fail(f"{wrong!r:.200} raised {type(error).__name__}: {error!s:.200}")

    def test_a_call_keeps_nothing_in_the_tool(self, folder: Path) -> None:
        """If this fails: keep it in ctx.stash; the tool is shared by the sessions and sub-agents of a process."""
        tool = self.make()
        before = dict(vars(tool)), dict(vars(type(tool)))
        finish(self._example_call(folder, tool))
        assert (dict(vars(tool)), dict(vars(type(tool)))) == before

    def test_a_call_prints_nothing(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        """If this fails: standard output is the program's, whose readers parse it. Use progress() or the result."""
        finish(self._example_call(folder))
        assert capfd.readouterr().out == ""

    def test_a_call_leaves_no_task_running(self, folder: Path) -> None:
        """If this fails: start tasks in a TaskGroup, or keep them in ctx.stash with an aclose(): nobody else ends them."""
        assert finish(self._left_running(folder)) == []

    def test_an_aborted_call_ends(self, folder: Path) -> None:
        """If this fails: watch ctx.abort in what takes long (ctx.processes.run does), end with Aborted: a person waits."""
        self._called_off(folder, lambda ctx, _: cast("AbortSwitch", ctx.abort).trigger())

    def test_a_cancelled_call_ends(self, folder: Path) -> None:
        """If this fails: let CancelledError pass; clean up in `finally`, in bounded time: the session waits for it."""
        self._called_off(folder, lambda _, call: call.cancel())

    def _called_off(self, folder: Path, stop: Callable[[ToolContext, asyncio.Task[Any]], object]) -> None:
        example = self.example_slow or self.make_example(folder)
        took = quickest(
            lambda: finish(self._stopped_call(folder, example, stop), within=self.within + BOUND), self.within
        )
        assert took <= self.within, f"it ended {took:.1f} s after it was called off; {self.within:g} s are allowed"

    async def _stopped_call(
        self, folder: Path, example: Mapping[str, Any], stop: Callable[[ToolContext, asyncio.Task[Any]], object]
    ) -> float:
        ctx = self._context(folder, AbortSwitch())
        call = asyncio.create_task(self._call(ctx, example))
        await _under_way(call)
        began = time.monotonic()
        stop(ctx, call)
        with suppress(Aborted, ToolError, asyncio.CancelledError):
            await call
        return time.monotonic() - began

    async def _ask_about(self, tool: Tool[Any], ctx: ToolContext, wrong: Mapping[str, Any]) -> None:
        parsed = tool.shape().parse(wrong)
        for text in (tool.activity, tool.description, tool.render_call, tool.get_path, tool.classifier_input):
            text(parsed)
        tool.backfill_observable_input(wrong, ctx)
        await tool.check_permissions(parsed, ctx.scope)
        tool.permission_matcher(parsed, ctx.scope)
        if await tool.validate_input(parsed, ctx) is None and tool.is_read_only(parsed):
            await self._call(ctx, wrong)

    def _context(self, folder: Path, abort: AbortSwitch | None = None) -> ToolContext:
        return make_context(folder, services=self.services, abort=abort)

    async def _left_running(self, folder: Path) -> list[str]:
        before = asyncio.all_tasks()
        await self._example_call(folder)
        await asyncio.sleep(0)
        return [repr(task) for task in asyncio.all_tasks() - before]

    async def _example_call(self, folder: Path, tool: Tool[Any] | None = None) -> ToolResult:
        return await self._call(self._context(folder), self.make_example(folder), tool)

    async def _call(self, ctx: ToolContext, example: Mapping[str, Any], tool: Tool[Any] | None = None) -> ToolResult:
        await self.prepare(ctx)
        try:
            return await call_tool(tool or self.make(), example, ctx)
        finally:
            await ctx.stash.aclose()


async def _under_way(call: asyncio.Task[Any]) -> None:
    """Let a call run for some rounds of the event loop, so that it stands at something that it waits for."""
    for _ in range(20):
        if not call.done():
            await asyncio.sleep(0)
