"""The commands, one file a group; nothing is imported before its command is run."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

COMMANDS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "compact": ("compact:compact", "What compaction would keep of a session, or doing it."),
        "completion": ("completion:completion", "A script that completes this command line in bash, zsh or fish."),
        "context": ("context:context", "What a request holds beside the conversation."),
        "cost": ("cost:cost", "What sessions have cost."),
        "doctor": ("doctor:doctor", "Look for what is wrong, with what to do about it."),
        "hooks": ("hooks:hooks", "The hooks that are set up, and the events there are."),
        "permissions": ("permissions:permissions", "Permission rules, and what they come to."),
        "plugins": ("plugins:plugins", "What is installed, on, and why not."),
        "record": ("record:record", "Run a prompt, and keep the whole session in a file."),
        "replay": ("replay:replay", "Play a recorded session offline, and say what is different."),
        "sessions": ("sessions:sessions", "Sessions that were kept."),
        "settings": ("settings:settings", "Settings in force, and where they come from."),
        "tool": ("tool:tool", "List, show and run tools."),
        "trust": ("trust:trust", "Folders whose settings may start and allow things."),
        "why": ("why:why", "Why a call was allowed or refused."),
    }
)
"""Each command's place, below this package, and one line on it."""
