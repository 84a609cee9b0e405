"""Prices of the Messages API, in dollars per million tokens."""

from __future__ import annotations

from datetime import date
from typing import Final

from toolpost import Price

AS_OF: Final = date(2026, 11, 30)
OFFICIAL: Final = (
    "Anthropic's model and pricing pages and release notes, as stored between 2026-08-22 and November 2026"
)
NOTES: Final = f"{OFFICIAL}; cache prices from third-party release notes of November 2026"
WEB_SEARCH: Final = 10.0
"""Dollars for a thousand searches of the service's own search tool, whichever model asks for them."""
LONG_PROMPT: Final = 100_000
"""Tokens of the prompt above which Haiku 5.5 costs more."""


def price(
    input: float,
    output: float,
    *,
    write: float,
    write_1h: float,
    read: float,
    source: str = OFFICIAL,
    above: Price | None = None,
) -> Price:
    """Make one row of the table; `write` is for five minutes."""
    return Price(
        input=input,
        output=output,
        cache_write=write,
        cache_write_1h=write_1h,
        cache_read=read,
        web_search=WEB_SEARCH,
        as_of=AS_OF,
        source=source,
        above_tokens=LONG_PROMPT if above is not None else None,
        above=above,
    )


FABLE_5_2: Final = price(8, 40, write=10, write_1h=16, read=0.2, source=NOTES)
FABLE_5_1: Final = price(10, 50, write=12.5, write_1h=20, read=0.25)
FABLE_5: Final = price(10, 50, write=12.5, write_1h=20, read=1)
OPUS_5_5: Final = price(4, 20, write=5, write_1h=8, read=0.2)
OPUS: Final = price(5, 25, write=6.25, write_1h=10, read=0.5)
SONNET_5_5: Final = price(2, 10, write=2.5, write_1h=4, read=0.1)
SONNET_5: Final = price(2, 10, write=2.5, write_1h=4, read=0.2)
SONNET_4: Final = price(3, 15, write=3.75, write_1h=6, read=0.3)
HAIKU_5_5: Final = price(
    0.1,
    0.5,
    write=0.125,
    write_1h=0.2,
    read=0.01,
    above=price(0.5, 2.5, write=0.625, write_1h=1, read=0.05),
)
HAIKU_4_5: Final = price(1, 5, write=1.25, write_1h=2, read=0.1)
