from __future__ import annotations

from collections.abc import Sequence

import pytest

from toolpost_core.plugins.bisect import smallest

NAMES = tuple("abcdefghijklmnop")


@pytest.mark.parametrize("culprits", ["a", "p", "h", "ab", "ap", "ho", "cgk", "abop"])
def test_a_smallest_failing_set_is_found(culprits: str) -> None:
    runs: list[tuple[str, ...]] = []

    def fails(on: Sequence[str]) -> bool:
        runs.append(tuple(on))
        return set(culprits) <= set(on)

    assert smallest(NAMES, fails) == tuple(culprits)
    assert len(culprits) > 1 or len(runs) <= 8


def test_one_of_two_that_each_suffice_is_named_alone() -> None:
    assert len(smallest(NAMES, lambda on: "c" in on or "n" in on)) == 1
