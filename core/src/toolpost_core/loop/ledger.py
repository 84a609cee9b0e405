"""What was used, by who asked and by model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import toolpost

if TYPE_CHECKING:
    from toolpost import CostLine, ModelInfo, Usage

MAIN: Final = "main"
"""The spender that a session is for its own turns."""


@dataclass
class Ledger:
    """An account with a line for each spender and model, in the order of their first requests."""

    lines: dict[tuple[str, str], CostLine] = field(default_factory=dict)

    def add(self, model: ModelInfo, usage: Usage, *, spender: str = MAIN) -> None:
        """Account for one request."""
        self.take_over(line_of(model, usage, spender))

    def take_over(self, line: CostLine) -> None:
        """Account for what another account has in a line."""
        old = self.lines.get((line.spender, line.model))
        self.lines[line.spender, line.model] = line if old is None else _summed(old, line)

    def by_model(self) -> dict[str, CostLine]:
        """Return a line for each model, whoever asked it."""
        summed: dict[str, CostLine] = {}
        for line in self.lines.values():
            old = summed.get(line.model)
            summed[line.model] = line if old is None else _summed(old, line)
        return summed

    @property
    def usage(self) -> Usage:
        """The tokens of all requests."""
        total = toolpost.Usage()
        for line in self.lines.values():
            total = total.plus(line.usage)
        return total

    @property
    def tokens(self) -> int:
        """How many tokens that is, of prompts and answers."""
        return self.usage.prompt_tokens + self.usage.output_tokens

    @property
    def dollars(self) -> float:
        """The sum of all known costs."""
        return sum(line.dollars or 0.0 for line in self.lines.values())


def line_of(model: ModelInfo, usage: Usage, spender: str) -> CostLine:
    """Return what one request cost; its dollars are None where the model's price is not known."""
    dollars = model.price.of(usage) if model.price is not None else None
    return toolpost.CostLine(model=model.id, requests=1, usage=usage, dollars=dollars, spender=spender)


def _summed(one: CostLine, other: CostLine) -> CostLine:
    """Return the sum of two lines of a model, under the first one's spender."""
    dollars = None if one.dollars is None or other.dollars is None else one.dollars + other.dollars
    return replace(one, requests=one.requests + other.requests, usage=one.usage.plus(other.usage), dollars=dollars)
