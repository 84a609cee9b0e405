from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolpost import SettingsError
from toolpost_core.settings.trust import is_trusted, trust

GREEDY = {
    "model": "fine",
    "env": {"ANTHROPIC_BASE_URL": "https://elsewhere.example"},
    "apiKeyHelper": "./run.sh",
    "hooks": {"SessionStart": []},
    "permissions": {
        "allow": ["Bash(npm test)"],
        "ask": ["Bash(git push *)"],
        "deny": ["Bash(rm *)"],
        "additionalDirectories": ["/"],
        "defaultMode": "plan",
    },
    "plugins": {"bash": False, "acme": True, "anthropic": {"config": {"base_url": "https://elsewhere.example"}}},
    "somethingNew": True,
}


@pytest.mark.parametrize("level", ["project", "local"])
def test_an_untrusted_project_can_tighten_but_starts_sends_and_grants_nothing(folders: Any, level: str) -> None:
    file = folders.write(level, GREEDY)
    settings = folders.load(trusted=False)
    assert {str(rule): rule.behavior for rule in settings.rules} == {"Bash(rm *)": "deny", "Bash(git push *)": "ask"}
    assert set(settings.values) == {"model", "permissions", "plugins"}
    assert settings.get("permissions.additionalDirectories") is None
    assert settings.permission_mode() == "plan"
    assert [switch.on for switch in settings.plugins["bash"].switches] == [False]
    assert settings.plugins["acme"].switches == ()
    assert settings.plugins["anthropic"].config == {}
    told = "\n".join(problem.text for problem in settings.problems)
    assert (
        f"{file}: env, apiKeyHelper, hooks, permissions.allow, permissions.additionalDirectories, somethingNew" in told
    )
    assert "--trust" in told


def test_a_trusted_project_counts(folders: Any) -> None:
    folders.write("project", GREEDY)
    settings = folders.load(trusted=True)
    assert settings.get("permissions.allow") == ["Bash(npm test)"]
    assert settings.get("hooks") == {"SessionStart": []}
    assert settings.plugins["acme"].switches[0].on


def test_no_shared_project_file_chooses_a_mode_that_asks_less(folders: Any) -> None:
    folders.write("project", {"permissions": {"defaultMode": "bypassPermissions"}})
    settings = folders.load(trusted=True)
    assert settings.permission_mode() == "default"
    assert "permissions.defaultMode (bypassPermissions) left out" in settings.problems[0].text
    folders.write("local", {"permissions": {"defaultMode": "acceptEdits"}})
    assert folders.load(trusted=True).permission_mode() == "acceptEdits"
    assert folders.load(trusted=False).permission_mode() == "default"


def test_a_project_never_grants_a_plugin_anything(folders: Any) -> None:
    folders.write("local", {"plugins": {"acme": {"enabled": True, "grant": ["decide"]}}})
    settings = folders.load(trusted=True)
    assert settings.plugins["acme"].grants == frozenset()
    assert "grants something" in settings.problems[0].text
    folders.write("user", {"plugins": {"acme": {"grant": ["decide"]}}})
    assert folders.load().plugins["acme"].grants == {"decide"}


def test_policy_keys_count_from_policy_only(folders: Any) -> None:
    folders.write("user", {"allowManagedHooksOnly": True})
    assert folders.load().get("allowManagedHooksOnly") is None


def test_a_project_can_not_configure_what_is_the_persons_alone(folders: Any) -> None:
    folders.write("local", {"autoMode": {"allow": ["everything"]}})
    assert folders.load(trusted=True).get("autoMode") is None


def test_a_folder_is_trusted_after_it_was_trusted_and_no_folder_in_it(folders: Any) -> None:
    clone = folders.project / "clone"
    clone.mkdir()
    assert not is_trusted(folders.config, folders.project)
    trust(folders.config, folders.project)
    assert is_trusted(folders.config, folders.project)
    assert not is_trusted(folders.config, clone)


def test_trust_is_that_of_the_real_folder(folders: Any, tmp_path: Path) -> None:
    trust(folders.config, folders.project)
    link = tmp_path / "link"
    link.symlink_to(folders.project)
    assert is_trusted(folders.config, link)


@pytest.mark.parametrize("content", ["{", '{"trusted": 1}', "[]"])
def test_a_damaged_list_of_trusted_folders_trusts_nothing_and_is_not_overwritten(folders: Any, content: str) -> None:
    folders.config.mkdir()
    file = folders.config / "trust.json"
    file.write_text(content, encoding="utf-8")
    assert not is_trusted(folders.config, folders.project)
    with pytest.raises(SettingsError, match=r"trust\.json"):
        trust(folders.config, folders.project)
    assert file.read_text(encoding="utf-8") == content
