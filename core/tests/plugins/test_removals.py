"""A plugin that uses what the next hookspecs will not have is named, once, and works until then."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from fake_session import group, registry_of

from toolpost import RemovedInHookspec2Warning, hookimpl, hookspec, tool
from toolpost_core.plugins.registry import Problem


@tool
async def echo(text: str) -> str:
    """Say the text again, as it is."""
    return text


class Old:
    @hookimpl
    def tools(self) -> Any:
        return [echo]

    @hookimpl
    def old_listener(self, event: Any, reason: Any) -> None: ...


class Careful:
    @hookimpl
    def tools(self) -> Any:
        return [echo]

    @hookimpl
    def old_listener(self, event: Any) -> None: ...


def declared(**options: Any) -> Any:
    """A namespace with the spec of a hook that goes away."""

    def old_listener(event: Any, reason: Any) -> None: ...

    return SimpleNamespace(old_listener=hookspec(old_listener, **options))


WHOLE = {"warn_on_impl": RemovedInHookspec2Warning("use new_listener.")}
ARGUMENT = {"warn_on_impl_args": {"reason": RemovedInHookspec2Warning("it is event.reason.")}}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (WHOLE, "the hook 'old_listener': use new_listener."),
        (ARGUMENT, "the argument 'reason' of the hook 'old_listener': it is event.reason."),
    ],
)
def test_the_plugin_is_named_and_still_works(options: Any, said: str) -> None:
    told: list[Problem] = []
    with registry_of([group("tools", Old())], told.append) as registry:
        registry.manager.add_hookspecs(declared(**options))
        with pytest.warns(RemovedInHookspec2Warning, match="'p000'") as warned:
            assert [provided.value for provided in registry.collect("tools")] == [echo]
    assert len(warned) == 1
    (problem,) = told
    assert problem.text == f"The plugin 'p000' (dist-p000 1.0) uses what hookspecs 2 will not have, {said}"


def test_a_plugin_that_does_not_take_the_argument_hears_nothing_of_it() -> None:
    told: list[Problem] = []
    with registry_of([group("tools", Careful())], told.append) as registry:
        registry.manager.add_hookspecs(declared(**ARGUMENT))
        assert len(registry.collect("tools")) == 1
    assert told == []
