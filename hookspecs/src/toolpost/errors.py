"""Every exception of the public API.

ToolpostError
  SettingsError            a settings file or a plugin's config can't be used
  PluginError              a plugin can't be loaded, registered or called
    MissingService         nobody offers a service that was asked for
  ProviderError            the model could not be asked, or did not answer
    PromptTooLong          the request is longer than the model's window
  ToolError                a tool call did not work; carries the text that the model reads
    InvalidInput           the input does not fit: the model can mend it
    ToolFailed             the tool ran and failed
      StaleFile            a file is no longer what its reader or writer thought it to be
  Aborted                  the work was called off
  SessionError             a session can't be opened, read or written
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ToolpostError(Exception):
    """Raised when Toolpost or a plugin fails in a way that is explained to a reader.

    `str(error)` is for the person, `for_model` for the model where the two differ.
    """

    @property
    def for_model(self) -> str:
        """The text that the model reads."""
        return str(self)


class SettingsError(ToolpostError):
    """Raised when a setting can't be used; the message names file, key and what is allowed."""


class PluginError(ToolpostError):
    """Raised when a plugin can't be loaded, registered or called; the message names it and its distribution."""


class MissingService(PluginError):
    """Raised when no enabled plugin offers the service that was asked for."""


class ProviderError(ToolpostError):
    """Raised when the model could not be asked or its answer broke off.

    `kind` is one of authentication_failed, billing_error, rate_limit, overloaded, invalid_request, invalid_block,
    invalid_image, model_not_found, server_error, connection, timeout, unknown. Of invalid_block and invalid_image
    (pictures and documents) `message_index` and `content_index` say which block was refused: indexes in the request's
    `messages` and in that message's content, None where the service did not say. `retriable` says that the same request
    may succeed later. `retry_after` is in seconds. `status` is the HTTP status, if there was one. `details` is what the
    service sent, for the record.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "unknown",
        status: int | None = None,
        retriable: bool = False,
        retry_after: float | None = None,
        message_index: int | None = None,
        content_index: int | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.retriable = retriable
        self.retry_after = retry_after
        self.message_index = message_index
        self.content_index = content_index
        self.details = dict(details or {})


class PromptTooLong(ProviderError):
    """Raised when the request does not fit the model's window; `tokens_over` says by how much, if the service did."""

    def __init__(self, message: str, *, tokens_over: int | None = None, **kwargs: Any) -> None:
        super().__init__(message, kind="invalid_request", **kwargs)
        self.tokens_over = tokens_over


class ToolError(ToolpostError):
    """Raised by a tool whose call did not work; the model reads the message as an error result."""

    def __init__(self, message: str, *, for_model: str | None = None) -> None:
        super().__init__(message)
        self._for_model = for_model

    @property
    def for_model(self) -> str:
        """The text that the model reads."""
        return self._for_model if self._for_model is not None else str(self)


class InvalidInput(ToolError):
    """Raised when a tool's input does not fit; says which parameter, what came and what is allowed."""


class ToolFailed(ToolError):
    """Raised when a tool ran and did not succeed; nothing is wrong with its input's shape."""


class StaleFile(ToolFailed):
    """Raised when a file is no longer what its reader or writer thought it to be; nothing was written."""


class Aborted(ToolpostError):
    """Raised when work is called off; `reason` is one of the abort reasons of `AbortSignal`.

    `so_far` is what it had come to, for the model to read, such as a command's output until then.
    """

    def __init__(self, reason: str, so_far: str = "") -> None:
        super().__init__(f"Called off: {reason}")
        self.reason = reason
        self.so_far = so_far


class SessionError(ToolpostError):
    """Raised when a session can't be opened, read, locked or written; the message names the file."""
