"""What fills the model's window."""

from __future__ import annotations

from collections.abc import Sequence

from toolpost._frozen import frozen


@frozen()
class UsageCategory:
    """A kind of thing in the window, and its tokens."""

    name: str
    tokens: int


@frozen(kw_only=True)
class ContextUsage:
    """How full the window is, in tokens.

    `effective` is the window without what is kept free for the answer. `auto` is where the conversation is compacted by
    itself, None where it is not, and `blocking` where nothing is sent any more. `counted` says that the service counted
    `used`; otherwise it is its last report and an estimate of what came since. `error` is by how much the estimate of the
    last request was off, as a share of what the service reported; None before that.
    """

    model: str
    used: int
    window: int
    effective: int
    blocking: int
    auto: int | None = None
    categories: Sequence[UsageCategory] = ()
    counted: bool = False
    error: float | None = None

    @property
    def free(self) -> int:
        """What is left of `effective`."""
        return max(self.effective - self.used, 0)
