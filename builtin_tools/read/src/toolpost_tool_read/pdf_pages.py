"""A program, run by `pdf.py`: prints the number of pages of a PDF, then text and picture of those asked for, as JSON lines.

It is a process of its own because PDFs come from anywhere and their parser is C: it may crash or hang, and it takes a
quarter of a second to import.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys

QUALITY = 70
"""JPEG quality at which small print is still read well."""


def main(path: str, first: int, last: int, side: int, *identity: int) -> None:
    """Print the pages `first` to `last`, counted from 1; none where `last` is 0, no pictures where `side` is.

    `identity` is device and inode of the file that is meant: the path may lead to another one by now.
    """
    import pypdfium2  # type: ignore[import-untyped]  # it ships no annotations

    file = open(path, "rb")  # noqa: PTH123, SIM115 - read as long as this program runs
    found = os.fstat(file.fileno())
    if (found.st_dev, found.st_ino) != identity:
        print(json.dumps({"error": "another file came into its place"}))
        return
    try:
        document = pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError as error:
        print(json.dumps({"error": str(error)}))
        return
    print(json.dumps({"pages": len(document)}))
    for number in range(first, min(last, len(document)) + 1):
        page = document[number - 1]
        text = page.get_textpage().get_text_range()
        picture = io.BytesIO()
        if side:
            scale = side / max(*page.get_size(), 1.0)
            page.render(scale=scale).to_pil().convert("RGB").save(picture, "JPEG", quality=QUALITY)
        encoded = base64.b64encode(picture.getvalue()).decode("ascii")
        print(json.dumps({"page": number, "text": text, "image": encoded}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
