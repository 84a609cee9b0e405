"""A plugin that fails after it was registered takes part in nothing."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from fake_session import group, registry_of

from toolpost import Tool, hookimpl, on
from toolpost_core.plugins.registry import Problem, Registry
from toolpost_core.plugins.scan import Entry, Inventory


def both_kinds(tools: Any) -> type[Any]:
    """A plugin with tools and a listener."""

    class Both:
        @hookimpl
        def tools(self) -> Any:
            return tools()

        @on.post_tool_use
        def hear(self, event: Any) -> None: ...

    return Both


def broken() -> Any:
    raise OSError("no licence")


@pytest.mark.parametrize("tools", [broken, lambda: "no list"])
def test_a_plugin_that_brings_nothing_of_its_kind_hears_nothing_either(tools: Any) -> None:
    with registry_of([group("tools", both_kinds(tools)())]) as registry:
        assert registry.collect("tools") == []
        assert registry.manager.hook.tools.get_hookimpls() == []
        assert not registry.manager.hook.post_tool_use.get_hookimpls()


def test_a_plugin_that_works_still_hears() -> None:
    tools: list[Tool[Any]] = []
    with registry_of([group("tools", both_kinds(lambda: tools)())]) as registry:
        registry.collect("tools")
        assert len(registry.manager.hook.post_tool_use.get_hookimpls()) == 1


def test_a_plugin_that_serves_as_one_kind_keeps_its_listeners_when_it_fails_as_another() -> None:
    module = ModuleType("plugin_of_two_kinds")
    module.plugin = both_kinds(broken)()  # type: ignore[attr-defined]
    kinds = ("lifecycle", "tools")
    entries = tuple(Entry(kind, "both", f"{module.__name__}:plugin", "dist", "1.0", "", True) for kind in kinds)
    sys.modules[module.__name__] = module
    try:
        registry = Registry(Inventory(entries), {})
        for kind in kinds:
            registry.collect(kind)
    finally:
        del sys.modules[module.__name__]
    assert [registry.state_of(entry).status for entry in entries] == ["on", "failed"]
    assert len(registry.manager.hook.post_tool_use.get_hookimpls()) == 1


def test_a_listener_that_does_not_take_the_event_is_refused_at_once() -> None:
    def hear() -> None: ...

    mark: Any = on.post_tool_use
    problems: list[Problem] = []
    with registry_of([type("Deaf", (), {"hear": staticmethod(mark(hear))})()], problems.append) as registry:
        assert registry.collect("lifecycle") == []
    assert "post_tool_use(event)" in problems[0].text
