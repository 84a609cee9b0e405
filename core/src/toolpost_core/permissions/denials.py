"""Counts refusals, so that a model that runs against the same wall is told, and a person hears of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolpost import Denials
from toolpost.permissions import DENIED_IN_A_ROW, DENIED_IN_ALL

if TYPE_CHECKING:
    from toolpost import PermissionRequest


class DenialCounts:
    """The refusals of one conversation by kind of call: a tool, for a shell a tool and a program."""

    def __init__(self) -> None:
        self._counts: dict[str, Denials] = {}

    def of(self, request: PermissionRequest) -> Denials:
        """Return how often calls of the request's kind were refused."""
        return self._counts.get(_kind(request), Denials()) if self._counts else Denials()

    def refused(self, request: PermissionRequest) -> Denials:
        """Count a refusal that no person made; return the new counts."""
        kind = _kind(request)
        row, total = self._counts.get(kind, Denials())
        counts = self._counts[kind] = Denials(row + 1, total + 1)
        return counts

    def passed(self, request: PermissionRequest) -> None:
        """Count a call that ran: the row ends, and where a person had to look, all begins anew."""
        kind = _kind(request) if self._counts else ""
        if kind in self._counts:
            total = self._counts[kind].in_all
            self._counts[kind] = Denials() if Denials(0, total).too_many else Denials(0, total)


def advice(request: PermissionRequest, counts: Denials) -> str:
    """Return what the model is told of too many refusals; empty while they are few."""
    if not counts.too_many:
        return ""
    return (
        f"\n{_kind(request)} was refused {_times(counts)}. Do not try another form of the same call: go about the task "
        "in another way, or tell the user what you need and why."
    )


def notice(request: PermissionRequest, counts: Denials) -> str:
    """Return what the person is told when refusals become too many; empty before and after."""
    if counts.in_a_row != DENIED_IN_A_ROW and counts.in_all != DENIED_IN_ALL:
        return ""
    return (
        f"{_kind(request)} was refused {_times(counts)}; the model is told to change its approach. "
        "`toolpost why` says what refused it; `toolpost permissions add` writes a rule that allows it."
    )


def _times(counts: Denials) -> str:
    return f"{counts.in_a_row} times in a row" if counts.in_a_row >= DENIED_IN_A_ROW else f"{counts.in_all} times"


def _kind(request: PermissionRequest) -> str:
    if request.matcher is None:
        return request.tool_name
    acting = [part for part in request.matcher.parts if part.argv and not part.read_only]
    return f"{request.tool_name}({acting[0].argv[0]})" if acting else request.tool_name
