"""The contract kit of MCP transports."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest

from toolpost.errors import ToolpostError
from toolpost.testing._contract import PluginContract, finish
from toolpost.testing.context import make_scope


class McpTransportContract(PluginContract):
    """The suite for an MCP transport.

    `config` is a server's configuration that works, `config_dead` one of a server that is not there.
    """

    group = "mcp_transports"
    config: ClassVar[Mapping[str, Any]]
    config_dead: ClassVar[Mapping[str, Any]]

    def test_it_says_which_type_it_connects(self) -> None:
        """If this fails: set `type` to the word that stands in the server's configuration, by which core finds it."""
        assert isinstance(self.make().type, str)
        assert self.make().type

    def test_a_connection_opens_and_closes_more_than_once(self, folder: Path) -> None:
        """If this fails: make everything inside the context, nothing in the plugin: it is shared by servers and sessions."""
        for _ in range(2):
            finish(self._connect(folder, self.config))

    def test_leaving_a_connection_leaves_nothing_behind(self, folder: Path) -> None:
        """If this fails: end tasks, and close pipes and sockets, when the context is left: a session lasts for days."""
        assert finish(self._left_behind(folder)) == ([], [])

    def test_a_server_that_is_not_there_is_an_error_that_is_explained(self, folder: Path) -> None:
        """If this fails: raise a ToolpostError or OSError that names the server; never wait for ever."""
        with pytest.raises((ToolpostError, OSError)):
            finish(self._connect(folder, self.config_dead))

    async def _left_behind(self, folder: Path) -> tuple[list[str], list[str]]:
        tasks, files = asyncio.all_tasks(), _open_files()
        await self._connect(folder, self.config)
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                # What was told to close does so in one of the next rounds of the loop.
                while asyncio.all_tasks() - tasks or _open_files() - files:  # noqa: ASYNC110 - there is no event
                    await asyncio.sleep(0.01)
        return [repr(task) for task in asyncio.all_tasks() - tasks], sorted(_open_files() - files)

    async def _connect(self, folder: Path, config: Mapping[str, Any]) -> None:
        async with self.make().connect("test-server", config, make_scope(folder)) as streams:
            assert streams is not None


def _open_files() -> set[str]:
    """Return the open descriptors of this process with what they are, where the system tells."""
    listing = Path("/proc/self/fd")
    if not listing.is_dir():
        return set()
    return {f"{entry.name}: {target}" for entry in listing.iterdir() if (target := _target(entry))}


def _target(entry: Path) -> str:
    try:
        return str(entry.readlink())
    except OSError:  # that of the listing itself
        return ""
