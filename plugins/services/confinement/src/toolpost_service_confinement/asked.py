"""What a client of the gateway asks for, whichever protocol it speaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """A connection to `host`.

    `answer` goes to the client once there is one, `onward` to the host, `whole` to an HTTP proxy that needs no tunnel for
    it. `refusal` and `failure` make what the client gets instead.
    """

    host: str
    port: int
    answer: bytes
    onward: bytes
    refusal: Callable[[str], bytes]
    failure: Callable[[str], bytes]
    whole: bytes = b""
    by_socks: bool = False
