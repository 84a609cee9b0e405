"""Making a picture small enough to send: fewer pixels, then fewer bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from .picture import Picture

if TYPE_CHECKING:
    from PIL import Image

SIDE = 1568
"""Pixels of the long side that the model sees at most; bigger pictures the service scales down itself (vision docs)."""
TOKENS_A_CHARACTER = 0.125
"""Tokens that a character of base64 is reckoned at."""
MOST_PIXELS = 100_000_000
"""Pixels of a picture that is decoded: 400 MB of memory at four bytes each."""
QUALITIES = (80, 60, 40, 20)
SCALES = (1.0, 0.7, 0.5, 0.35)
LAST_RESORT = ((400, 400), 20)
"""Side and JPEG quality of what is sent where nothing else fits."""


def fits(picture: Picture, max_tokens: int) -> bool:
    """Whether a picture can be sent as it is."""
    small = max(picture.width, picture.height) <= SIDE
    return small and len(picture.data) <= room(max_tokens)


def room(max_tokens: int) -> int:
    """Return the bytes of a picture that the tokens pay for."""
    return int(max_tokens / TOKENS_A_CHARACTER * 3 / 4)


def shrunk(picture: Picture, max_tokens: int) -> Picture:
    """Return a picture that fits, the best that does; it blocks. Raises ValueError for one that can't be decoded."""
    if fits(picture, max_tokens):
        return picture
    if picture.width * picture.height > MOST_PIXELS:
        raise ValueError(f"it has {picture.width} x {picture.height} pixels, at most {MOST_PIXELS} can be decoded")
    from PIL import Image, ImageOps

    try:
        with Image.open(io.BytesIO(picture.data), formats=("PNG", "JPEG", "GIF", "WEBP")) as opened:
            opened.draft("RGB", (SIDE, SIDE))  # lets a JPEG decode at half its size or less
            image = ImageOps.exif_transpose(opened)
            image.thumbnail((SIDE, SIDE))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"it is damaged or cut off ({error})") from error
    most = room(max_tokens)
    return next((made for made in _tries(image, picture) if len(made.data) <= most), None) or _last(image, picture)


def _tries(image: Image.Image, picture: Picture) -> Iterator[Picture]:
    """Yield ever smaller pictures; what has no loss comes first where the original had none."""
    if picture.media_type in ("image/png", "image/gif"):
        yield _encoded(image, picture, "PNG", optimize=True)
    for scale in SCALES:
        smaller = _on_white(image)
        smaller.thumbnail((max(int(image.width * scale), 1), max(int(image.height * scale), 1)))
        for quality in QUALITIES:
            yield _encoded(smaller, picture, "JPEG", quality=quality)


def _last(image: Image.Image, picture: Picture) -> Picture:
    size, quality = LAST_RESORT
    smallest = _on_white(image)
    smallest.thumbnail(size)
    return _encoded(smallest, picture, "JPEG", quality=quality)


def _on_white(image: Image.Image) -> Image.Image:
    """Return a copy without transparency, which JPEG does not have."""
    from PIL import Image

    if not image.has_transparency_data:
        return image.convert("RGB")
    white = Image.new("RGBA", image.size, "white")
    white.alpha_composite(image.convert("RGBA"))
    return white.convert("RGB")


def _encoded(image: Image.Image, picture: Picture, form: str, **options: int) -> Picture:
    written = io.BytesIO()
    image.save(written, form, **options)
    return replace(
        picture,
        media_type=f"image/{form.lower()}",
        width=image.width,
        height=image.height,
        data=written.getvalue(),
    )
