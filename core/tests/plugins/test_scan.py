from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolpost_core.plugins.scan import Entry, scan

WORDS = {"tools": {"word_count": "acme_words:word_count"}}


def of(distribution: str, cache: Path) -> list[Entry]:
    return [entry for entry in scan(cache).entries if entry.distribution == distribution]


def test_an_entry_point_is_found_with_its_distribution_and_range(site: Any, tmp_path: Path) -> None:
    site.install(
        "acme-words", "2.1", entries=WORDS, requires=["toolpost-hookspecs[testing] >=1,<2 ; python_version>'3'"]
    )
    assert of("acme-words", tmp_path) == [
        Entry("tools", "word_count", "acme_words:word_count", "acme-words", "2.1", ">=1,<2", False)
    ]


def test_what_the_metapackage_depends_on_is_standard(site: Any, tmp_path: Path) -> None:
    site.install("toolpost", "9", requires=["Acme_Words @ file:///somewhere", "acme-extra; extra == 'more'"])
    site.install("acme-words", entries=WORDS)
    site.install("acme-extra", entries={"tools": {"extra": "x:y"}})
    assert [entry.standard for name in ("acme-words", "acme-extra") for entry in of(name, tmp_path)] == [True, False]


def test_the_second_scan_comes_from_the_cache_and_says_the_same(site: Any, tmp_path: Path) -> None:
    site.install("acme-words", entries=WORDS)
    cold, warm = scan(tmp_path / "cache"), scan(tmp_path / "cache")
    assert (cold.from_cache, warm.from_cache) == (False, True)
    assert cold.entries == warm.entries


def test_what_is_installed_removed_or_changed_is_seen_at_once(site: Any, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert of("acme-words", cache) == []
    info = site.install("acme-words", entries=WORDS)
    assert len(of("acme-words", cache)) == 1
    points = info / "entry_points.txt"
    points.write_text("[toolpost.tools]\na = m:a\nb = m:b\n", encoding="utf-8")
    os.utime(points, ns=(1, 1))
    assert [entry.name for entry in of("acme-words", cache)] == ["a", "b"]
    for file in info.iterdir():
        file.unlink()
    info.rmdir()
    assert of("acme-words", cache) == []


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"key": 1}', b"\xff\xfe", b'{"key": [], "files": [1]}'])
def test_a_damaged_cache_is_made_anew(site: Any, tmp_path: Path, damage: bytes) -> None:
    site.install("acme-words", entries=WORDS)
    scan(tmp_path / "cache")
    (cache,) = (tmp_path / "cache").iterdir()
    cache.write_bytes(damage)
    assert len(of("acme-words", tmp_path / "cache")) == 1
    assert scan(tmp_path / "cache").from_cache


@pytest.mark.parametrize("rows", [[["tools"]], [None], "x", [[1, 2, 3, 4, 5, 6, 7, 8]]])
def test_a_cache_with_rows_that_are_none_is_made_anew(site: Any, tmp_path: Path, rows: Any) -> None:
    site.install("acme-words", entries=WORDS)
    scan(tmp_path / "cache")
    (cache,) = (tmp_path / "cache").iterdir()
    cache.write_text(json.dumps({**json.loads(cache.read_text(encoding="utf-8")), "entries": rows}), encoding="utf-8")
    assert len(of("acme-words", tmp_path / "cache")) == 1


def test_a_cache_folder_that_can_not_be_made_is_no_error(site: Any, tmp_path: Path) -> None:
    site.install("acme-words", entries=WORDS)
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert len(of("acme-words", tmp_path / "file" / "cache")) == 1


def test_other_groups_are_not_ours(site: Any, tmp_path: Path) -> None:
    info = site.install("acme-words")
    (info / "entry_points.txt").write_text("[console_scripts]\nx = m:x\n[toolpostal]\ny = m:y\n", encoding="utf-8")
    assert of("acme-words", tmp_path) == []


def test_a_warm_scan_imports_neither_stevedore_nor_importlib_metadata(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from toolpost_core.plugins.scan import scan\n"
        "found = scan(Path(sys.argv[1])).from_cache\n"
        "print(found, sorted({'stevedore', 'importlib.metadata', 'email', 'zipfile'} & set(sys.modules)))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "cache")], capture_output=True, text=True, check=True
        )
        for _ in range(2)
    ]
    assert runs[1].stdout.strip() == "True []"
