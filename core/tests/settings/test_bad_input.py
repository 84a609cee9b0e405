from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpost import SettingsError
from toolpost_core.settings.lines import positions


def texts(settings: Any) -> str:
    return "\n".join(problem.text for problem in settings.problems)


def test_a_file_that_is_no_json_is_named_with_line_and_column_and_the_others_are_used(folders: Any) -> None:
    folders.write("user", {"model": "kept"})
    file = folders.write("project", '{\n  "model": "lost",\n  "env": {"A": }\n}')
    settings = folders.load()
    assert settings.get("model") == "kept"
    assert f"{file}, line 3, column 16" in texts(settings)
    assert settings.problems[0].level == "error"
    assert settings.problems[0].file == file


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ('{"model": "a",}', "Remove the comma"),
        ('{\n  // no\n  "model": "a"}', "Comments are not allowed"),
        ("[]", "one JSON object"),
        ('{"maxTurns": NaN}', "NaN is not allowed"),
        ("", "line 1, column 1"),
        ('{"a":' * 100_000, "not JSON"),
    ],
)
def test_the_message_says_how_to_mend_it(folders: Any, content: str, hint: str) -> None:
    folders.write("user", content)
    assert hint in texts(folders.load())


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"modl": "a"}, "modl: this key is not known and has no effect by itself. Did you mean model?"),
        ({"xyzzy": 1}, "xyzzy: this key is not known and has no effect by itself."),
        ({"permissions": {"dney": ["Bash"]}}, "permissions.dney: this key is not known"),
        ({"sandbox": {"network": {"allowedDomain": []}}}, "Did you mean allowedDomains?"),
    ],
)
def test_a_key_that_is_not_known_is_told_wherever_the_keys_are_known(
    folders: Any, content: dict[str, Any], told: str
) -> None:
    folders.write("user", content)
    assert told in texts(folders.load())


def test_a_key_that_stands_twice_is_told_as_only_one_of_them_counts(folders: Any) -> None:
    file = folders.write(
        "user", '{"permissions": {"deny": ["Bash"]}, "model": "a", "permissions": {"allow": ["Read"]}}'
    )
    settings = folders.load()
    assert f"{file}: the key 'permissions' stands more than once in one object" in texts(settings)
    assert [problem.level for problem in settings.problems] == ["warning"]


def test_keys_of_what_plugins_and_people_fill_are_not_looked_at(folders: Any) -> None:
    folders.write("user", {"plugins": {"mine": {"config": {"any": 1}}}, "env": {"ANY": "1"}, "attribution": {"x": "y"}})
    assert folders.load().problems == ()


def test_a_file_that_is_not_text_is_named_with_its_line(folders: Any) -> None:
    folders.config.mkdir()
    folders.file("user").write_bytes(b'{\n"model": "\xff"}')
    assert "line 2: it is not UTF-8" in texts(folders.load())


def test_a_folder_in_the_place_of_a_file_is_reported_and_passed_over(folders: Any) -> None:
    folders.file("user").mkdir(parents=True)
    assert "can't be read" in texts(folders.load())


def test_a_file_in_the_place_of_the_folder_is_as_if_there_were_no_settings(folders: Any) -> None:
    (folders.project / ".toolpost").write_text("x", encoding="utf-8")
    assert folders.load().problems == ()


def test_a_value_of_the_wrong_type_is_dropped_alone_with_file_line_key_and_what_is_allowed(folders: Any) -> None:
    file = folders.write("user", {"model": 7, "language": "nl", "permissions": {"defaultMode": "yolo"}})
    settings = folders.load()
    assert settings.get("language") == "nl"
    assert settings.get("model") is None
    assert f"{file}, line 2: model: allowed is a text; it is 7" in texts(settings)
    assert f"{file}, line 5: permissions.defaultMode: allowed is one of default, manual, plan" in texts(settings)


def test_a_wrong_item_does_not_take_the_deny_rules_beside_it_out_of_force(folders: Any) -> None:
    folders.write("user", {"permissions": {"deny": [42, None, "Bash(curl *)", "Bash(("]}})
    settings = folders.load()
    assert [str(rule) for rule in settings.rules] == ["Bash(curl *)"]
    assert "permissions.deny[0]" in texts(settings)
    assert "'Bash((' is not a permission rule" in texts(settings)


