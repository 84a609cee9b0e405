"""Each plugin that ships declares what it needs, in the same file as a third party does, and no service beyond its use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from tests.architecture.folders import PLUGINS, Plugin, sources

from toolpost import on
from toolpost_core.plugins.capabilities import FILE, Capabilities, parse

OWN = {"agents", "files", "http", "mcp", "permissions", "processes", "skills", "tasks"}
"""Services that a context has as properties."""

plugin = pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.path)


def declared(plugin: Plugin) -> Capabilities:
    file = plugin.source / FILE
    return parse(file.read_text(encoding="utf-8"), str(file))


def services(plugin: Plugin) -> Iterator[str]:
    """Yield what the source asks a context or a scope for."""
    for file in sources(plugin.source):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in OWN and ast.unparse(node.value).endswith("ctx"):
                yield node.attr
            if isinstance(node, ast.Call) and re.search(r"services\.get$|\.service$", ast.unparse(node.func)):
                yield re.sub(r"(?<=[a-z])(?=[A-Z])", "_", ast.unparse(node.args[0])).lower()


def listens(plugin: Plugin) -> set[str]:
    """Return the events that the source has decorators for."""
    text = "".join(file.read_text(encoding="utf-8") for file in sources(plugin.source))
    return {name for name in on.__all__ if re.search(rf"@on\.{name}\b", text)}


@plugin
def test_what_a_plugin_needs_is_declared_and_can_be_read(plugin: Plugin) -> None:
    assert not declared(plugin).mistake


@plugin
def test_the_services_that_are_declared_are_those_that_are_asked_for(plugin: Plugin) -> None:
    assert sorted(declared(plugin).services) == sorted(set(services(plugin)))


@plugin
def test_every_event_that_is_listened_to_is_declared(plugin: Plugin) -> None:
    events = dict(declared(plugin).events)
    assert "*" in events or listens(plugin) <= events.keys()


@plugin
def test_processes_are_declared_where_they_are_started(plugin: Plugin) -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in sources(plugin.source))
    starts = re.search(r"create_subprocess|subprocess\.(run|Popen|check_)|\.processes\b|Processes\b", text)
    assert declared(plugin).process or not starts


@plugin
def test_a_source_of_the_prompt_declares_that_it_is_one(plugin: Plugin) -> None:
    assert declared(plugin).prompt or plugin.group.rpartition(".")[2] != "context"
