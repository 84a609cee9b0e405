"""The `hooks` key of the settings, read entry by entry: a bad one is reported and the others stay."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from toolpost import PluginPlace, on
from toolpost_lifecycle_settings_hooks.matchers import Matcher, MatcherError, never_matches, subject_of

TITLES: Final[Mapping[str, str]] = {"".join(word.capitalize() for word in name.split("_")): name for name in on.__all__}
"""The events that there are: the name in settings, and the one in `toolpost.on`."""

TOOL_EVENTS: Final = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied")
"""The events that an `if` can be held against; a hook with one never runs at others."""

# Seconds, and what some events lower the longest of them to (compat.md 2.2).
_TIMEOUTS = {"prompt": 30.0, "agent": 60.0, "callback": 60.0, "function": 60.0}
_LONGEST = 600.0
_LOWERED = {"UserPromptSubmit": 30.0, "MessageDisplay": 10.0, "SessionEnd": 1.5}
_AT_SESSION_END = 60.0
_AT_SESSION_END_BY_ENV = (
    "TOOLPOST_SESSIONEND_HOOKS_TIMEOUT_MS",
    "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS",
)
_NO_ENV: Final[Mapping[str, str]] = {}
_EARLY_EVENTS = ("SessionStart", "Setup")
_EARLY_TYPES = ("command", "mcp_tool", "callback", "function")
_NEVER_BLOCKS_ON_FAILURE = ("Stop", "SubagentStop", "TaskCompleted", "TeammateIdle")
_SAYS_WHAT = ("command", "url", "prompt", "tool", "callback", "function")

Report = Callable[[str], None]


@dataclass(frozen=True)
class Hook:
    """One configured hook. `timeout` is in seconds; `where` is its place in the settings.

    One that a sub-agent brought is for the events of this `agent` alone, one that a plugin brought has its `plugin`.
    """

    event: str
    handler: Mapping[str, Any]
    matcher: Matcher
    timeout: float
    where: str
    agent: str | None = None
    plugin: PluginPlace | None = None

    @property
    def key(self) -> str:
        """The same for hooks that are identical, whichever settings file they come from."""
        whose = [self.agent, self.plugin]
        return json.dumps([self.event, self.handler, whose], sort_keys=True, default=str)

    @property
    def label(self) -> str:
        """What a person recognises it by."""
        said = next((self.handler[key] for key in _SAYS_WHAT if key in self.handler), "")
        text = str(getattr(said, "__qualname__", said))
        text = text or f"of type {self.handler['type']}"
        return text if len(text) <= 80 else f"{text[:79]}…"

    @property
    def blocks_on_failure(self) -> bool:
        """Whether its failure counts as a refusal."""
        return self.handler.get("onFailure") == "block" and self.event not in _NEVER_BLOCKS_ON_FAILURE

    @property
    def background(self) -> bool:
        """Whether nobody waits for its answer."""
        return self.handler.get("async") is True or self.handler.get("asyncRewake") is True


def read_hooks(configured: Any, report: Report, env: Mapping[str, str] = _NO_ENV) -> Mapping[str, Sequence[Hook]]:
    """Return the usable hooks of each event; says of every other why it is not used."""
    if not isinstance(configured, Mapping):
        report(f"settings: 'hooks' must be an object of event names, not {type(configured).__name__}; no hook runs.")
        return {}
    hooks: dict[str, list[Hook]] = {}
    for event, groups in configured.items():
        if event not in TITLES:
            report(_unknown_event(event))
            continue
        for number, group in _entries(groups, f"hooks.{event}", report):
            for hook in _group(event, group, f"hooks.{event}[{number}]", report, env):
                hooks.setdefault(event, []).append(hook)
    return hooks


def _group(event: str, group: Any, where: str, report: Report, env: Mapping[str, str]) -> Iterator[Hook]:
    if not isinstance(group, Mapping):
        report(f"settings: {where} must be an object with 'hooks' and perhaps 'matcher'; it is left out.")
        return
    try:
        matcher = Matcher.parse(group.get("matcher"), event)
    except MatcherError as error:
        report(f"settings: {where}.matcher {error}; its hooks do not run.")
        return
    if odd := never_matches(matcher, event):
        report(f"settings: {where}.matcher {matcher.text!r} {odd}{'' if odd.endswith('?') else '.'}")
    for number, handler in _entries(group.get("hooks", ()), f"{where}.hooks", report):
        place = f"{where}.hooks[{number}]"
        problem = _problem(event, handler)
        if problem:
            report(f"settings: {place} {problem}; it does not run.")
        else:
            yield Hook(event, handler, matcher, _timeout(event, handler, env), place, *_whose(group))


def _whose(group: Mapping[str, Any]) -> tuple[str | None, PluginPlace | None]:
    """Return the agent and the plugin that brought a group; None for one that settings brought."""
    agent, plugin = group.get("agentId"), group.get("plugin")
    return agent if isinstance(agent, str) else None, plugin if isinstance(plugin, PluginPlace) else None


def _entries(value: Any, where: str, report: Report) -> Iterator[tuple[int, Any]]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from enumerate(value)
    else:
        report(f"settings: {where} must be a list, not {type(value).__name__}; it is left out.")


def _problem(event: str, handler: Any) -> str:
    """Say why a hook can't be used; empty if it can."""
    if not isinstance(handler, Mapping) or not isinstance(handler.get("type"), str):
        return "must be an object with a 'type' such as \"command\""
    kind, timeout = handler["type"], handler.get("timeout")
    if kind == "command" and not (isinstance(handler.get("command"), str) and handler["command"].strip()):
        return "needs a 'command' that is a text"
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0):
        return f"has the timeout {timeout!r}, which must be a number of seconds above 0"
    if event in _EARLY_EVENTS and kind not in _EARLY_TYPES:
        return f"is of type {kind!r}, but at {event} only {' and '.join(_EARLY_TYPES)} can run"
    if "if" in handler and event not in TOOL_EVENTS:
        return f"has an 'if', which only {', '.join(TOOL_EVENTS)} can be held against"
    if handler.get("onFailure") not in (None, "continue", "block"):
        return f'has onFailure {handler["onFailure"]!r}, which may be "continue" or "block"'
    return ""


