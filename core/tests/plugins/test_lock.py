from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolpost import SettingsError
from toolpost_core.plugins.files import FileHashes
from toolpost_core.plugins.lock import current, differences, lock_file, read, refusals, wanted, write
from toolpost_core.plugins.scan import Inventory, scan
from toolpost_core.settings.plugins import PluginSetting, PluginSettings, Switch

ON: PluginSettings = {
    name: PluginSetting(name, (Switch(on=True, level="user", file=None, trusted=True),)) for name in ("count", "guard")
}
ENTRIES = {"tools": {"count": "acme_count:count"}}
DECLARES = '[capabilities]\nfilesystem = "read"\n'


class Place:
    """A project with a lock, over the plugins of a site."""

    def __init__(self, folder: Path) -> None:
        self.project, self.cache = folder / "project", folder / "cache"

    def inventory(self) -> Inventory:
        found = scan(self.cache)
        return found._replace(entries=tuple(e for e in found.entries if e.distribution.startswith("acme")))

    def lock(self) -> None:
        inventory = self.inventory()
        write(lock_file(self.project), current(wanted(inventory, ON), inventory, FileHashes(self.cache)))

    def refused(self, *, trusted: bool = True) -> dict[str, str]:
        return refusals(self.project, self.inventory(), ON, self.cache, trusted=trusted)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def package(site: Any) -> Path:
    site.install("acme-count", entries=ENTRIES)
    folder: Path = site.package("acme_count", "raise SystemExit", DECLARES)
    return folder


@pytest.mark.usefixtures("package")
def test_what_was_locked_is_not_refused_and_the_lock_is_the_same_each_time(place: Place) -> None:
    place.lock()
    text = lock_file(place.project).read_text(encoding="utf-8")
    place.lock()

    assert lock_file(place.project).read_text(encoding="utf-8") == text
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True) + "\n"
    assert place.refused() == {}


def test_changed_files_and_capabilities_are_refused_with_the_difference(place: Place, package: Path) -> None:
    place.lock()
    (package / "__init__.py").write_text("raise SystemExit(1)", encoding="utf-8")
    (package / "more.py").write_text("", encoding="utf-8")
    (package / "toolpost.toml").write_text('[capabilities]\nfilesystem = "write"\nnetwork = true\n', encoding="utf-8")
    inventory = place.inventory()
    told = differences(
        read(lock_file(place.project)), current(wanted(inventory, ON), inventory, FileHashes(place.cache))
    )

    assert told == {
        "acme-count": [
            'capability filesystem: "read" is now "write"',
            "capability network: nothing is now true",
            "acme_count/__init__.py changed",
            "acme_count/more.py is new",
            "acme_count/toolpost.toml changed",
        ]
    }
    (why,) = place.refused().values()
    assert 'capability filesystem: "read" is now "write"' in why
    assert "and 2 more" in why
    assert "toolpost plugins lock" in why

    place.lock()
    assert place.refused() == {}


def test_one_that_is_not_in_the_lock_is_refused(place: Place, package: Path, site: Any) -> None:
    del package
    place.lock()
    site.install("acme-guard", entries={"lifecycle": {"guard": "acme_guard"}}, acme_guard="")

    assert list(place.refused()) == ["acme-guard"]
    assert "it is not in the lock" in place.refused()["acme-guard"]


def test_a_project_that_is_not_trusted_can_not_have_a_guard_refused(place: Place, package: Path, site: Any) -> None:
    del package
    site.install("acme-guard", entries={"lifecycle": {"guard": "acme_guard"}}, acme_guard="")
    lock_file(place.project).parent.mkdir(parents=True)
    write(lock_file(place.project), {})

    assert sorted(place.refused()) == ["acme-count", "acme-guard"]
    assert sorted(place.refused(trusted=False)) == ["acme-count"]


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 2, "plugins": {}}', '{"format": 1, "plugins": {"a": {}}}']
)
def test_a_lock_that_can_not_be_read_refuses_what_is_on(place: Place, text: str) -> None:
    file = lock_file(place.project)
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")

    with pytest.raises(SettingsError, match=r"can't be read.*toolpost plugins lock"):
        read(file)
    assert "can't be read" in place.refused()["acme-count"]


def test_files_are_not_read_again_while_their_time_and_size_stand(place: Place, package: Path) -> None:
    place.lock()
    assert place.refused() == {}
    (cache,) = place.cache.glob("plugin-files-*.json")
    kept = cache.stat().st_ino, cache.stat().st_mtime_ns
    assert place.refused() == {}
    assert (cache.stat().st_ino, cache.stat().st_mtime_ns) == kept

    (package / "__init__.py").unlink()
    assert "acme_count/__init__.py is gone" in place.refused()["acme-count"]


def test_of_an_installed_wheel_what_record_lists_counts_and_not_what_the_installer_wrote(
    place: Place, site: Any
) -> None:
    info = site.install("acme-count", entries=ENTRIES)
    folder = site.package("acme_count", "raise SystemExit")
    names = ["acme_count/__init__.py", "acme_count/__pycache__/x.pyc", "../../bin/count"]
    names += [f"{info.name}/{name}" for name in ("METADATA", "RECORD", "INSTALLER", "entry_points.txt")]
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in names), encoding="utf-8")
    place.lock()

    (locked,) = read(lock_file(place.project)).values()
    assert sorted(locked.files) == ["acme_count/__init__.py", "entry_points.txt"]
    (info / "INSTALLER").write_text("uv", encoding="utf-8")
    assert place.refused() == {}
    (folder / "__init__.py").write_text("import os", encoding="utf-8")
    assert "acme_count/__init__.py changed" in place.refused()["acme-count"]


def test_another_environment_with_the_same_version_is_looked_at_for_itself(
    place: Place, package: Path, site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del package
    place.lock()
    assert place.refused() == {}
    other = type(site)(tmp_path / "other")
    other.folder.mkdir()
    other.install("acme-count", entries=ENTRIES)
    other.package("acme_count", "import os", DECLARES)
    monkeypatch.syspath_prepend(other.folder)

    assert "acme_count/__init__.py changed" in place.refused()["acme-count"]
