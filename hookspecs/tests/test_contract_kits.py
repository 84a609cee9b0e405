"""The kits find what they are there to find: each plugin here has one fault."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from toolpost import (
    Allow,
    CompactionResult,
    CompactionStrategy,
    Context,
    ContextSource,
    Decision,
    HookAnswer,
    HookJob,
    HookRunner,
    ModelRequest,
    PermissionRequest,
    PermissionResolver,
    Provider,
    Section,
    SessionScope,
    Stop,
    StreamEvent,
    TextDelta,
    ToolContext,
    ToolResult,
    tool,
)
from toolpost.testing import (
    CompactionContract,
    ContextSourceContract,
    HookRunnerContract,
    PermissionResolverContract,
    ProviderContract,
    ToolContract,
    conversation,
    exempt,
)
from toolpost.testing._schema_check import problems


@tool(read_only=True, destructive=True)
async def forget(path: Path, ctx: ToolContext) -> ToolResult:
    """Says that nothing is written, and writes."""
    await ctx.files.write_text(ctx.cwd / path, "changed")
    return ToolResult({1, 2, 3})


@tool
async def deaf() -> str:
    """Goes on, whoever calls it off."""
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "still here"


class Chatty(Provider):
    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        yield Stop("end_turn")
        yield TextDelta("one more thing")


class Naive(PermissionResolver):
    async def resolve(self, request: PermissionRequest) -> Decision | None:
        return Allow() if request.tool_input["command"].startswith("ls") else None


class Halves(CompactionStrategy):
    async def compact(self, context: Context) -> CompactionResult | None:
        return context.result([{**message} for message in context.messages[2:]])


class Clock(ContextSource):
    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        text = f"{scope.cwd} {id(object())} {asyncio.get_running_loop().time()}"
        return (Section(name="clock", text=text, static=True), Section(name="clock", text=""))


class Patient(HookRunner):
    type = "patient"

    async def run(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        del scope
        return HookAnswer(status="blocked" if job.handler.get("blocks") else "ok")


def _kit(base: type[Any], **body: Any) -> Any:
    return type("Kit", (base,), body)()


FORGET = _kit(ToolContract, tool=forget, example={"path": "notes.txt"}, files={"notes.txt": "one"})
DEAF = _kit(ToolContract, tool=deaf, example={}, within=0.2)
HALVES = _kit(CompactionContract, plugin=Halves)
CLOCK = _kit(ContextSourceContract, plugin=Clock)
PATIENT = _kit(HookRunnerContract, plugin=Patient, works={"type": "patient"}, blocks={"blocks": 1}, too_slow={})
FAULTS = [
    (FORGET, "test_a_call_that_is_read_only_changes_nothing"),
    (FORGET, "test_its_flags_agree_with_each_other"),
    (FORGET, "test_a_call_gives_a_result_that_the_model_can_read"),
    (DEAF, "test_an_aborted_call_ends"),
    (HALVES, "test_messages_that_stay_are_the_same_objects"),
    (HALVES, "test_every_call_keeps_its_result"),
    (HALVES, "test_it_does_nothing_where_nothing_is_to_do"),
    (CLOCK, "test_its_sections_are_named_and_bounded"),
    (CLOCK, "test_its_sections_are_the_same_bytes_each_time"),
    (CLOCK, "test_static_sections_do_not_depend_on_the_session"),
    (PATIENT, "test_a_hook_that_blocks_says_why"),
    (PATIENT, "test_a_hook_that_takes_too_long_is_ended"),
]


@pytest.mark.parametrize(("kit", "test"), FAULTS, ids=lambda value: value if isinstance(value, str) else "")
def test_the_fault_is_found(kit: Any, test: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What does not end is waited for, to say how long it took: none of these would end later either.
    monkeypatch.setattr("toolpost.testing.tools.BOUND", 0.2)
    for name, text in kit.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    method = getattr(kit, test)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        method(tmp_path) if "folder" in method.__code__.co_varnames else method()


def test_an_answer_that_goes_on_after_its_stop_is_found() -> None:
    with pytest.raises(AssertionError, match="after Stop came"):
        _kit(ProviderContract, plugin=Chatty).test_an_answer_ends_with_its_only_stop()


def test_a_resolver_that_trusts_the_model_to_write_a_good_input_is_found(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        _kit(PermissionResolverContract, plugin=Naive).test_an_input_that_makes_no_sense_does_not_make_it_raise(
            tmp_path
        )


def test_replacing_a_test_of_a_kit_needs_a_reason() -> None:
    with pytest.raises(TypeError, match=r"replaces a test of its contract kit.*@exempt"):

        class TestQuiet(ToolContract):
            def test_its_names_are_legal(self) -> None: ...


def test_removing_a_test_of_a_kit_is_no_way_round_it() -> None:
    with pytest.raises(TypeError, match="replaces a test"):
        type("TestQuiet", (ToolContract,), {"test_its_names_are_legal": None})


def test_a_test_may_be_replaced_with_a_reason() -> None:
    class TestLoud(ToolContract):
        @exempt("the name is somebody else's")
        def test_its_names_are_legal(self) -> None: ...

    assert TestLoud.test_its_names_are_legal.__dict__["toolpost_exempt"] == "the name is somebody else's"


def test_an_exemption_without_a_reason_is_refused() -> None:
    with pytest.raises(TypeError, match="needs a reason"):
        exempt("  ")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "object", "properties": {"a b": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"type": "text"}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "set"}}}},
        {"type": "object", "properties": {}, "required": ["a"]},
    ],
)
def test_a_schema_that_the_service_would_refuse_is_found(schema: dict[str, Any]) -> None:
    assert problems(schema)


def test_the_conversation_of_the_kit_keeps_its_own_rules() -> None:
    messages = conversation(2, calls=3)
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"] * 2
