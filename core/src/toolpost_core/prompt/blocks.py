"""The system prompt as blocks: what stays the same before what changes, each with how long its cache serves."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from toolpost import SystemBlock
from toolpost._frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolpost.providers import CacheScope
    from toolpost_core.prompt.levels import Opening
    from toolpost_core.prompt.sections import Found

CORE: Final = "core"
"""The origin of what no plugin gave."""


class Part(NamedTuple):
    """A named text.

    `origin` is the plugin that it comes from, `file` what that read it from, `why` the reason of a volatile one.
    """

    name: str
    text: str
    origin: str = CORE
    file: str = ""
    why: str = ""


class Block(NamedTuple):
    """Parts that are sent as one text, as they all stay the same for as long."""

    scope: CacheScope
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The text that is sent."""
        return _text(self.parts)


@frozen()
class Prompt:
    """The system prompt, and what goes before the first prompt of the user."""

    blocks: tuple[Block, ...]
    first: tuple[Part, ...] = ()

    @cached_property
    def user(self) -> str:
        """What goes before the first prompt of the user, as a reminder; empty where nothing does."""
        return reminder(_text(self.first)) if self.first else ""

    # The same objects for each request: a provider knows by them what it has encoded already.

    @cached_property
    def marked(self) -> tuple[SystemBlock, ...]:
        """The system prompt for a model whose service caches prompts."""
        return tuple(SystemBlock(block.text, block.scope != "none", scope=block.scope) for block in self.blocks)

    @cached_property
    def unmarked(self) -> tuple[SystemBlock, ...]:
        """The system prompt for a model whose service does not."""
        return tuple(SystemBlock(block.text, scope=block.scope) for block in self.blocks)


def reminder(text: str) -> str:
    """Return a text for the model as one that is no word of the user's; nothing in it ends that."""
    held = text.replace("</system-reminder", "<\\/system-reminder")
    return f"<system-reminder>\n{held}\n</system-reminder>"


def compose(found: Sequence[Found], opening: Opening) -> Prompt:
    """Put the prompt together: the opening and what is static, then what is a session's, then what is volatile."""
    ordered = sorted(
        (one for one in found if one.section.text.strip()),
        key=lambda one: (one.section.order, one.section.name),
    )
    user = _parts(one for one in ordered if one.section.user)
    system = [] if opening.alone else [one for one in ordered if not one.section.user]
    shared = Part(name=opening.level, text=opening.text)
    appended = (Part(name="append", text=opening.appended),) if opening.appended else ()
    groups: tuple[tuple[CacheScope, tuple[Part, ...]], ...] = (
        ("shared", (shared, *_parts(one for one in system if one.section.static))),
        ("session", (*_parts(one for one in system if _of_session(one)), *appended)),
        ("none", _parts(one for one in system if one.section.volatile)),
    )
    return Prompt(tuple(Block(scope, parts) for scope, parts in groups if parts), user)


def _of_session(found: Found) -> bool:
    return not (found.section.static or found.section.volatile)


def _parts(found: Iterable[Found]) -> tuple[Part, ...]:
    return tuple(
        Part(
            name=one.section.name,
            text=one.section.text.strip(),
            origin=one.plugin,
            file=one.section.source,
            why=one.section.why_volatile if one.section.volatile else "",
        )
        for one in found
    )


def _text(parts: Sequence[Part]) -> str:
    return "\n\n".join(part.text for part in parts)
