from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolpost import SettingsError
from toolpost_core.settings.trust import answer, answers, is_trusted

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
    assert settings.plugins["acme"].grants is None
    assert "grants something" in settings.problems[0].text
    folders.write("user", {"plugins": {"acme": {"grant": ["decide"]}}})
    granted = folders.load().plugins["acme"]
    assert (granted.grants, granted.as_values()["grant"]) == ({"decide"}, ["decide"])


def test_the_highest_level_that_says_what_is_granted_counts_also_for_nothing(folders: Any) -> None:
    user = folders.write("user", {"plugins": {"rules": {"grant": ["decide"]}}})
    assert folders.load().plugins["rules"].grants_from == str(user)
    flag = json.dumps({"plugins": {"rules": {"grant": []}}})
    taken = folders.load(flag=flag).plugins["rules"]
    assert (taken.grants, taken.as_values()["grant"]) == (frozenset(), [])


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
    answer(folders.config, folders.project, trusted=True)
    assert is_trusted(folders.config, folders.project)
    assert not is_trusted(folders.config, clone)


def test_trust_is_that_of_the_real_folder(folders: Any, tmp_path: Path) -> None:
    answer(folders.config, folders.project, trusted=True)
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
        answer(folders.config, folders.project, trusted=True)
    assert file.read_text(encoding="utf-8") == content


def test_an_answer_can_be_changed_and_taken_back(folders: Any) -> None:
    assert answer(folders.config, folders.project, trusted=False)
    assert answers(folders.config) == {folders.project: False}
    assert answer(folders.config, folders.project, trusted=True)
    assert not answer(folders.config, folders.project, trusted=True)
    assert answers(folders.config) == {folders.project: True}
    assert answer(folders.config, folders.project, trusted=None)
    assert answers(folders.config) == {}


def test_what_waits_for_trust_is_told_apart_from_what_a_project_may_never_set(folders: Any) -> None:
    folders.write("project", {**GREEDY, "autoMode": {}, "allowManagedHooksOnly": True})
    waiting = {key for problem in folders.load(trusted=False).problems for key in problem.withheld}
    assert {"env", "hooks", "permissions.allow", "plugins.acme"} <= waiting
    assert waiting.isdisjoint({"model", "autoMode", "allowManagedHooksOnly"})
    assert not [problem for problem in folders.load(trusted=True).problems if problem.withheld]
