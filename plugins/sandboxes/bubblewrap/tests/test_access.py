from __future__ import annotations

from pathlib import Path

import pytest

from toolpost import SandboxPolicy, ToolFailed
from toolpost_sandbox_bubblewrap import Bubblewrap
from toolpost_sandbox_bubblewrap.access import places
from toolpost_sandbox_bubblewrap.mounts import Mounts


def test_the_strictest_counts_and_shorter_paths_come_first(tmp_path: Path) -> None:
    keys = tmp_path / "a/keys"
    keys.mkdir(parents=True)
    found = places(SandboxPolicy(writable=(keys, tmp_path), read_only=(keys,), hidden=(keys,)))
    assert list(found.items()) == [(tmp_path, "writable"), (tmp_path / "a", "writable"), (keys, "hidden")]


def test_a_read_only_path_outside_what_is_writable_needs_nothing(tmp_path: Path) -> None:
    work, other = tmp_path / "work", tmp_path / "other"
    work.mkdir()
    other.mkdir()
    assert list(places(SandboxPolicy(writable=(work,), read_only=(other, other / "missing")))) == [work]


def test_for_a_missing_path_the_first_missing_folder_stands(tmp_path: Path) -> None:
    policy = SandboxPolicy(writable=(tmp_path,), read_only=(tmp_path / "a/b/c",))
    assert Mounts(policy).missing == (tmp_path / "a",)


def test_a_link_stands_for_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    policy = SandboxPolicy(writable=(tmp_path,), hidden=(tmp_path / "link",))
    assert places(policy)[tmp_path / "real"] == "hidden"


def test_what_is_exchanged_by_a_link_before_it_is_bound_is_left_out(tmp_path: Path) -> None:
    deep = tmp_path / "work/deep"
    (deep / "kept").mkdir(parents=True)
    (tmp_path / "elsewhere/kept").mkdir(parents=True)
    mounts = Mounts(SandboxPolicy(writable=(tmp_path / "work",), read_only=(deep / "kept",)))
    deep.rename(tmp_path / "work/moved")
    deep.symlink_to(tmp_path / "elsewhere")
    options = list(mounts.options())
    mounts.close()
    assert str(deep) not in options
    assert not any("elsewhere" in option for option in options)


async def test_domains_without_a_gateway_are_refused(tmp_path: Path) -> None:
    policy = SandboxPolicy(writable=(tmp_path,), network=True, allowed_domains=("a.example",))
    if Bubblewrap().unusable():
        pytest.skip(str(Bubblewrap().unusable()))
    with pytest.raises(ToolFailed, match="gateway"):
        await Bubblewrap().wrap(("true",), {}, policy)


def test_what_is_missing_is_said_with_the_way_to_get_it(tmp_path: Path) -> None:
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho 'bwrap: Unknown option --ro-bind-fd' >&2\nexit 1\n")
    old.chmod(0o755)
    assert "too old" in str(Bubblewrap(program=str(old)).unusable())
    old.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    assert "AppArmor" in str(Bubblewrap(program=str(old)).unusable())
    old.write_text(
        "#!/bin/sh\necho 'bwrap: Can not mount proc on /newroot/proc: Operation not permitted' >&2\nexit 1\n"
    )
    assert "sandbox.enableWeakerNestedSandbox" in str(Bubblewrap(program=str(old)).unusable())
    assert "apt install bubblewrap" in str(Bubblewrap(program=str(tmp_path / "none")).unusable())
