"""The contract kit of MCP transports."""

from __future__ import annotations

from collections.abc import Mapping
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
        """If this fails: set `type` to the word that stands in the server's configuration."""
        assert isinstance(self.make().type, str)
        assert self.make().type

    def test_a_connection_opens_and_closes_more_than_once(self, folder: Path) -> None:
        """If this fails: make everything inside the context, and end it when the context is left."""
        for _ in range(2):
            finish(self._connect(folder, self.config))

    def test_a_server_that_is_not_there_is_an_error_that_is_explained(self, folder: Path) -> None:
        """If this fails: raise a ToolpostError or OSError that names the server; never wait for ever."""
        with pytest.raises((ToolpostError, OSError)):
            finish(self._connect(folder, self.config_dead))

    async def _connect(self, folder: Path, config: Mapping[str, Any]) -> None:
        async with self.make().connect("test-server", config, make_scope(folder)) as streams:
            assert streams is not None
