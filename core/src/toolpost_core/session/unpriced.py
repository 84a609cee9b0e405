"""A limit in dollars that nothing holds, as the model's price is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolpost_core.session.inner import Inner


def warn_of_no_price(session: Inner) -> None:
    """Tell the person once, where there is a limit."""
    if session.model.price is None and session.parts.budget.left.dollars is not None:
        session.warn_once(
            f"The price of {session.model.id} is not known: the limit in dollars does not hold what it is asked. "
            'Say what it costs under "modelPricing" in your settings.'
        )
