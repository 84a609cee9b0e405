"""A session beyond one turn: resuming, forking, clearing, closing, and what plugins get of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest
from fake_session import fake_session, listen, of_type, offer, result_of, run, texts

from toolpost import (
    Allow,
    Ask,
    Decision,
    Deny,
    Notice,
    PermissionRequest,
    PermissionResolver,
    Reply,
    ServiceOffer,
    SessionError,
    SessionScope,
    StashKey,
    ToolContext,
    ToolResult,
    ToolUse,
    hookimpl,
    on,
    tool,
)
from toolpost.events.session import SessionEnd, SessionStart, SessionStartOutcome
from toolpost.events.tool import PreToolUseOutcome
from toolpost.testing import FakeModel


@tool(read_only=True, concurrency_safe=True)
async def echo(text: str) -> str:
    """Say it."""
    return text


def call(text: str = "hi", name: str = "t1") -> ToolUse:
    return ToolUse(name, "echo", {"text": text})


def transcripts(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "state").glob("projects/*/*.jsonl"), key=lambda path: path.stat().st_mtime_ns)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def text_of(request: Any) -> str:
    return json.dumps(list(request.messages), ensure_ascii=False)


async def test_a_resumed_session_goes_on_in_its_file_with_all_that_was_said(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel(call("hi"), "Done."), echo) as session:
        await run(session, "first")
        name, path = session.id, session.transcript_path
    assert path is not None
    model = FakeModel("Welcome back.")
    async with fake_session(tmp_path, model, echo, resume=path) as session:
        assert (session.id, session.transcript_path) == (name, path)
        await run(session, "second")

    assert all(word in text_of(model.requests[0]) for word in ["first", "hi", "Done.", "second"])
    chain = [r for r in records(path) if "uuid" in r]
    assert [r["parentUuid"] for r in chain] == [None, *[r["uuid"] for r in chain[:-1]]]
    assert transcripts(tmp_path) == [path]


async def test_a_session_resumed_from_elsewhere_stays_in_the_file_it_came_from(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel("Done."), echo) as session:
        await run(session, "first")
        path = session.transcript_path
    assert path is not None
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with fake_session(tmp_path, FakeModel("Hello."), resume=path, cwd=elsewhere) as session:
        await run(session, "second")
        assert session.transcript_path == path
    model = FakeModel("Again.")
    async with fake_session(tmp_path, model, resume=path) as session:
        await run(session, "third")

    assert all(word in text_of(model.requests[0]) for word in ["first", "second", "third"])
    assert transcripts(tmp_path) == [path]


async def test_a_session_file_of_any_name_goes_on_in_its_place(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel("Done."), echo) as session:
        await run(session, "first")
        path = session.transcript_path
    assert path is not None
    kept = path.rename(tmp_path / "what we said (old).jsonl")
    async with fake_session(tmp_path, FakeModel("Hello."), resume=kept) as session:
        await run(session, "second")
        assert session.transcript_path == kept

    assert "second" in kept.read_text(encoding="utf-8")


async def test_a_fork_has_a_file_of_its_own_with_all_that_was_said_and_leaves_the_other_alone(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel(call("hi"), "Done."), echo) as session:
        await run(session, "first")
        path = session.transcript_path
    assert path is not None
    before = path.read_bytes()
    async with fake_session(tmp_path, FakeModel("Other."), echo, resume=path, fork_session=True) as session:
        await run(session, "second")
        fork = session.transcript_path
    assert fork is not None
    model = FakeModel("Third.")
    async with fake_session(tmp_path, model, echo, resume=fork) as session:
        await run(session, "third")
        assert session.id == fork.stem

    assert path.read_bytes() == before
    assert all(word in text_of(model.requests[0]) for word in ["first", "hi", "Done.", "second", "Other.", "third"])
    assert {r["sessionId"] for r in records(fork)} == {fork.stem}


@pytest.mark.requirement("transcript.one_writer")
async def test_a_session_that_is_open_can_be_forked_and_not_resumed(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel("One.", "Two."), echo) as session:
        await run(session, "first")
        path = session.transcript_path
        with pytest.raises(SessionError, match="in use"):
            async with fake_session(tmp_path, FakeModel(), resume=path):
                pass
        async with fake_session(tmp_path, FakeModel("Fork."), resume=path, fork_session=True) as fork:
            assert result_of(await run(fork, "beside")).text == "Fork."
        assert result_of(await run(session, "still here")).text == "Two."


@pytest.mark.requirement("results.replaced_once_stays")
async def test_what_was_moved_to_a_file_is_the_same_text_after_resuming(tmp_path: Path) -> None:
    calls = [call(letter * 90_000, f"t{letter}") for letter in "abc"]
    model = FakeModel([call("\n".join(map(str, range(90_000))), "t0"), *calls], "Done.")
    async with fake_session(tmp_path, model, echo) as session:
        await run(session, "first")
        path = session.transcript_path
    again = FakeModel("Hello.")
    async with fake_session(tmp_path, again, echo, resume=path) as session:
        await run(session, "second")

    assert list(again.requests[0].messages[:3]) == list(model.requests[1].messages)


async def test_clearing_begins_a_new_conversation_in_a_new_file(tmp_path: Path) -> None:
    key: StashKey[str] = StashKey("test")
    heard: list[str] = []
    model = FakeModel("One.", "Two.")
    plugins = [
        listen(on.session_start, lambda event: heard.append(f"start {event.source}")),
        listen(on.session_end, lambda event: heard.append(f"end {event.reason}")),
    ]
    async with fake_session(tmp_path, model, echo, *plugins) as session:
        await run(session, "first")
        before, session.stash[key] = session.id, "old"
        await session.clear()
        assert session.id != before
        assert key not in session.stash
        assert session.messages == ()
        await run(session, "second")

    assert "first" not in text_of(model.requests[1])
    assert len(transcripts(tmp_path)) == 2
    assert heard == ["start startup", "end clear", "start clear", "end other"]


async def test_listeners_hear_whether_a_session_is_new_or_resumed(tmp_path: Path) -> None:
    heard: list[str] = []
    hears = listen(on.session_start, lambda event: heard.append(event.source))
    async with fake_session(tmp_path, FakeModel("a"), hears) as session:
        await run(session)
        path = session.transcript_path
    async with fake_session(tmp_path, FakeModel("a"), hears, resume=path, fork_session=True) as session:
        await run(session)
    async with fake_session(tmp_path, FakeModel("a", "b"), hears, resume=path) as session:
        await run(session)
        await run(session)

    assert heard == ["startup", "fork", "resume"]


async def test_what_hooks_say_at_the_start_and_with_the_prompt_goes_before_it(tmp_path: Path) -> None:
    from toolpost.events.turn import UserPromptSubmitOutcome

    def begins(event: SessionStart) -> SessionStartOutcome:
        return SessionStartOutcome(additional_context="from the start")

    def adds(event: Any) -> UserPromptSubmitOutcome:
        return UserPromptSubmitOutcome(additional_context="with the prompt")

    model = FakeModel("Hello.", "Again.")
    async with fake_session(
        tmp_path, model, listen(on.session_start, begins), listen(on.user_prompt_submit, adds)
    ) as session:
        await run(session, "hi")
        await run(session, "ho")

    said = [[block["text"] for block in message["content"]] for message in model.requests[1].messages]  # type: ignore[index, typeddict-item]
    assert said == [["from the start", "with the prompt", "hi"], ["Hello."], ["with the prompt", "ho"]]


async def test_each_record_is_on_disk_before_the_next_request(tmp_path: Path) -> None:
    kept: list[set[str]] = []

    class Looks(FakeModel):
        async def stream(self, request: Any) -> Any:
            (file,) = transcripts(tmp_path)
            whole = file.read_text(encoding="utf-8")
            kept.append({word for word in ("the-prompt", "t1", "t2", "the-result") if word in whole})
            async for event in super().stream(request):
                yield event

    model = Looks([call("the-result", "t1"), call("x", "t2")], "Done.")
    async with fake_session(tmp_path, model, echo) as session:
        await run(session, "the-prompt")

    assert kept == [{"the-prompt"}, {"the-prompt", "t1", "t2", "the-result"}]


class Counter(Protocol):
    """A service of a test."""

    def count(self) -> int: ...


class Other(Protocol):
    """Another one."""


async def test_services_are_made_once_when_asked_for_and_closed_last_first(tmp_path: Path) -> None:
    log: list[str] = []

    class Service:
        def __init__(self, name: str, fails: bool = False) -> None:
            self.name, self.fails = name, fails
            log.append(f"make {name}")

        def count(self) -> int:
            return len(log)

        async def aclose(self) -> None:
            log.append(f"close {self.name}")
            if self.fails:
                raise RuntimeError("stuck")

    @tool(concurrency_safe=True)
    async def uses(ctx: ToolContext) -> str:
        """Use both."""
        ctx.service(Counter)
        ctx.service(Other)
        return str(ctx.service(Counter).count())

    model = FakeModel([ToolUse("t1", "uses", {}), ToolUse("t2", "uses", {})], "Done.")
    offers = [
        offer(ServiceOffer(Counter, lambda scope: Service("counter"))),
        offer(ServiceOffer(Other, lambda scope: Service("other", fails=True))),
    ]
    key: StashKey[Any] = StashKey("late")
    with pytest.raises(RuntimeError, match="stuck"):  # noqa: PT012 - it is raised by the end of the session
        async with fake_session(tmp_path, model, uses, *offers) as session:
            assert log == []
            await run(session)
            session.stash[key] = Service("stashed")

    assert log == ["make counter", "make other", "make stashed", "close other", "close counter", "close stashed"]


async def test_a_service_that_nobody_offers_is_named(tmp_path: Path) -> None:
    @tool
    async def uses(ctx: ToolContext) -> str:
        """Use it."""
        ctx.service(Counter)
        return "never"

    async with fake_session(tmp_path, FakeModel(ToolUse("t1", "uses", {}), "Done."), uses) as session:
        events = await run(session)

    assert "'Counter'" in texts(events)["t1"]


async def test_a_service_is_told_the_session_that_it_is_made_for(tmp_path: Path) -> None:
    scopes: list[SessionScope] = []

    @tool
    async def uses(ctx: ToolContext) -> str:
        """Use it."""
        return str(ctx.service(Counter))

    made = offer(ServiceOffer(Counter, lambda scope: scopes.append(scope) or "it"))  # type: ignore[func-returns-value, arg-type, return-value]
    async with fake_session(tmp_path, FakeModel(ToolUse("t1", "uses", {}), "Done."), uses, made) as session:
        await run(session)
        (scope,) = scopes
        assert (scope.session_id, scope.project, scope.stash) == (session.id, session.cwd, session.stash)
        assert scope.transcript_path == session.transcript_path


class ByText(PermissionResolver):
    """Answers from the text that would be said."""

    answers: Mapping[str, Decision]

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        return self.answers.get(str(request.tool_input.get("text", "")), Allow() if not request.tool_input else None)


@tool
async def nests(ctx: ToolContext, text: str = "") -> str:
    """Ask about an echo."""
    decision = await ctx.permissions.check("echo", {"text": text} if text != "wrong" else {"txet": 1})
    return f"{decision.behavior}: {decision.reason}"


@pytest.mark.parametrize(
    ("text", "says"),
    [("good", "allow"), ("bad", "deny: no bad words"), ("maybe", "allow"), ("wrong", "deny"), ("other", "deny")],
)
async def test_a_tool_asks_about_what_it_does_within_its_call(tmp_path: Path, text: str, says: str) -> None:
    async def ask(question: Any) -> Reply:
        return Reply(allow=question.request.tool_name == "nests" or question.request.tool_input["text"] == "maybe")

    resolver = ByText(answers={"good": Allow(), "bad": Deny("no bad words"), "maybe": Ask("sure?")})
    allows = listen(on.pre_tool_use, lambda event: PreToolUseOutcome(decision="allow"))
    # The resolver denies `bad` for the outer call as well, so the outer input hides it.
    model = FakeModel(ToolUse("t1", "outer", {}), "Done.")

    @tool
    async def outer(ctx: ToolContext) -> str:
        """Call the function of `nests`."""
        return await nests.function(ctx, text)  # type: ignore[no-any-return]

    async with fake_session(tmp_path, model, outer, echo, resolver, allows, ask=ask, allow=False) as session:
        events = await run(session)

    assert texts(events)["t1"].startswith(says)


class ListensBySettings:
    """Brings a listener that depends on the session."""

    def __init__(self, log: list[str], fails: bool = False) -> None:
        self.log, self.fails = log, fails

    @hookimpl
    def listeners(self, session: SessionScope) -> Sequence[Any]:
        if self.fails:
            raise RuntimeError("bad settings")

        @on.session_end
        def ends(event: SessionEnd) -> None:
            self.log.append(f"{session.session_id} {event.reason}")

        return [ends]


async def test_listeners_of_settings_hear_this_session_and_one_that_fails_costs_no_other(tmp_path: Path) -> None:
    log: list[str] = []
    plugins = [ListensBySettings(log, fails=True), ListensBySettings(log)]
    async with fake_session(tmp_path, FakeModel("Hi."), *plugins) as session:
        events = await run(session)
        name = session.id

    assert log == [f"{name} other"]
    assert "bad settings" in "".join(notice.text for notice in of_type(events, Notice))


@pytest.mark.parametrize("broken", ["is_enabled", "prompt", "shape", "name"])
async def test_a_tool_that_cannot_be_described_is_left_out_and_named(tmp_path: Path, broken: str) -> None:
    def fails(self: Any, *args: Any) -> Any:
        raise RuntimeError("no description")

    fields: dict[str, Any] = {"name": "bad name!"} if broken == "name" else {"name": "Broken", broken: fails}
    bad = type("Broken", (type(echo),), fields)()
    model = FakeModel("Hi.")
    async with fake_session(tmp_path, model, echo, bad) as session:
        events = await run(session)

    assert result_of(events).terminal_reason == "completed"
    assert [spec.name for spec in model.requests[0].tools] == ["echo"]
    assert fields["name"] in "".join(notice.text for notice in of_type(events, Notice))


async def test_an_unpersisted_session_leaves_no_file(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel(call("x" * 200_000), "Done."), echo, persist=False) as session:
        events = await run(session)
        assert session.transcript_path is None

    assert transcripts(tmp_path) == []
    assert "lost" in texts(events)["t1"]


async def test_a_run_without_any_model_ends_in_an_error_that_can_be_read(tmp_path: Path) -> None:
    from toolpost import ProviderError

    async with fake_session(tmp_path, FakeModel("never")) as session:

        def nobody() -> Any:
            raise ProviderError("There is no model to ask.", kind="authentication_failed")

        session.model_in_use.choose = nobody
        result = result_of(await run(session))

    assert (result.is_error, result.text) == (True, "There is no model to ask.")


async def test_who_stops_listening_at_the_result_may_go_on_at_once(tmp_path: Path) -> None:
    from toolpost import RunResult

    async with fake_session(tmp_path, FakeModel("One.", "Two.")) as session:
        turn = session.submit("first")
        async for event in turn:
            if isinstance(event, RunResult):
                break
        assert result_of(await run(session, "second")).text == "Two."


async def test_the_end_of_a_session_ends_a_turn_that_still_runs(tmp_path: Path) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    @tool
    async def waits() -> str:
        """Wait."""
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    async with asyncio.timeout(20):
        async with fake_session(tmp_path, FakeModel(ToolUse("t1", "waits", {}), "Done."), waits) as session:
            following = asyncio.ensure_future(run(session))
            await began.wait()
        assert ended.is_set()
        assert result_of(await following).terminal_reason == "aborted_tools"


async def test_a_rule_that_a_person_grants_is_used_from_the_next_call_on(tmp_path: Path) -> None:
    granted: list[Any] = []

    async def ask(question: Any) -> Reply:
        granted.append(question)
        rule: Any = {"type": "addRules", "destination": "session", "behavior": "allow", "rules": [{"toolName": "echo"}]}
        return Reply(allow=True, updates=[rule])

    class ByRule(PermissionResolver):
        async def resolve(self, request: PermissionRequest) -> Decision | None:
            hit = next((rule for rule in request.rules if rule.tool == request.tool_name), None)
            return Allow("a rule", rule=hit) if hit is not None else None

    model = FakeModel(call("a", "t1"), call("b", "t2"), "Done.")
    async with fake_session(tmp_path, model, echo, ByRule(), ask=ask, allow=False) as session:
        events = await run(session)
        assert [str(rule) for rule in session.rules()] == ["echo"]

    assert len(granted) == 1
    assert list(texts(events).values()) == ["a", "b"]


async def test_a_grant_that_cannot_be_kept_does_not_cost_the_call(tmp_path: Path) -> None:
    async def ask(question: Any) -> Reply:
        bad: Any = {"type": "addRules", "destination": "nowhere", "behavior": "allow", "rules": [{"toolName": "echo"}]}
        return Reply(allow=True, updates=[bad])

    async with fake_session(tmp_path, FakeModel(call("a"), "Done."), echo, ask=ask, allow=False) as session:
        events = await run(session)

    assert texts(events)["t1"] == "a"
    assert "nowhere" in "".join(notice.text for notice in of_type(events, Notice))


async def test_sub_directories_that_a_tool_moves_to_are_told_to_listeners(tmp_path: Path) -> None:
    moves: list[tuple[str, str]] = []

    @tool
    async def cd(to: str) -> ToolResult:
        """Move."""
        return ToolResult("ok", context_modifier=lambda ctx: replace(ctx, cwd=ctx.cwd / to))

    hears = listen(on.cwd_changed, lambda event: moves.append((event.old_cwd.name, event.new_cwd.name)))
    model = FakeModel([ToolUse("t1", "cd", {"to": "a"}), ToolUse("t2", "cd", {"to": "b"})], "Done.")
    async with fake_session(tmp_path, model, cd, hears) as session:
        await run(session)

    assert moves == [("project", "b")]