def test_a_wrong_entry_does_not_take_the_hooks_beside_it_out_of_force(folders: Any) -> None:
    group = {"hooks": [{"type": "command", "command": "protect"}]}
    file = folders.write("user", {"hooks": {"Stop": "no list", "PreToolUse": [group]}, "env": {"A": 1, "B": "x"}})
    settings = folders.load()
    assert settings.get("hooks") == {"PreToolUse": [group]}
    assert settings.get("env") == {"B": "x"}
    assert f"{file}, line 3: hooks.Stop: allowed is an object whose values are lists; it is 'no list'" in texts(
        settings
    )
    assert "env.A" in texts(settings)


def test_a_hook_that_cannot_be_one_is_named_with_its_place_and_the_others_stay(folders: Any) -> None:
    good = {"type": "command", "command": "protect"}
    hooks = {
        "PreToolUze": [{"hooks": [good]}],
        "PreToolUse": ["x", {"hooks": 3}, {"matcher": 3, "hooks": [good]}, {"matcher": "Bash", "hooks": [7, good]}],
        "Stop": [{"hooks": [good]}],
    }
    file = folders.write("user", {"hooks": hooks})
    settings = folders.load()
    assert settings.get("hooks") == {
        "PreToolUse": [{"matcher": "Bash", "hooks": [good]}],
        "Stop": [{"hooks": [good]}],
    }
    said = texts(settings)
    assert f"{file}, line 3: hooks.PreToolUze: there is no such event" in said
    assert "did you mean PreToolUse?" in said
    for place in ("hooks.PreToolUse[0]:", "[1]:", "[2].matcher: this must be a text, not 3", "[3].hooks[0]:"):
        assert place in said
    assert len(settings.problems) == 5


def test_an_unknown_key_is_kept_and_warned_about_once(folders: Any) -> None:
    folders.write("user", {"modle": "x"})
    settings = folders.load()
    assert settings.get("modle") == "x"
    assert [problem.level for problem in settings.problems] == ["warning"]
    assert "Did you mean model?" in texts(settings)


@pytest.mark.parametrize("flag", ["missing.json", '{"model": }', "{}}", "[1]"])
def test_settings_that_were_asked_for_and_can_not_be_used_stop_the_start(folders: Any, flag: str) -> None:
    with pytest.raises(SettingsError, match="--settings"):
        folders.load(flag=flag)


def test_settings_of_the_command_line_may_be_a_file(folders: Any, tmp_path: Path) -> None:
    file = tmp_path / "more.json"
    file.write_text('{"model": "more"}', encoding="utf-8")
    settings = folders.load(flag=str(file))
    assert settings.get("model") == "more"
    assert settings.files == (file,)


def test_policy_that_can_not_be_read_is_not_passed_over(folders: Any, tmp_path: Path) -> None:
    managed = tmp_path / "managed.json"
    managed.write_text("{", encoding="utf-8")
    with pytest.raises(SettingsError, match="Managed settings"):
        folders.load(env={"TOOLPOST_MANAGED_SETTINGS": str(managed)})


def test_an_unknown_source_is_refused_with_those_there_are(folders: Any) -> None:
    with pytest.raises(SettingsError, match="user, project, local"):
        folders.load(sources=["users"])


def test_a_plugin_setting_of_the_wrong_shape_names_its_place_and_the_rest_counts(folders: Any) -> None:
    folders.write(
        "user", {"plugins": {"a": "yes", "b": {"enabled": "no", "config": {"x": 1}}, "c_d": True, "e": {"on": True}}}
    )
    settings = folders.load()
    assert "line 3: plugins.a: allowed are true, false" in texts(settings)
    assert "plugins.b.enabled" in texts(settings)
    assert "plugins.e.on" in texts(settings)
    assert settings.plugins["b"].config == {"x": 1}
    assert settings.plugins["c-d"].switches[0].on


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.sampled_from([None, 1, 4]), st.booleans())
def test_every_value_of_a_text_is_found_on_its_line(
    value: dict[str, Any], indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    found = positions(text)
    assert set(found) == set(_paths(value))
    assert all(1 <= line <= text.count("\n") + 1 for line in found.values())
    if indent is not None:
        assert [line for _, line in sorted(found.items(), key=lambda item: item[1])] == sorted(set(found.values()))


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in items for found in [(*path, key), *_paths(item, (*path, key))]]