def _timeout(event: str, handler: Mapping[str, Any], env: Mapping[str, str]) -> float:
    given = handler.get("timeout")
    if given is not None:
        return min(float(given), _AT_SESSION_END) if event == "SessionEnd" else float(given)
    usual = _TIMEOUTS.get(handler["type"], _LONGEST)
    said = next((text for name in _AT_SESSION_END_BY_ENV if (text := env.get(name, "").strip())), "")
    if event == "SessionEnd" and said.isdecimal() and int(said):
        return min(int(said) / 1000, _AT_SESSION_END)
    return min(usual, _LOWERED.get(event, usual))


def _unknown_event(event: object) -> str:
    from difflib import get_close_matches

    close = get_close_matches(str(event), TITLES, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else f" There are {', '.join(TITLES)}."
    return f"settings: hooks.{event} is no event, so its hooks never run.{hint}"


def looked_at(hooks: Sequence[Hook], value: Any) -> list[tuple[Hook, str]]:
    """Return the hooks in the order of the settings, each with why it is not meant by an event; empty where it is.

    Of identical ones the first is meant.
    """
    looked: list[tuple[Hook, str]] = []
    meant: dict[str, Hook] = {}
    for hook in hooks:
        subject = subject_of(hook.event, value)
        if hook.agent not in (None, value.origin.agent_id):
            looked.append((hook, f"it is of the agent {hook.agent}"))
        elif not hook.matcher.takes(subject):
            looked.append((hook, f"its matcher {hook.matcher.text!r} does not take {subject!r}"))
        elif (other := meant.setdefault(hook.key, hook)) is not hook:
            looked.append((hook, f"it is the same as {other.where}"))
        else:
            looked.append((hook, ""))
    return looked
