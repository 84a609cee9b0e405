"""Secrets in what leaves the machine: what looks like one by rule, and the values of variables whose names say so."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from toolpost._frozen import frozen
from toolpost_core.transcripts.secret_forms import RULES, SECRET_NAME

LEAST: Final = 8
"""Characters that a variable's value must have to be taken for a secret."""
SAYS_SECRET: Final = re.compile(r"(?i)key|token|secret|passw|credential")
"""What the name of a variable holds whose value is one; a folder or a number is none."""


@frozen()
class Redactor:
    """Takes secrets out of texts; `known` are values that are secrets wherever they stand."""

    known: tuple[str, ...] = ()

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Redactor:
        """Return one that knows the secrets of an environment, also as they stand in JSON."""
        values = {value for name, value in env.items() if SAYS_SECRET.search(name) and _may_be_secret(value)}
        in_json = {json.dumps(value, ensure_ascii=ascii)[1:-1] for value in values for ascii in (True, False)}
        return cls(tuple(sorted(values | in_json, key=len, reverse=True)))

    def __call__(self, value: Any) -> Any:
        """Return a JSON value with a mark in the place of each secret."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            if value.get("type") == "base64":
                return value  # a picture: there is no text in it, and it is long
            return {key: self._field(str(key), one) for key, one in value.items()}
        if isinstance(value, Sequence):
            return [self(one) for one in value]
        return value

    def _field(self, name: str, value: Any) -> Any:
        """Return the value of a field, of one whose name says what it is a mark only."""
        if isinstance(value, str) and SECRET_NAME.search(name) and _may_be_secret(value) and " " not in value:
            return _mark("secret")
        return self(value)

    def text(self, text: str) -> str:
        """Return a text with a mark in the place of each secret."""
        for value in self.known:
            text = text.replace(value, _mark("environment variable"))
        low = text.lower()
        for rule in RULES:
            if any(sign in low for sign in rule.signs):
                text = rule.pattern.sub(partial(_replaced, rule.name), text)
        return text


def _replaced(name: str, found: re.Match[str]) -> str:
    named = found.groupdict()
    group = next((one for one in ("secret", "bare") if named.get(one) is not None), 0)
    secret, whole = found[group], found[0]
    if secret.startswith("[redacted"):
        return whole
    start = found.start(group) - found.start()
    return whole[:start] + _mark(name) + whole[start + len(secret) :]


def _mark(name: str) -> str:
    return f"[redacted: {name}]"


def _may_be_secret(value: str) -> bool:
    return len(value) >= LEAST and "/" not in value[:1] and not value.isdecimal()
