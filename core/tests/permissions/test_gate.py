from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from toolpost import Allow, Ask, Behavior, Decision, Deny, PermissionRequest, PermissionResolver, Rule
from toolpost.testing import make_context
from toolpost_core.permissions import gate
from toolpost_core.permissions.combine import Opinion
from toolpost_core.permissions.gate import Early, Gate, Resolver


class Says(PermissionResolver):
    decision: Decision | BaseException | None

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        if isinstance(self.decision, BaseException):
            raise self.decision
        return self.decision


class Hangs(PermissionResolver):
    async def resolve(self, request: PermissionRequest) -> Decision | None:
        await asyncio.Event().wait()
        return Allow()


def gate_of(*decisions: Decision | BaseException | None, decides: bool = True) -> Gate:
    return Gate([Resolver(f"r{n}", "acme", Says(decision=d), decides) for n, d in enumerate(decisions)])


def request(tmp_path: Path, *, mode: str = "default", interactive: bool = True) -> PermissionRequest:
    context = make_context(tmp_path, mode=mode, interactive=interactive)  # type: ignore[arg-type]
    return PermissionRequest(tool_name="Bash", tool_input={"command": "ls"}, scope=context.scope)


@pytest.mark.requirement("permissions.third_party_only_tightens")
async def test_an_allow_of_a_resolver_without_the_grant_is_dropped_and_the_record_says_why(tmp_path: Path) -> None:
    verdict = await gate_of(Allow("fine"), decides=False).decide(request(tmp_path))

    assert verdict.behavior == "ask"
    assert "decide" in verdict.opinions[0].dropped


@pytest.mark.requirement("permissions.third_party_only_tightens")
@pytest.mark.parametrize("decision", [Ask("hm"), Deny("no")])
async def test_a_resolver_without_the_grant_may_tighten(tmp_path: Path, decision: Decision) -> None:
    strict = Gate(
        [Resolver("ours", "d", Says(decision=Allow()), True), Resolver("theirs", "d", Says(decision=decision), False)]
    )

    assert (await strict.decide(request(tmp_path))).behavior == decision.behavior


@pytest.mark.requirement("permissions.failing_resolver_is_ask")
@pytest.mark.parametrize("failure", [RuntimeError("broken"), SystemExit(3), asyncio.CancelledError()])
async def test_a_resolver_that_raises_is_an_ask_that_names_it_and_the_others_are_still_asked(
    tmp_path: Path, failure: BaseException
) -> None:
    verdict = await gate_of(failure, Allow("fine")).decide(request(tmp_path))

    assert verdict.behavior == "ask"
    assert "'r0' (acme)" in verdict.reason
    assert [opinion.by for opinion in verdict.opinions] == ["r0", "r1"]


@pytest.mark.requirement("permissions.failing_resolver_is_ask")
async def test_a_resolver_that_hangs_is_an_ask_after_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "RESOLVER_LIMIT", 0.01)
    verdict = await Gate([Resolver("slow", "acme", Hangs(), True)]).decide(request(tmp_path))

    assert (verdict.behavior, verdict.resolver) == ("ask", "slow")
    assert "'slow' (acme) gave no answer within 0.01 s" in verdict.reason


async def test_what_a_resolver_answers_that_is_no_decision_is_an_ask(tmp_path: Path) -> None:
    verdict = await gate_of("allow").decide(request(tmp_path))  # type: ignore[arg-type]

    assert verdict.behavior == "ask"
    assert "'allow'" in verdict.reason


async def test_a_deny_of_a_hook_beats_an_allow_of_a_resolver_and_of_the_tool(tmp_path: Path) -> None:
    hook = Opinion("PreToolUse hook", "hook", Deny("not today"))
    verdict = await gate_of(Allow()).decide(request(tmp_path), Allow("own"), [hook])

    assert (verdict.behavior, verdict.reason) == ("deny", "not today")


@pytest.mark.requirement("permissions.ask_without_a_person_is_deny")
async def test_the_mode_dont_ask_turns_an_ask_into_a_deny_that_names_the_mode(tmp_path: Path) -> None:
    verdict = await gate_of(None).decide(request(tmp_path, mode="dontAsk"))

    assert verdict.behavior == "deny"
    assert "dontAsk" in verdict.reason


