"""Which encoding a file's bytes are in, and back again without losing one."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

SAMPLE = 65_536
"""Bytes looked at to guess a legacy encoding: more does not make the guess better, only slower."""
ENOUGH = 16
"""Bytes over 0x7F from which statistics say more than the plain assumption of Windows-1252."""

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""UTF-32 stands before UTF-16, whose mark is the beginning of UTF-32's."""

_HIGH = re.compile(rb"[\x80-\xff]")
_MULTIBYTE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


def decode(data: bytes) -> tuple[str, str, bytes]:
    """Return text, encoding name and byte order mark, such that `bom + encode(text, encoding)` is `data` again.

    A file that is UTF-8 but for stray bytes stays UTF-8; each stray byte is a lone surrogate in the text (PEP 383).
    """
    for bom, name in BOMS:
        if data.startswith(bom):
            body = data[len(bom) :]
            text = _exact(body, name)
            if text is not None:
                return text, name, bom
            if name == "utf-8":
                return body.decode(name, "surrogateescape"), name, bom
    for name in _candidates(data):
        text = _exact(data, name)
        if text is not None:
            return text, name, b""
    return data.decode("utf-8", "surrogateescape"), "utf-8", b""


def encode(text: str, encoding: str) -> bytes:
    """Return `text` as bytes; raises `UnicodeEncodeError` for what the encoding has no byte for."""
    return text.encode(encoding, "surrogateescape" if encoding == "utf-8" else "strict")


def is_binary(head: bytes) -> bool:
    """Say whether the first bytes of a file are no text: NUL bytes that no Unicode encoding explains."""
    if b"\0" not in head:
        return False
    return not head.startswith(tuple(bom for bom, _ in BOMS)) and _utf16_without_mark(head) is None


def _candidates(data: bytes) -> Iterator[str]:
    """Name the encodings to try, likeliest first; the costly looks are taken only once the cheap ones failed."""
    utf16 = _utf16_without_mark(data) if b"\0" in data[:SAMPLE] else None
    if utf16:
        yield utf16
    yield "utf-8"
    if _mostly_utf8(data):
        return
    guess = _guess(data)
    if guess:
        yield guess
    yield "cp1252"
    yield "latin-1"


def _utf16_without_mark(data: bytes) -> str | None:
    """Name the UTF-16 whose letters are mostly Latin: NULs on one side of the pairs only."""
    head = data[: SAMPLE & ~1]
    if len(head) < 4 or (len(data) % 2 and len(data) <= SAMPLE):
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if odd * 10 >= half * 7 and even == 0:
        return "utf-16-le"
    return "utf-16-be" if even * 10 >= half * 7 and odd == 0 else None


def _mostly_utf8(data: bytes) -> bool:
    """Say whether most bytes over 0x7F are parts of UTF-8 characters, the others strays."""
    high = len(_HIGH.findall(data))
    good = sum(len(found) for found in _MULTIBYTE.findall(data))
    return good * 2 > high


def _guess(data: bytes) -> str | None:
    """Ask charset-normalizer where there is enough to go by, and take what tells more than Windows-1252 would."""
    sample = _telling(data)
    if len(_HIGH.findall(sample)) < ENOUGH:
        return None
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    if best is None or "cp1252" in best.could_be_from_charset:
        return None
    return None if best.encoding in ("ascii", "utf_8") else best.encoding


def _telling(data: bytes) -> bytes:
    """Return the part of the data round its first byte over 0x7F, in whole lines where there are lines."""
    first = _HIGH.search(data)
    if first is None or len(data) <= SAMPLE:
        return data[:SAMPLE]
    start = data.rfind(b"\n", 0, first.start()) + 1
    end = data.rfind(b"\n", start, start + SAMPLE)
    return data[start : end if end > first.start() else start + SAMPLE]


def _exact(data: bytes, encoding: str) -> str | None:
    """Decode, if encoding the result gives the very same bytes (which UTF-8 does by itself)."""
    try:
        text = data.decode(encoding)
        return text if encoding == "utf-8" or text.encode(encoding) == data else None
    except (UnicodeError, LookupError):
        return None
