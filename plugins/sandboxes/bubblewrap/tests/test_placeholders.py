from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from toolpost import ToolFailed
from toolpost_sandbox_bubblewrap.placeholders import Placeholders, is_placeholder


def held(*paths: Path) -> Placeholders:
    placeholders = Placeholders()
    placeholders.hold(paths)
    return placeholders


def test_it_stands_there_as_long_as_anybody_needs_it(tmp_path: Path) -> None:
    path = tmp_path / ".claude"
    first, second = held(path), held(path)
    first.release()
    assert is_placeholder(path)
    second.release()
    assert not path.exists()


def test_it_stands_there_as_long_as_another_process_needs_it(tmp_path: Path) -> None:
    path = tmp_path / ".claude"
    code = (
        "import sys; from pathlib import Path; from toolpost_sandbox_bubblewrap.placeholders import Placeholders\n"
        "Placeholders().hold([Path(sys.argv[1])]); print('held', flush=True); sys.stdin.read()"
    )
    argv = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        held(path).release()
        assert is_placeholder(path)
        other.kill()
    held(path).release()  # what a killed process left is removed by the next
    assert not path.exists()


def test_what_somebody_put_into_it_stays(tmp_path: Path) -> None:
    path = tmp_path / ".toolpost"
    placeholders = held(path)
    (path / "settings.local.json").write_text("{}")
    placeholders.release()
    assert (path / "settings.local.json").exists()
    assert not is_placeholder(path)


def test_a_folder_of_ones_own_is_none(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "link").symlink_to("own")
    assert not any(is_placeholder(tmp_path / name) for name in ("own", "link", "missing"))


def test_one_that_can_not_be_made_is_an_error_and_leaves_no_other(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match="can't keep"):
        held(tmp_path / "first", tmp_path / "missing" / "second")
    assert list(tmp_path.iterdir()) == []