@pytest.mark.requirement("permissions.ask_without_a_person_is_deny")
async def test_a_run_without_a_person_turns_an_ask_into_a_deny_that_says_what_to_do(tmp_path: Path) -> None:
    verdict = await gate_of(None).decide(request(tmp_path, interactive=False))

    assert verdict.behavior == "deny"
    assert "permission rule" in verdict.reason


async def test_a_whole_cancellation_is_not_taken_for_an_opinion(tmp_path: Path) -> None:
    deciding = asyncio.ensure_future(Gate([Resolver("slow", "acme", Hangs(), True)]).decide(request(tmp_path)))
    await asyncio.sleep(0)
    deciding.cancel()

    with pytest.raises(asyncio.CancelledError):
        await deciding


class LastInAuto(PermissionResolver):
    """Counts how often it was asked."""

    last_resort = ("auto",)
    asked: list[str]

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        self.asked.append(str(request.tool_input["command"]))
        return Allow("looks fine")


def with_last(*decisions: Decision | None) -> tuple[Gate, list[str]]:
    asked: list[str] = []
    first = [Resolver(f"r{n}", "acme", Says(decision=d), True) for n, d in enumerate(decisions)]
    return Gate([*first, Resolver("last", "acme", LastInAuto(asked=asked), True)]), asked


@pytest.mark.parametrize("decision", [Allow(), Ask("hm"), Deny("no")])
async def test_the_last_resort_is_not_asked_where_somebody_has_an_opinion(tmp_path: Path, decision: Decision) -> None:
    gate, asked = with_last(decision)

    assert (await gate.decide(request(tmp_path, mode="auto"))).behavior == decision.behavior
    assert asked == []


async def test_the_last_resort_is_asked_about_what_is_left_open_in_its_modes(tmp_path: Path) -> None:
    gate, asked = with_last(None)

    assert (await gate.decide(request(tmp_path, mode="default"))).behavior == "ask"
    assert asked == []
    assert (await gate.decide(request(tmp_path, mode="auto"))).behavior == "allow"
    assert asked == ["ls"]


async def test_what_was_asked_ahead_counts_for_the_same_input_and_no_other(tmp_path: Path) -> None:
    gate, asked = with_last(None)
    first = request(tmp_path, mode="auto")
    early = Early(first, asyncio.ensure_future(gate.ahead(first, None)))

    assert (await gate.decide(first, early=early)).behavior == "allow"
    assert asked == ["ls"]
    assert (await gate.decide(replace(first, tool_input={"command": "rm"}), early=early)).behavior == "allow"
    assert asked == ["ls", "rm"]


@pytest.mark.parametrize(("behavior", "verdict"), [("deny", "ask"), ("ask", "ask"), ("allow", "allow")])
async def test_where_nobody_enforces_rules_that_forbid_every_call_is_asked_about(
    tmp_path: Path, behavior: Behavior, verdict: Behavior
) -> None:
    rule = Rule.parse("Edit(./notes.txt)", behavior, "userSettings")
    decided = await gate_of(Allow("fine")).decide(replace(request(tmp_path), rules=(rule,)))

    assert decided.behavior == verdict
    assert ("no permission resolver that is on enforces rules" in decided.reason) == (verdict == "ask")


class KeepsBack(PermissionResolver):
    """Keeps one name back, or fails to say."""

    name: str

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        return None

    def withholds(self, request: PermissionRequest) -> Callable[[Path], bool] | None:
        if self.name == "fails at once":
            raise RuntimeError(self.name)
        return self._is_kept_back if self.name else None

    def _is_kept_back(self, file: Path) -> bool:
        if self.name == "fails":
            raise RuntimeError(self.name)
        return file.name == self.name


def keeping(*names: str) -> Gate:
    return Gate([Resolver(f"r{n}", "acme", KeepsBack(name=name), False) for n, name in enumerate(names)])


def test_what_any_resolver_keeps_back_is_kept_back(tmp_path: Path) -> None:
    test = keeping("a", "", "b").withheld(request(tmp_path))

    assert test is not None
    assert [name for name in "abc" if test(tmp_path / name)] == ["a", "b"]
    assert keeping("", "").withheld(request(tmp_path)) is None


@pytest.mark.parametrize("failing", ["fails", "fails at once"])
def test_a_resolver_that_fails_keeps_all_back(tmp_path: Path, failing: str) -> None:
    test = keeping("a", failing).withheld(request(tmp_path))

    assert test is not None
    assert test(tmp_path / "c")
