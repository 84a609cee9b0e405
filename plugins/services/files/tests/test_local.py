from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from toolpost import FileHistory, Files, StaleFile
from toolpost.testing import ServiceMap, make_scope
from toolpost_service_files import FilesService
from toolpost_service_files.local import LocalFiles

FILES = LocalFiles()


def write(path: Path, data: bytes, mode: int = 0o644) -> Path:
    path.write_bytes(data)
    path.chmod(mode)
    return path


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


async def test_the_plugin_offers_files(tmp_path: Path) -> None:
    (offer,) = FilesService()._services()

    assert offer.protocol is Files
    assert await offer.make(make_scope(tmp_path)).read_text(write(tmp_path / "a", b"x\r\ny")) == "x\ny"


async def test_a_loaded_file_says_how_to_write_it_back(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")

    loaded = await FILES.load(path)
    await FILES.write_text(path, loaded.text + "three\n", like=loaded, expect=loaded.digest)

    assert (loaded.encoding, loaded.bom, loaded.newline, loaded.mixed) == ("utf-8", True, "\r\n", False)
    assert path.read_bytes() == b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n"


@pytest.mark.parametrize(
    ("data", "newline", "mixed"),
    [
        (b"a\nb\r\nc\n", "\n", True),
        (b"a\r\nb\r\nc\n", "\r\n", True),
        (b"a\rb\r", "\r", False),
        (b"10%\r20%\n", "\n", False),
    ],
)
async def test_line_endings_are_counted(tmp_path: Path, data: bytes, newline: str, mixed: bool) -> None:
    loaded = await FILES.load(write(tmp_path / "a", data))

    assert (loaded.newline, loaded.mixed, loaded.raw_text) == (newline, mixed, data.decode())


async def test_mode_links_and_attributes_survive_a_replacement(tmp_path: Path) -> None:
    real = write(tmp_path / "real.sh", b"old", 0o750)
    has_attributes = _set_attribute(real)
    link = tmp_path / "link.sh"
    link.symlink_to("real.sh")

    await FILES.write_text(link, "new")

    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o750
    assert not has_attributes or os.getxattr(real, "user.note") == b"kept"


def _set_attribute(path: Path) -> bool:
    try:
        os.setxattr(path, "user.note", b"kept")
    except (OSError, AttributeError):
        return False
    return True


async def test_a_private_file_stays_private(tmp_path: Path) -> None:
    path = write(tmp_path / "secret", b"old", 0o600)

    await FILES.write_text(path, "new")

    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o600)


async def test_a_hard_link_stays_one_file(tmp_path: Path) -> None:
    first = write(tmp_path / "first", b"a longer old text")
    second = tmp_path / "second"
    second.hardlink_to(first)

    await FILES.write_text(first, "new")

    assert second.read_bytes() == b"new"


async def test_a_new_file_gets_its_folders_and_the_mode_of_any_new_file(tmp_path: Path) -> None:
    await FILES.write_text(tmp_path / "a/b/new.txt", "x")
    (tmp_path / "other").touch()

    assert (tmp_path / "a/b/new.txt").stat().st_mode == (tmp_path / "other").stat().st_mode


async def test_a_file_that_changed_is_not_replaced(tmp_path: Path) -> None:
    path = write(tmp_path / "a", b"one")
    loaded = await FILES.load(path)
    path.write_bytes(b"two")

    with pytest.raises(StaleFile):
        await FILES.write_text(path, "three", like=loaded, expect=loaded.digest)
    path.unlink()
    with pytest.raises(StaleFile):
        await FILES.write_text(path, "three", like=loaded, expect=loaded.digest)

    assert names(tmp_path) == set()


async def test_text_that_the_encoding_lacks_leaves_the_file_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "conclu\u00edda".encode("cp1252"))
    loaded = await FILES.load(path)

    with pytest.raises(UnicodeEncodeError):
        await FILES.write_text(path, "\u2192 \u4e2d", like=loaded)

    assert path.read_bytes() == "conclu\u00edda".encode("cp1252")


async def test_pipes_folders_and_circles_of_links_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    for name in ("pipe", "a", "."):
        with pytest.raises(OSError, match=r"Not a regular|symbolic links|directory"):
            await FILES.load(tmp_path / name)
        with pytest.raises(OSError, match=r"Not a regular|symbolic links|directory"):
            await FILES.write_text(tmp_path / name, "x")


FULL_DISK = """
import asyncio, resource, sys
from pathlib import Path
from toolpost_service_files.local import LocalFiles
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    asyncio.run(LocalFiles().write_text(Path(sys.argv[1]), "new" * 1000))
except OSError:
    sys.exit(7)
"""


@pytest.mark.parametrize("linked", [False, True])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, linked: bool) -> None:
    path = write(tmp_path / "a", b"old")
    if linked:
        (tmp_path / "b").hardlink_to(path)

    ended = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], check=False)

    assert ended.returncode == 7
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ({"a", "b"} if linked else {"a"})


KILLED = """
import asyncio, sys
from pathlib import Path
from toolpost_service_files.local import LocalFiles
async def main():
    for number in range(100000):
        await LocalFiles().write_text(Path(sys.argv[1]), "ab"[number % 2] * 300_000)
        print(number, flush=True)
asyncio.run(main())
"""


@pytest.mark.parametrize("after", range(1, 8))
def test_a_kill_leaves_the_old_or_the_new_content(tmp_path: Path, after: int) -> None:
    path = write(tmp_path / "a", b"b" * 300_000)
    writer = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    for _ in range(after):
        writer.stdout.readline()

    writer.send_signal(signal.SIGKILL)
    writer.communicate()

    assert path.read_bytes() in (b"a" * 300_000, b"b" * 300_000)


async def test_a_small_limit_reads_no_more_of_a_big_file(tmp_path: Path) -> None:
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.truncate(1 << 33)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    assert await FILES.read_bytes(path, limit=10) == b"\0" * 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


class Kept:
    """A file history that notes what each file was, and what it is to become."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, bytes | None, bytes | None]] = []

    async def keep(self, path: Path, *, becomes: bytes | None = None) -> None:
        self.changes.append((path.name, path.read_bytes() if path.exists() else None, becomes))


async def test_the_file_history_is_asked_before_each_change_and_after_nothing_is_wrong_with_it(tmp_path: Path) -> None:
    kept = Kept()
    files = LocalFiles(services=ServiceMap({FileHistory: kept}))
    old = write(tmp_path / "old", b"1")
    (tmp_path / "link").symlink_to(old)

    await files.write_text(tmp_path / "link", "2")
    await files.write_bytes(tmp_path / "new", b"x")
    with pytest.raises(UnicodeEncodeError):
        await files.write_text(old, "half \ud800")

    assert kept.changes == [("old", b"1", b"2"), ("new", None, b"x")]


async def test_without_a_file_history_files_are_written_all_the_same(tmp_path: Path) -> None:
    await LocalFiles(services=ServiceMap({})).write_text(tmp_path / "new", "x")

    assert (tmp_path / "new").read_text() == "x"
