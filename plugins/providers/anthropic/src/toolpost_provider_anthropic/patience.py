"""How long an answer is waited for, from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from toolpost import ProviderError

IDLE_MS: Final = 90_000
PINGS_MS: Final = 600_000
RETRIES: Final = 10
READING: Final = 50_000
"""Bytes of a request for which its first byte of an answer may take a second longer: a long prompt is read first."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """Seconds without any byte, and without anything but signs of life, after which an answer is given up."""

    idle: float = IDLE_MS / 1000
    pings: float = PINGS_MS / 1000

    def before_the_first_byte(self, size: int) -> float:
        """Return the seconds that an answer to a request of so many bytes may take to begin."""
        return self.idle + size / READING


def from_environment(env: Mapping[str, str]) -> Patience:
    """Read the limits of a stream. Raises ProviderError where a variable can't be used."""
    return Patience(
        idle=milliseconds(env, "TOOLPOST_STREAM_IDLE_TIMEOUT_MS", IDLE_MS),
        pings=milliseconds(env, "TOOLPOST_STREAM_PING_TIMEOUT_MS", PINGS_MS),
    )


def retries(env: Mapping[str, str], configured: int) -> int:
    """Return how often a request is sent again: the variable goes before the setting. Raises ProviderError."""
    text = env.get("TOOLPOST_MAX_RETRIES", "").strip()
    if not text:
        return configured
    if not text.isdecimal():
        raise ProviderError(
            f"TOOLPOST_MAX_RETRIES is {text!r}. It must be a whole number from 0, such as {RETRIES}.",
            kind="invalid_request",
        )
    return int(text)


def milliseconds(env: Mapping[str, str], name: str, default: int) -> float:
    """Return a variable's milliseconds in seconds. Raises ProviderError where it is no number over 0."""
    text = env.get(name, "").strip()
    if not text:
        return default / 1000
    if not text.isdecimal() or int(text) == 0:
        raise ProviderError(
            f"{name} is {text!r}. It must be a number of milliseconds over 0, such as {default}.",
            kind="invalid_request",
        )
    return int(text) / 1000
