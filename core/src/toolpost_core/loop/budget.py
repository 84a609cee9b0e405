"""One budget for dollars, inherited by sub-agents, background work and plugins' own model calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import toolpost

if TYPE_CHECKING:
    from toolpost import CostLine, ModelInfo, Usage


@dataclass
class Ledger:
    """What a session has used, by model; the only mutable account, shared by everything that asks the model.

    `max_dollars` bounds the sum; a model without a known price counts as nothing, and its line's dollars are None.
    """

    max_dollars: float | None = None
    lines: dict[str, CostLine] = field(default_factory=dict)

    def add(self, model: ModelInfo, usage: Usage) -> None:
        """Account for one request."""
        cost = model.price.of(usage) if model.price is not None else None
        old = self.lines.get(model.id)
        if old is None:
            self.lines[model.id] = toolpost.CostLine(model=model.id, requests=1, usage=usage, dollars=cost)
            return
        dollars = None if cost is None or old.dollars is None else old.dollars + cost
        self.lines[model.id] = toolpost.CostLine(
            model=model.id, requests=old.requests + 1, usage=old.usage.plus(usage), dollars=dollars
        )

    @property
    def dollars(self) -> float:
        """The sum of all known costs."""
        return sum(line.dollars or 0.0 for line in self.lines.values())

    @property
    def exhausted(self) -> bool:
        """Whether the limit is reached."""
        return self.max_dollars is not None and self.dollars >= self.max_dollars
