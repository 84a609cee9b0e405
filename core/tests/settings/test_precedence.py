from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolpost import SettingsDocument, SettingsError

FAR = Path("/nowhere")


def test_of_a_scalar_the_highest_level_counts(folders: Any) -> None:
    for level in ("user", "project", "local"):
        folders.write(level, {"model": level})
    assert folders.load().get("model") == "local"
    assert folders.load(sources=["user", "project"]).get("model") == "project"
    assert folders.load(flag='{"model": "flag"}').get("model") == "flag"
    assert folders.load(flag='{"model": "flag"}', cli={"model": "cli"}).get("model") == "cli"


def test_settings_of_the_environment_stand_right_below_those_of_the_flag(folders: Any, tmp_path: Path) -> None:
    file = tmp_path / "more.json"
    file.write_text('{"model": "file"}', encoding="utf-8")
    folders.write("local", {"model": "local", "language": "local"})
    for given, model in (('{"model": "text"}', "text"), (str(file), "file"), ("", "local")):
        settings = folders.load(env={"TOOLPOST_SETTINGS": given})
        assert (settings.get("model"), settings.get("language")) == (model, "local")
    both = folders.load(flag='{"model": "flag"}', env={"TOOLPOST_SETTINGS": str(file)})
    assert both.get("model") == "flag"
    with pytest.raises(SettingsError, match=r"\$TOOLPOST_SETTINGS: there is no file 'missing.json'"):
        folders.load(env={"TOOLPOST_SETTINGS": "missing.json"})


def test_managed_settings_beat_the_command_line(folders: Any, tmp_path: Path) -> None:
    managed = tmp_path / "managed.json"
    managed.write_text('{"model": "policy"}', encoding="utf-8")
    settings = folders.load(cli={"model": "cli"}, env={"TOOLPOST_MANAGED_SETTINGS": str(managed)})
    assert settings.get("model") == "policy"


def test_lists_are_put_together_and_objects_merged_key_by_key(folders: Any) -> None:
    folders.write("user", {"permissions": {"allow": ["Read", "Glob"]}, "env": {"A": "user", "B": "user"}})
    folders.write("local", {"permissions": {"allow": ["Glob", "Grep"], "deny": ["Bash(rm *)"]}, "env": {"B": "local"}})
    settings = folders.load()
    assert settings.get("permissions.allow") == ["Read", "Glob", "Grep"]
    assert settings.get("permissions.deny") == ["Bash(rm *)"]
    assert settings.get("env") == {"A": "user", "B": "local"}


def test_a_list_of_fallback_models_is_taken_whole_from_the_highest_level(folders: Any) -> None:
    folders.write("user", {"fallbackModel": ["a", "b"]})
    folders.write("local", {"fallbackModel": ["c"]})
    assert folders.load().get("fallbackModel") == ["c"]


def test_provenance_names_every_file_that_sets_a_key_the_deciding_one_first(folders: Any) -> None:
    user, local = folders.write("user", {"model": "a"}), folders.write("local", {"model": "b"})
    assert folders.load().provenance("model") == [("local", local), ("user", user)]
    assert folders.load().provenance("language") == []


def test_rules_carry_their_source_file_line_and_root(folders: Any) -> None:
    user = folders.write("user", {"permissions": {"deny": ["Read(/a)", "Read(/b)"]}})
    folders.write("project", {"permissions": {"ask": ["Bash(git push *)"]}})
    settings = folders.load(cli={"permissions": {"allow": ["Read"]}})
    found = {str(rule): rule for rule in settings.rules}
    assert [rule.source for rule in settings.rules] == ["cliArg", "projectSettings", "userSettings", "userSettings"]
    assert (found["Read(/b)"].file, found["Read(/b)"].line) == (str(user), 5)
    assert found["Read(/b)"].root == folders.config
    assert found["Bash(git push *)"].root == folders.project
    assert found["Read"].file is None


def test_a_settings_source_takes_part_below_or_above_the_own_file_of_its_level(folders: Any) -> None:
    folders.write("user", {"model": "own", "language": "own"})
    below = SettingsDocument(level="user", values={"model": "below", "outputStyle": "below"})
    above = SettingsDocument(level="user", values={"language": "above"}, below=False)
    settings = folders.load(extra_documents=[below, above])
    assert [settings.get(key) for key in ("model", "outputStyle", "language")] == ["own", "below", "above"]
    assert folders.load(extra_documents=[below], sources=["project"]).get("outputStyle") is None


def test_where_only_managed_rules_allow_others_still_deny(folders: Any) -> None:
    folders.write("user", {"permissions": {"allow": ["Bash(x)"], "deny": ["Bash(y)"]}})
    policy = SettingsDocument(
        level="managed", values={"allowManagedPermissionRulesOnly": True, "permissions": {"allow": ["Bash(z)"]}}
    )
    assert [str(rule) for rule in folders.load(extra_documents=[policy]).rules] == ["Bash(z)", "Bash(y)"]
    folders.write("user", {"allowManagedPermissionRulesOnly": True, "permissions": {"allow": ["Bash(x)"]}})
    assert [str(rule) for rule in folders.load().rules] == ["Bash(x)"], "only policy can say so"


def test_policy_locks_a_mode_and_names_its_file(folders: Any, tmp_path: Path) -> None:
    managed = tmp_path / "managed.json"
    managed.write_text('{"permissions": {"disableBypassPermissionsMode": "disable"}}', encoding="utf-8")
    env = {"TOOLPOST_MANAGED_SETTINGS": str(managed)}
    folders.write("user", {"permissions": {"defaultMode": "bypassPermissions"}})
    settings = folders.load(env=env)
    assert settings.permission_mode() == "default"
    with pytest.raises(SettingsError, match=r"managed\.json"):
        settings.permission_mode("bypassPermissions")
    assert folders.load().permission_mode() == "bypassPermissions"


def test_manual_is_another_word_for_the_default_mode(folders: Any) -> None:
    folders.write("user", {"permissions": {"defaultMode": "manual"}})
    assert folders.load().permission_mode() == "default"


def test_a_project_in_the_home_folder_does_not_count_its_user_file_twice(folders: Any) -> None:
    folders.write("user", {"permissions": {"deny": ["Read"]}})
    home = type(folders)(folders.home, folders.home, folders.config)
    assert [rule.source for rule in home.load().rules] == ["userSettings"]
