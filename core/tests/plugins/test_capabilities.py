from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolpost_core.plugins.capabilities import parse
from toolpost_core.plugins.enabling import Enabling
from toolpost_core.plugins.scan import Entry, Inventory, scan

ENTRIES = {"tools": {"count": "acme_count:count"}}
DECLARES = """
    [capabilities]
    filesystem = "read"
    network = true
    services = ["files"]

    [capabilities.events]
    pre_tool_use = "observe|decide"
"""


def looked(tmp_path: Path) -> tuple[Inventory, Entry]:
    inventory = scan(tmp_path / "cache")
    (entry,) = [entry for entry in inventory.entries if entry.distribution == "acme-count"]
    return inventory, entry


def test_what_a_package_declares_is_read_without_importing_it_and_kept_in_the_scan_cache(
    site: Any, tmp_path: Path
) -> None:
    site.install("acme-count", entries=ENTRIES)
    site.package("acme_count", "raise SystemExit('imported')", DECLARES)
    first, entry = looked(tmp_path)
    again, _ = looked(tmp_path)

    declared = first.capabilities(entry)
    assert declared is not None
    assert (declared.filesystem, declared.network, declared.process, declared.services) == (
        "read",
        True,
        False,
        ("files",),
    )
    assert declared.roles("pre_tool_use") == ("observe", "decide")
    assert declared.roles("stop") == ("observe",)
    assert (first.from_cache, again.from_cache) == (False, True)
    assert again.capabilities(entry) == declared


def test_a_changed_file_a_new_one_and_one_that_went_are_noticed(site: Any, tmp_path: Path) -> None:
    site.install("acme-count", entries=ENTRIES)
    folder = site.package("acme_count", "")
    found = []
    for text in (None, "[capabilities]\nnetwork = true\n", "[capabilities]\nprocess = true\n", None):
        file = folder / "toolpost.toml"
        file.unlink(missing_ok=True)
        if text is not None:
            file.write_text(text, encoding="utf-8")
        inventory, entry = looked(tmp_path)
        declared = inventory.capabilities(entry)
        found.append(declared.as_values() if declared is not None else None)

    assert found == [None, {"network": True}, {"process": True}, None]


def test_a_package_in_a_namespace_is_found(site: Any, tmp_path: Path) -> None:
    site.install("acme-count", entries={"tools": {"count": "acme.count.tools:count"}})
    (site.folder / "acme").mkdir()
    site.package("acme/count", "raise SystemExit", DECLARES)
    inventory, entry = looked(tmp_path)

    declared = inventory.capabilities(entry)
    assert declared is not None
    assert declared.network


IN_MODULE = """
# /// toolpost
# [capabilities]
# network = true
#
# [capabilities.events]
# stop = "observe"
# ///

raise SystemExit("imported")
"""


@pytest.mark.parametrize(("module", "place"), [("acme_count", "acme_count.py"), ("acme.count", "acme/count.py")])
def test_a_module_without_a_package_declares_in_a_block_of_comments(
    site: Any, tmp_path: Path, module: str, place: str
) -> None:
    site.install("acme-count", entries={"tools": {"count": f"{module}:count"}})
    file = site.folder / place
    file.parent.mkdir(exist_ok=True)
    found = []
    for text in (
        IN_MODULE,
        IN_MODULE.replace("network", "process"),
        "raise SystemExit",
        IN_MODULE.replace("true", "1"),
    ):
        file.write_text(text, encoding="utf-8")
        inventory, entry = looked(tmp_path)
        found.append(inventory.capabilities(entry))

    first, second, third, last = found
    assert first is not None
    assert (first.file, first.as_values()) == (str(file), {"network": True, "events": {"stop": "observe"}})
    assert second is not None
    assert second.process
    assert third is None
    assert last is not None
    assert "network is 1; allowed are true and false" in last.mistake


def test_a_package_declares_in_its_file_and_not_in_comments(site: Any, tmp_path: Path) -> None:
    site.install("acme-count", entries=ENTRIES)
    site.package("acme_count", IN_MODULE)
    inventory, entry = looked(tmp_path)
    assert inventory.capabilities(entry) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[capabilities", "Expected ']'"),
        ("capabilities = 3", "must be a table"),
        ("[capabilities]\nfile = true", "unknown key 'file'"),
        ('[capabilities]\nfilesystem = "all"', '"read" and "write"'),
        ('[capabilities]\nnetwork = "yes"', "network is 'yes'; allowed are true and false"),
        ('[capabilities]\nservices = "files"', "must be a list"),
        ("[capabilities.events]\nbefore_tool = 'decide'", "'before_tool'; there are"),
        ("[capabilities.events]\npre_tool_use = 'block'", "'block'; allowed are observe, rewrite, decide"),
        ("[capabilities.events]\npre_tool_use = []", "allowed are observe, rewrite, decide"),
    ],
)
def test_a_file_that_can_not_be_used_refuses_the_plugin_and_says_what_is_wrong(
    site: Any, tmp_path: Path, text: str, said: str
) -> None:
    site.install("acme-count", entries=ENTRIES)
    folder = site.package("acme_count", "", text)
    inventory, entry = looked(tmp_path)
    state = Enabling(inventory, {}).state_of(entry)

    assert state.status == "refused"
    assert str(folder / "toolpost.toml") in state.why
    assert said in state.why


def test_what_is_asked_for_is_told_in_sentences() -> None:
    declared = parse(
        '[capabilities]\nfilesystem = "write"\nsecrets = true\nservices = ["files"]\n'
        '[capabilities.events]\n"*" = ["rewrite", "decide"]\n',
        "f",
    )
    assert declared.lines() == [
        "reads and writes files",
        "reads keys and tokens",
        "may rewrite and decide every event",
        "uses the services files",
    ]
