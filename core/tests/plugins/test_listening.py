from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolpost import on
from toolpost.events._base import Origin
from toolpost.events.tool import PreToolUse
from toolpost_core.events.dispatch import Dispatcher
from toolpost_core.plugins.registry import Registry
from toolpost_core.plugins.scan import Inventory, scan
from toolpost_core.settings import load

CALL = PreToolUse(tool_name="Bash", tool_input={"command": "ls"})
LISTENER = """
    from toolpost import PreToolUseOutcome, hookimpl, on

    @{marker}
    def judge(event):
        return {answer}
"""
DENY = 'PreToolUseOutcome(decision="deny", updated_input={"command": "true"}, additional_context="seen")'


class House:
    """A registry over what a site holds, with its lifecycle plugins on and loaded, and their dispatcher."""

    def __init__(self, tmp_path: Path, names: list[str], order: list[str] | None = None) -> None:
        config = tmp_path / "config"
        config.mkdir(exist_ok=True)
        plugins: dict[str, Any] = dict.fromkeys(names, True)
        if order is not None:
            plugins["order"] = order
        (config / "settings.json").write_text(json.dumps({"plugins": plugins}), encoding="utf-8")
        settings = load(tmp_path, tmp_path, config, trusted=True, env={})
        assert settings.problems == ()
        found = scan(tmp_path / "cache")
        ours = tuple(entry for entry in found.entries if entry.distribution.startswith("acme"))
        self.told: list[str] = []
        self.registry = Registry(
            Inventory(ours, declared=found.declared), settings.plugins, order=settings.get("plugins.order", ())
        )
        self.registry.collect("lifecycle")
        assert self.registry.problems == ()
        self.events = Dispatcher(self.registry.manager, self.told.append, Origin)


def add(site: Any, name: str, *, marker: str = "on.pre_tool_use", answer: str = "None", declares: str | None) -> None:
    package = f"acme_{name}"
    site.install(f"acme-{name}", entries={"lifecycle": {name: package}})
    site.package(package, LISTENER.format(marker=marker, answer=answer), declares)


@pytest.mark.requirement("plugins.undeclared_is_dropped")
async def test_what_a_listener_did_not_declare_is_dropped_with_one_warning(site: Any, tmp_path: Path) -> None:
    add(site, "watch", answer=DENY, declares='[capabilities.events]\npre_tool_use = "observe"\n')
    house = House(tmp_path, ["watch"])
    for _ in range(2):
        emission = await house.events.emit(on.pre_tool_use, CALL)

        assert emission.outcome is not None
        assert (emission.outcome.decision, emission.outcome.updated_input) == (None, None)
        assert emission.outcome.additional_context == "seen"
    (text,) = house.told
    for part in (
        "'lifecycle/watch'",
        "decision, updated_input",
        "acme_watch/toolpost.toml",
        'pre_tool_use = "observe|',
    ):
        assert part in text


async def test_the_roles_are_apart(site: Any, tmp_path: Path) -> None:
    add(site, "gate", answer=DENY, declares='[capabilities.events]\npre_tool_use = "decide"\n')
    emission = await House(tmp_path, ["gate"]).events.emit(on.pre_tool_use, CALL)

    assert emission.outcome is not None
    assert (emission.outcome.decision, emission.outcome.updated_input) == ("deny", None)


async def test_a_plugin_without_the_file_may_answer_all(site: Any, tmp_path: Path) -> None:
    add(site, "gate", answer=DENY, declares=None)
    house = House(tmp_path, ["gate"])
    emission = await house.events.emit(on.pre_tool_use, CALL)

    assert emission.outcome is not None
    assert (emission.outcome.decision, emission.outcome.updated_input) == ("deny", {"command": "true"})
    assert house.told == []


async def test_a_listener_that_only_observes_does_not_block_when_it_fails(site: Any, tmp_path: Path) -> None:
    add(site, "watch", answer="1 / 0", declares='[capabilities.events]\npre_tool_use = "observe"\n')
    add(site, "gate", answer="1 / 0", declares='[capabilities.events]\npre_tool_use = "decide"\n')
    emission = await House(tmp_path, ["watch"]).events.emit(on.pre_tool_use, CALL)
    assert emission.failure is None

    emission = await House(tmp_path, ["gate"]).events.emit(on.pre_tool_use, CALL)
    assert "lifecycle/gate" in (emission.failure or "")


async def test_listeners_are_called_by_wish_then_by_the_setting_then_by_name(site: Any, tmp_path: Path) -> None:
    for name in "abcd":
        add(site, name, declares=None)
    add(site, "z", marker='hookimpl(specname="pre_tool_use", tryfirst=True)', declares=None)
    house = House(tmp_path, [*"abcdz"], order=["acme-d", "c"])
    emission = await house.events.emit(on.pre_tool_use, CALL)

    assert [answer.plugin.removeprefix("lifecycle/") for answer in emission.answers] == ["z", "d", "c", "a", "b"]
    assert house.registry.calling_order("pre_tool_use") == [
        ("lifecycle/z", "it asks to be first"),
        ("lifecycle/d", "it is number 1 in the setting plugins.order"),
        ("lifecycle/c", "it is number 2 in the setting plugins.order"),
        ("lifecycle/a", "by its name 'a', after those that plugins.order names"),
        ("lifecycle/b", "by its name 'b', after those that plugins.order names"),
    ]


def test_resolvers_are_asked_in_the_order_of_the_setting_then_by_name(site: Any, tmp_path: Path) -> None:
    code = """
        from toolpost import PermissionResolver

        class Judge(PermissionResolver):
            async def resolve(self, request):
                return None
    """
    for name in "abc":
        site.install(f"acme-{name}", entries={"permission_resolvers": {name: f"acme_{name}:Judge"}})
        site.package(f"acme_{name}", code)
    house = House(tmp_path, [*"abc"], order=["c"])

    assert [found.plugin for found in house.registry.in_order("permission_resolvers")] == ["c", "a", "b"]
