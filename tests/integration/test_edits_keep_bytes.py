"""Edit with the real Files service: nothing but the replaced span changes, whatever the bytes, and whenever it is killed."""

from __future__ import annotations

import asyncio
import hashlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolpost import FileRecord, Files, InvalidInput, ToolContext, ToolFailed
from toolpost.testing import call_tool, make_context
from toolpost_service_files.local import LocalFiles
from toolpost_tool_edit import Edit

ENCODINGS = [
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "latin-1",
    "cp1252",
    "cp1251",
    "shift_jis",
]
LETTERS = "aé’“ñж日 \t-x"
TEXTS = st.lists(st.sampled_from([*LETTERS, "\n", "\r\n", "\r"]), max_size=60).map("".join)


def seen(folder: str, data: bytes) -> tuple[ToolContext, Path]:
    """Put a file there and note it as read."""
    ctx = make_context(Path(folder).resolve(), services={Files: LocalFiles()})
    path = ctx.cwd / "a.txt"
    path.write_bytes(data)
    found = path.stat()
    record = FileRecord(digest=hashlib.sha256(data).hexdigest(), mtime_ns=found.st_mtime_ns, size=found.st_size)
    ctx.reads.put(path, record)
    return ctx, path


def edited(data: bytes, old: str, new: str) -> bytes | None:
    """Return the bytes after the edit; None where it was refused, which must leave bytes and time alone."""
    with tempfile.TemporaryDirectory() as folder:
        ctx, path = seen(folder, data)
        before = path.stat().st_mtime_ns
        given = {"file_path": str(path), "old_string": old, "new_string": new}
        try:
            asyncio.run(call_tool(Edit(), given, ctx))
        except (ToolFailed, InvalidInput):
            assert path.read_bytes() == data
            assert path.stat().st_mtime_ns == before
            assert [one.name for one in ctx.cwd.iterdir()] == ["a.txt"]
            return None
        return path.read_bytes()


@settings(deadline=None, max_examples=300)
@given(
    before=st.binary(max_size=80), after=st.binary(max_size=80), new=st.sampled_from(["", "n", "new text", "TOKENS"])
)
@example(before=b"caf\xe9 ", after=b"\r\n\xff\xfe", new="n")
@example(before=b"\xef\xbb\xbf\xc3", after=b"\r", new="n")
@example(before=b"\x81\x8d\x8f\x90\x9d", after=b"\xc3\xa9", new="n")
def test_bytes_of_any_kind_round_the_place_stay(before: bytes, after: bytes, new: str) -> None:
    result = edited(before + b"TOKEN" + after, "TOKEN", new)

    assert result is None or result == before + new.encode() + after


@settings(deadline=None, max_examples=300)
@given(
    before=TEXTS, after=TEXTS, encoding=st.sampled_from(ENCODINGS), new=st.text(st.sampled_from(LETTERS), max_size=9)
)
def test_text_of_any_encoding_round_the_place_stays(before: str, after: str, encoding: str, new: str) -> None:
    try:
        original = (before + "TOKEN" + after).encode(encoding)
        wanted = (before + new + after).encode(encoding)
    except UnicodeEncodeError:
        return  # a file of this encoding can't hold it
    result = edited(original, "TOKEN", new)

    # What a legacy encoding was taken for may be another one; all bytes but those of the new text stay even so.
    if result is not None and (new.isascii() or encoding.startswith("utf")):
        assert result == wanted
    elif result is not None:
        parts = original.split(b"TOKEN")
        assert result.startswith(parts[0])
        assert result.endswith(parts[-1])


EDITING = """
import asyncio, sys
sys.path[:0] = sys.argv[2:]
from tests.integration.test_edits_keep_bytes import edit_for_ever
asyncio.run(edit_for_ever(sys.argv[1]))
"""
FILLER = "a line that fills the file\n" * 40_000
CONTENTS = {f"{FILLER}{word}\n{FILLER}".encode() for word in ("first", "second")}


async def edit_for_ever(folder: str) -> None:
    """Change one word of a file of two megabytes to and fro, and print a line before each time."""
    ctx, path = seen(folder, f"{FILLER}first\n{FILLER}".encode())
    words = ["first", "second"]
    while True:
        print(flush=True)
        await call_tool(Edit(), {"file_path": str(path), "old_string": words[0], "new_string": words[1]}, ctx)
        words.reverse()


@pytest.mark.parametrize("seed", range(12))
def test_a_kill_at_any_moment_leaves_the_old_or_the_new_content(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    root = str(Path(__file__).parents[2])
    program = subprocess.Popen([sys.executable, "-c", EDITING, str(tmp_path), root], stdout=subprocess.PIPE)
    assert program.stdout is not None
    for _ in range(dice.randint(1, 4)):
        program.stdout.readline()

    time.sleep(dice.random() * 0.05)  # anywhere in an edit; whether it lands before or after matters to nobody
    program.send_signal(signal.SIGKILL)
    program.communicate()

    assert (tmp_path / "a.txt").read_bytes() in CONTENTS
