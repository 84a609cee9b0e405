"""Combines opinions on a call into one verdict; pure.

deny (settings) > deny (hook, resolver, tool) > ask (anyone) > allow, from whatever source. Nobody with an opinion is an
ask. An ask where nobody can be asked is a deny that says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import Behavior, Decision

Kind: TypeAlias = Literal["rule", "hook", "resolver", "tool", "failure"]


@frozen()
class Opinion:
    """One answer with who gave it. `dropped` says why it does not count, for the record."""

    by: str
    kind: Kind
    decision: Decision
    dropped: str = ""

    @property
    def settled_by_settings(self) -> bool:
        """Whether it rests on a rule."""
        return self.kind == "rule" or self.decision.rule is not None


@frozen()
class Verdict:
    """The one answer, and everything that was asked for it.

    `wanted` is what it was before an ask became a deny for want of a person. `decisive` is the opinion it rests on.
    """

    behavior: Behavior
    reason: str
    wanted: Behavior
    decisive: Opinion | None = None
    opinions: tuple[Opinion, ...] = ()

    @property
    def resolver(self) -> str:
        """Who decided; `default` where nobody had an opinion."""
        return self.decisive.by if self.decisive is not None else "default"


def combine(opinions: Sequence[Opinion], *, cannot_ask: str | None) -> Verdict:
    """Return the verdict. `cannot_ask` says why nobody can be asked, or is None where a person can."""
    decisive = _decisive([opinion for opinion in opinions if not opinion.dropped])
    wanted: Behavior = decisive.decision.behavior if decisive is not None else "ask"
    reason = decisive.decision.reason if decisive is not None else "no rule allows it"
    if wanted == "ask" and cannot_ask is not None:
        return Verdict("deny", f"{reason}; {cannot_ask}", wanted, decisive, tuple(opinions))
    return Verdict(wanted, reason, wanted, decisive, tuple(opinions))


def is_open(opinions: Sequence[Opinion]) -> bool:
    """Whether nobody has an opinion that counts."""
    return all(opinion.dropped for opinion in opinions)


def _decisive(opinions: Sequence[Opinion]) -> Opinion | None:
    return min(opinions, key=_rank, default=None)


def _rank(opinion: Opinion) -> int:
    behavior = opinion.decision.behavior
    if behavior == "deny":
        return 0 if opinion.settled_by_settings else 1
    if behavior == "ask":
        return 2 if opinion.settled_by_settings else 3
    return 4 if opinion.settled_by_settings else 5
