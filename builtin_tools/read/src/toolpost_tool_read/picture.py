"""Pictures and PDFs by their bytes, and checked: for one bad block the service refuses the whole request."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

MOST_BYTES = 50_000_000
"""Bytes of a picture that is decoded to make it smaller."""


@dataclass(frozen=True)
class Picture:
    """A whole picture; `data` ends where the format does, whatever followed in the file."""

    media_type: str
    width: int
    height: int
    data: bytes


def looks_like_picture(head: bytes) -> bool:
    """Say whether a file's first bytes are those of a format that can be sent."""
    return head.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")) or (
        head[:4] == b"RIFF" and head[8:12] == b"WEBP"
    )


def parse(data: bytes) -> Picture:
    """Return the picture; raises ValueError, which says what is wrong with it."""
    reader = {0x89: _png, 0xFF: _jpeg, 0x47: _gif, 0x52: _webp}[data[0]]
    try:
        picture = reader(data)
    except (IndexError, ValueError) as error:
        raise ValueError(f"it is damaged or cut off ({error})") from error
    if not picture.width or not picture.height:
        raise ValueError("its size is zero")
    return picture


def is_whole_pdf(data: bytes) -> bool:
    """Say whether bytes are a PDF from its header to its end mark, and not encrypted."""
    tail = data[-2048:]
    return data.startswith(b"%PDF-") and b"startxref" in tail and b"%%EOF" in tail and b"/Encrypt" not in data


def _png(data: bytes) -> Picture:
    width = height = 0
    has_pixels = False
    at = 8
    while True:
        size = _big(data, at, 4)
        kind, end = data[at + 4 : at + 8], at + 12 + size
        if end > len(data):
            raise ValueError("a chunk ends behind the file")
        checked = kind in (b"IHDR", b"PLTE", b"IDAT", b"IEND")
        if checked and zlib.crc32(data[at + 4 : end - 4]) != _big(data, end - 4, 4):
            raise ValueError("a checksum is wrong")
        if kind == b"IHDR":
            width, height = _big(data, at + 8, 4), _big(data, at + 12, 4)
        has_pixels = has_pixels or kind == b"IDAT"
        at = end
        if kind == b"IEND":
            break
    if not has_pixels:
        raise ValueError("it holds no pixels")
    return Picture("image/png", width, height, data[:at])


def _jpeg(data: bytes) -> Picture:
    at, width, height = 2, 0, 0
    while True:
        if data[at] != 0xFF:
            raise ValueError("a marker is missing")
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if marker == 0xDA:
            break
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = _big(data, at + 5, 2), _big(data, at + 7, 2)
        at += 2 + _big(data, at + 2, 2)
    end = data.rfind(b"\xff\xd9", at)
    if end < 0:
        raise ValueError("its end is missing")
    return Picture("image/jpeg", width, height, data[: end + 2])


def _gif(data: bytes) -> Picture:
    end = data.rfind(b"\x3b")
    if len(data) < 20 or end < 13 or b"\x2c" not in data[13:end]:
        raise ValueError("it holds no frame")
    return Picture("image/gif", data[6] + data[7] * 256, data[8] + data[9] * 256, data[: end + 1])


def _webp(data: bytes) -> Picture:
    end = 8 + int.from_bytes(data[4:8], "little")
    if end > len(data) or len(data) < 30:
        raise ValueError("it ends too early")
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    elif kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    elif kind == b"VP8 ":
        width = int.from_bytes(data[26:28], "little") & 0x3FFF
        height = int.from_bytes(data[28:30], "little") & 0x3FFF
    else:
        raise ValueError("it holds no picture")
    return Picture("image/webp", width, height, data[:end])


def _big(data: bytes, at: int, size: int) -> int:
    if at + size > len(data):
        raise ValueError("it ends too early")
    return int.from_bytes(data[at : at + size], "big")
