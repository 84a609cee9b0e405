"""Links are followed once: one that comes into the path after that, or leads elsewhere, leads nowhere."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import pytest

from toolpost import DecidedPaths, StaleFile
from toolpost_service_files import atomic
from toolpost_service_files.local import LocalFiles
from toolpost_service_files.place import at


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path.resolve()
    for name in ("inside", "outside"):
        (top / name / "sub").mkdir(parents=True)
        (top / name / "sub" / "a").write_text(name)
    return top


def replace(name: Path, target: Path) -> None:
    """Put a link into the place of a file or link, in one step."""
    name.with_name("new-link").symlink_to(target)
    name.with_name("new-link").replace(name)


async def test_a_path_that_leads_elsewhere_than_it_was_decided_on_is_neither_read_nor_written(folder: Path) -> None:
    link = folder / "link"
    link.symlink_to("inside/sub")
    files = LocalFiles().bound(DecidedPaths({link: folder / "inside/sub"}))
    assert await files.read_text(link / "a") == "inside"
    replace(link, folder / "outside/sub")

    with pytest.raises(StaleFile, match="by now"):
        await files.read_text(link / "a")
    with pytest.raises(StaleFile, match="by now"):
        await files.open(link / "a")
    with pytest.raises(StaleFile, match="by now"):
        await files.write_text(link / "a", "changed")
    with pytest.raises(StaleFile, match="by now"):
        await files.write_bytes(link / "new", b"changed")

    assert (folder / "outside/sub/a").read_text() == "outside"
    assert not (folder / "outside/sub/new").exists()


async def test_a_path_beside_the_one_that_was_decided_on_is_free(folder: Path) -> None:
    files = LocalFiles().bound(DecidedPaths({folder / "inside": folder / "elsewhere"}))

    assert await files.read_text(folder / "outside/sub/a") == "outside"


@pytest.mark.parametrize("name", ["inside", "inside/sub", "inside/sub/a"])
def test_a_link_that_came_into_the_path_after_it_was_looked_up_is_not_followed(folder: Path, name: str) -> None:
    (folder / name).rename(folder / "moved")
    (folder / name).symlink_to(folder / name.replace("inside", "outside"))

    with pytest.raises(OSError, match=r"Not a directory|symbolic links"), at(folder / "inside/sub/a") as place:
        place.open(os.O_RDONLY)
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"), at(folder / "inside/sub/a") as place:
        atomic.replace(place, b"changed", lambda: None)

    assert (folder / "outside/sub/a").read_text() == "outside"


def test_a_folder_that_is_exchanged_while_its_file_is_replaced_redirects_nothing(folder: Path) -> None:
    def exchange() -> None:
        (folder / "inside/sub").rename(folder / "moved")
        (folder / "inside/sub").symlink_to(folder / "outside/sub")

    with at(folder / "inside/sub/a") as place:
        atomic.replace(place, b"changed", exchange)

    assert (folder / "moved/a").read_text() == "changed"
    assert [file.read_text() for file in (folder / "outside/sub").iterdir()] == ["outside"]


def test_folders_are_made_behind_no_link(folder: Path) -> None:
    (folder / "inside/made").symlink_to(folder / "outside")

    with pytest.raises(OSError, match=r"Not a directory|symbolic links"), at(folder / "inside/made/b/c", make=True):
        pass

    assert not (folder / "outside/b").exists()


@contextmanager
def flipping(link: Path, *targets: Path) -> Iterator[None]:
    """Lead a link to each of the targets in turn, over and over."""
    ended = threading.Event()

    def flip() -> None:
        for target in cycle(targets):
            replace(link, target)
            if ended.is_set():
                return

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


async def test_a_link_that_is_exchanged_all_the_time_never_lets_anything_out(folder: Path) -> None:
    link = folder / "link"
    link.symlink_to("inside/sub")
    files = LocalFiles().bound(DecidedPaths({link / "a": folder / "inside/sub/a"}))
    done, refused = 0, 0

    with flipping(link, folder / "outside/sub", folder / "inside/sub"):
        while done < 50 or refused < 50:
            try:
                assert await files.read_text(link / "a") == "inside"
                await files.write_text(link / "a", "inside")
                done += 1
            except StaleFile:
                refused += 1

    assert (folder / "outside/sub/a").read_text() == "outside"
