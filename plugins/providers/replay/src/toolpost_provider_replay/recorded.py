"""A provider that records what another one answers."""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

from toolpost import ModelInfo, ModelRequest, Provider, ProviderError, StreamEvent

from .cassette import HEADER, header_problem
from .event_json import event_to_json


class Recorded(Provider):
    """Passes on what `inner` answers and appends each answer to a cassette, as one line, once it has ended.

    A file that is there must be a cassette: it is gone on with. An answer that fails is recorded with its error, one
    that is called off as far as it came.
    """

    def __init__(self, inner: Provider, path: Path) -> None:
        self.inner = inner
        self.path = path

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Ask `inner`. Raises ProviderError also where the cassette can't be written."""
        _prepare(self.path)
        begun, events = time.monotonic(), list[dict[str, Any]]()
        try:
            async with aclosing(cast("Any", self.inner.stream(request))) as answer:
                async for event in answer:
                    events.append(event_to_json(time.monotonic() - begun, event))
                    yield event
        except ProviderError as error:
            events.append(event_to_json(time.monotonic() - begun, error))
            raise
        finally:
            if events:
                _append(self.path, {"events": events})

    def unusable(self, env: Mapping[str, str]) -> str | None:
        """Say what `inner` lacks."""
        return self.inner.unusable(env)

    def credential_source(self, env: Mapping[str, str]) -> str:
        """Name where `inner` has its key from."""
        return self.inner.credential_source(env)

    def model(self, name: str) -> ModelInfo:
        """Resolve a name as `inner` does."""
        return self.inner.model(self.inner.default_model if name == self.default_model else name)

    def models(self) -> Sequence[ModelInfo]:
        """The models of `inner`."""
        return self.inner.models()

    async def check_model(self, request: ModelRequest) -> None:
        """Ask `inner` whether there is the model; nothing is recorded."""
        await self.inner.check_model(request)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Count as `inner` does; nothing is recorded."""
        return await self.inner.count_tokens(request)


def _prepare(path: Path) -> None:
    """Make the cassette, or make sure that it is one that ends with a whole line."""
    try:
        with path.open("x+b" if not path.exists() else "r+b") as file:
            text = file.read()
            if not text:
                file.write(json.dumps(HEADER).encode() + b"\n")
                return
            problem = header_problem(text.split(b"\n", 1)[0].decode("utf-8", "replace"))
            if problem is not None:
                raise ProviderError(f"{path}:1: {problem}. It was left as it is.", kind="invalid_request")
            last = text.rpartition(b"\n")[2]
            if not last:
                return
            if _is_json(last):
                file.write(b"\n")
            else:
                # Half of a line: the program was killed as it wrote it.
                file.truncate(len(text) - len(last))
    except OSError as error:
        raise _unwritable(path, error) from error


def _append(path: Path, answer: Mapping[str, Any]) -> None:
    line = json.dumps(answer, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        try:
            size = os.fstat(descriptor).st_size
            if os.write(descriptor, line) != len(line):
                os.ftruncate(descriptor, size)
                raise OSError("the disk is full")
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _unwritable(path, error) from error


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _unwritable(path: Path, error: OSError) -> ProviderError:
    return ProviderError(f"The cassette {str(path)!r} can't be written: {error}.", kind="unknown")
