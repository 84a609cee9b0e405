from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from toolpost import SettingsError
from toolpost_core.settings.write import changed, edit_permissions, set_value


def test_writing_keeps_unknown_keys_order_indent_and_rights(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(
        '{\n    "zeta": "ü",\n    "permissions": {"deny": ["A"], "allow": ["B"]},\n    "alpha": [1]\n}\n',
        encoding="utf-8",
    )
    file.chmod(0o640)
    assert edit_permissions(file, "allow", add=["C", "B", "C"])
    text = file.read_text(encoding="utf-8")
    assert list(json.loads(text)) == ["zeta", "permissions", "alpha"]
    assert json.loads(text)["permissions"] == {"deny": ["A"], "allow": ["B", "C"]}
    assert '\n    "zeta": "ü"' in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_new_file_is_made_with_its_folder_for_the_person_alone(tmp_path: Path) -> None:
    file = tmp_path / "new" / "settings.json"
    set_value(file, ["plugins", "acme"], True)
    assert json.loads(file.read_text(encoding="utf-8")) == {"plugins": {"acme": True}}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_what_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    assert not edit_permissions(file, "allow", remove=["A"])
    assert not file.exists()
    file.write_text('{"permissions":{"allow":["A"]}}', encoding="utf-8")
    assert not edit_permissions(file, "allow", add=["A"])
    assert file.read_text(encoding="utf-8") == '{"permissions":{"allow":["A"]}}'


def test_rules_are_removed_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    edit_permissions(file, "deny", add=["A", "B", "C"])
    edit_permissions(file, "deny", remove=["B"])
    assert json.loads(file.read_text(encoding="utf-8"))["permissions"]["deny"] == ["A", "C"]
    edit_permissions(file, "deny", add=["D"], replace=True)
    assert json.loads(file.read_text(encoding="utf-8"))["permissions"]["deny"] == ["D"]


@pytest.mark.parametrize("content", ["{ broken", "[]", '{"permissions": {"allow": "A"}}', '{"permissions": []}'])
def test_a_file_that_can_not_be_understood_is_refused_and_left_as_it_is(tmp_path: Path, content: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"settings\.json"):
        edit_permissions(file, "allow", add=["B"])
    assert file.read_text(encoding="utf-8") == content


def test_an_error_while_changing_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    set_value(file, ["model"], "a")
    with pytest.raises(SettingsError, match="is no object"):
        set_value(file, ["model", "name"], "b")
    with pytest.raises(ZeroDivisionError), changed(file) as content:
        content["model"] = 1 / 0
    assert json.loads(file.read_text(encoding="utf-8")) == {"model": "a"}
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".lock"] == ["settings.json"]


def test_a_link_to_a_settings_file_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "settings.json"
    real.write_text("{}", encoding="utf-8")
    link.symlink_to(real)
    set_value(link, ["model"], "a")
    assert link.is_symlink()
    assert json.loads(real.read_text(encoding="utf-8")) == {"model": "a"}


def test_a_folder_that_can_not_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SettingsError, match="can't be written"):
        set_value(tmp_path / "file" / "settings.json", ["model"], "a")


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    script = (
        "import sys; from pathlib import Path; from toolpost_core.settings.write import edit_permissions\n"
        "for n in range(5): edit_permissions(Path(sys.argv[1]), 'allow', add=[f'T{sys.argv[2]}{n}'])"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(file), name]) for name in "abc"]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    rules = json.loads(file.read_text(encoding="utf-8"))["permissions"]["allow"]
    assert sorted(rules) == [f"T{name}{n}" for name in "abc" for n in range(5)]
