"""Loads plugins on trial, in a child of this process: one that ends the process ends the child."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Final

from toolpost_core.plugins.registry import Registry
from toolpost_core.plugins.scan import Entry

ENDED: Final = "it ended the process as it was loaded, past all that Python can catch"


def load_on_trial(registry: Registry, entries: Sequence[Entry]) -> None:
    """Give up in the registry what can't be loaded, with the reason. Nothing of a plugin runs in this process.

    Where the system can't make a child of this process, the plugins are loaded here.
    """
    if not hasattr(os, "fork"):
        for entry in entries:
            registry.load(entry)
        return
    rest = list(entries)
    while rest:
        answers = _answers(registry, rest)
        if len(answers) < len(rest):
            answers.append(ENDED)
        for entry, why in zip(rest, answers, strict=False):
            if why:
                registry.give_up(entry, why)
        rest = rest[len(answers) :]


def _answers(registry: Registry, entries: Sequence[Entry]) -> list[str]:
    """Return why each failed, empty for one that did not; fewer answers than entries where one ended the child."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            for entry in entries:
                state = registry.load(entry)
                os.write(writer, json.dumps(state.why if state.status == "failed" else "").encode() + b"\n")
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as lines:  # noqa: PTH123 - a descriptor
        answers = [json.loads(line) for line in lines]
    os.waitpid(child, 0)
    return answers
