"""A number of tokens that the person wants spent on a prompt: `+500k` at its beginning or end. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from toolpost._frozen import frozen

REACHED: Final = 0.9
"""The share of the target at which it counts as reached: nobody hits it exactly."""
LITTLE: Final = 500
PATIENCE: Final = 3
"""How many times in a row little may be gained before the rest of the target is given up."""
_AMOUNT: Final = r"\+(\d+(?:\.\d+)?)\s?([km])"
_WRITTEN: Final = rf"^\s*{_AMOUNT}\b|(?:^|\s){_AMOUNT}[.!]?\s*$"
_FACTORS: Final = {"k": 1_000, "m": 1_000_000}


@frozen()
class Target:
    """What is to be spent, and what was. `since` counts from the last time that the model was told to go on."""

    tokens: int
    spent: int = 0
    since: int = 0
    times: int = 0
    fruitless: int = 0

    def with_answer(self, tokens: int) -> Target:
        """Count an answer."""
        return replace(self, spent=self.spent + tokens, since=self.since + tokens)

    def gone_on(self) -> Target | None:
        """Return the target as the model is told to go on; None where that is enough, or leads nowhere."""
        little = self.times > 0 and self.since < LITTLE
        fruitless = self.fruitless + 1 if little else 0
        if self.spent >= self.tokens * REACHED or fruitless >= PATIENCE:
            return None
        return replace(self, since=0, times=self.times + 1, fruitless=fruitless)

    @property
    def nudge(self) -> str:
        """What the model is told."""
        return (
            f"You have used {self.spent:,} of the {self.tokens:,} tokens ({self.spent / self.tokens:.0%}) that the user "
            "wants you to spend on this. Go on working on the task, and do not sum up yet."
        )


def target_in(prompt: str) -> Target | None:
    """Return the target that a prompt names, if it does."""
    # Most prompts hold no plus sign, and are not kept waiting for the pattern to be compiled.
    found = re.search(_WRITTEN, prompt, re.IGNORECASE) if "+" in prompt else None
    if found is None:
        return None
    number, unit = (found[1], found[2]) if found[1] else (found[3], found[4])
    tokens = int(float(number) * _FACTORS[unit.lower()])
    return Target(tokens) if tokens else None
