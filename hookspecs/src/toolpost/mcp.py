"""MCP transports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, ClassVar

from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin

if TYPE_CHECKING:
    from toolpost.session import SessionScope


class McpTransport(Plugin, ABC):
    """Connects to MCP servers in one way."""

    type: ClassVar[str]
    """The `type` in the server's configuration, such as `stdio` or `http`."""

    @abstractmethod
    def connect(self, name: str, config: Mapping[str, Any], scope: SessionScope) -> AbstractAsyncContextManager[Any]:
        """Open a connection: the context yields what `mcp.Client` takes as its transport, a pair of message streams.

        Leaving the context ends the connection and whatever was started for it.
        """

    @hookimpl(specname="mcp_transports")
    def _mcp_transports(self) -> Sequence[McpTransport]:
        return (self,)
