"""`toolpost hooks test`: one event is fired at the hooks that are set up, and each says what became of it."""

from __future__ import annotations

import json
import sys
import time
import typing
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from toolpost import LaunchOptions, on
from toolpost._frozen import frozen
from toolpost_core.api import open_session
from toolpost_core.cli.exits import complain, run_async
from toolpost_core.cli.output import print_json
from toolpost_core.cli.usage import UsageMistake
from toolpost_core.cli.workspace import with_options
from toolpost_core.session.hook_log import decision_of, lines_of

if TYPE_CHECKING:
    from toolpost import Event, HookFiring, HookRun
    from toolpost.events._base import EventBase
    from toolpost_core.events.dispatch import Answer, Emission

COMMON: Final = frozenset(
    (
        *("session_id", "transcript_path", "cwd", "hook_event_name", "prompt_id"),
        *("permission_mode", "agent_id", "agent_type", "effort"),
    )
)
"""What every event has and the session says: it may stand in the input, as hooks get it, and counts for nothing."""


@frozen()
class Tried:
    """What an event came to."""

    firings: Sequence[HookFiring]
    emission: Emission[Any]
    notices: Sequence[str]
    duration: float


@click.command("test")
@click.argument("event")
@click.option(
    "--input", "given", metavar="JSON", default="{}", help="The event's fields, as hooks get them; - for stdin."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_options
def test(event: str, given: str, options: LaunchOptions, as_json: bool) -> None:
    """Fire an event: which hooks it is for and why others are not, what they print and decide, and how long they take.

    Nothing else happens: no tool runs, and no model is asked but by hooks that ask one. The exit code is 1 where a hook
    failed.
    """
    value = event_of(_found(event), _read(given))
    tried = _fired(options, _found(event), value)
    if as_json:
        print_json(_as_values(event, tried))
    else:
        _print(event, tried)
    failed = any(run.answer is not None and run.answer.status in ("failed", "timed_out") for run in _runs(tried))
    if failed or tried.emission.failure is not None:
        raise SystemExit(1)


def _fired(options: LaunchOptions, event: Event[Any, Any], value: EventBase) -> Tried:
    """Run the event to its end in a session that keeps nothing."""
    results: list[Tried] = []

    async def fire() -> int:
        results.append(await _tried(options, event, value))
        return 0

    with redirect_stdout(sys.stderr):  # what a plugin prints
        run_async(fire())
    return results[0]


async def _tried(options: LaunchOptions, event: Event[Any, Any], value: EventBase) -> Tried:
    firings: list[HookFiring] = []
    async with open_session(replace(options, persist=False), need_model=False) as session:
        session.hook_log.listener = firings.append
        began = time.perf_counter()
        emission = await session.events.emit(event, value)
        duration = time.perf_counter() - began
        return Tried(firings, emission, tuple(session.parts.notices), duration)


def event_of(event: Event[Any, Any], given: Mapping[str, Any]) -> EventBase:
    """Make an event of the JSON that hooks get. Raises UsageMistake."""
    try:
        kind = typing.get_type_hints(event.spec)["event"]
        hints = {name: hint for name, hint in typing.get_type_hints(kind).items() if name != "origin"}
    except NameError:
        raise UsageMistake(f"{event.title} can't be tried: it holds a request to the model.") from None
    values = {"duration" if name == "duration_ms" else name: value for name, value in given.items()}
    unknown = sorted(values.keys() - hints.keys() - COMMON)
    missing = [
        f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING and f.name not in values
    ]
    if unknown or missing:
        wrong = f"has no {', '.join(unknown)}" if unknown else f"needs {', '.join(missing)}"
        raise UsageMistake(f"{event.title} {wrong}. Its fields: {', '.join(hints)}; give them with --input JSON.")
    try:
        made: EventBase = kind(
            **{name: _value(name, values[name], hints[name]) for name in hints.keys() & values.keys()}
        )
    except (TypeError, ValueError) as error:
        raise UsageMistake(f"--input does not fit {event.title}: {error}") from error
    return made


def _value(name: str, value: Any, hint: Any) -> Any:
    if name == "duration":
        return float(value) / 1000
    return Path(value) if isinstance(value, str) and Path in (hint, *typing.get_args(hint)) else value


def _found(title: str) -> Event[Any, Any]:
    events = {getattr(on, name).title: getattr(on, name) for name in on.__all__}
    if title not in events:
        import difflib

        near = difflib.get_close_matches(title, events, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageMistake(f"There is no event {title!r}.{hint} `toolpost hooks list --events` shows them.")
    found: Event[Any, Any] = events[title]
    return found


def _read(given: str) -> Mapping[str, Any]:
    try:
        value = json.loads(sys.stdin.read() if given == "-" else given)
    except ValueError as error:
        raise UsageMistake(f"--input is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise UsageMistake("--input must be a JSON object.")
    return value


def _runs(tried: Tried) -> list[HookRun]:
    return [run for firing in tried.firings for run in firing.runs]


def _print(title: str, tried: Tried) -> None:
    for text in tried.notices:
        complain(f"warning: {text}")
    if not tried.firings:
        print(f"No hook of the settings is set up for {title}.")
    for line in (line for firing in tried.firings for line in lines_of(firing)):
        print(line)
    for answer in tried.emission.answers:
        became = answer.error or "answered" if answer.error or answer.outcome is not None else "had nothing to say"
        print(f"listener {answer.plugin}: {became}, {1000 * answer.duration:.1f} ms")
    outcome = ", ".join(f"{name}={value!r}" for name, value in decision_of(tried.emission.outcome).items())
    print(f"together: {tried.emission.failure or outcome or 'nothing is decided'}, {1000 * tried.duration:.1f} ms")


def _as_values(title: str, tried: Tried) -> dict[str, Any]:
    return {
        "event": title,
        "hooks": [_run_values(run) for run in _runs(tried)],
        "listeners": [_listener_values(answer) for answer in tried.emission.answers],
        "outcome": _plain(decision_of(tried.emission.outcome)),
        "failure": tried.emission.failure,
        "warnings": list(tried.notices),
        "duration_ms": round(1000 * tried.duration, 1),
    }


def _run_values(run: HookRun) -> dict[str, Any]:
    values: dict[str, Any] = {"hook": run.hook, "source": run.source, "skipped": run.skipped or None}
    if run.answer is not None:
        answer = {
            f.name: getattr(run.answer, f.name) for f in fields(run.answer) if f.name not in ("duration", "later")
        }
        values |= {**_plain(answer), "duration_ms": round(1000 * run.answer.duration, 1)}
    return {**values, "decision": _plain(decision_of(run.outcome))}


def _listener_values(answer: Answer) -> dict[str, Any]:
    took = round(1000 * answer.duration, 1)
    decided = decision_of(typing.cast("Any", answer.outcome))
    return {"plugin": answer.plugin, "error": answer.error, "decision": _plain(decided), "duration_ms": took}


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(dict(values), default=str))
    return plain
