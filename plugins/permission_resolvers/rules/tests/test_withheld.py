from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from toolpost import PermissionRequest, Rule
from toolpost.testing import make_context
from toolpost_permission_resolver_rules import Rules


def withheld(folder: Path, *held: Rule, path: str = ".", tool: str = "Grep") -> Callable[[Path], bool] | None:
    scope = make_context(folder).scope
    request = PermissionRequest(tool_name=tool, tool_input={}, scope=scope, rules=held, path=path)
    return Rules().withholds(request)


def kept(folder: Path, rules: Sequence[str], *files: str, path: str = ".") -> list[str]:
    """Those of the files that deny rules keep back."""
    test = withheld(folder, *(Rule.parse(text, "deny", root=folder) for text in rules), path=path)
    assert test is not None
    return [file for file in files if test(folder / file)]


@pytest.mark.parametrize(
    ("rule", "file", "other"),
    [
        ("Read(//{folder}/a/.env)", "a/.env", "b/.env"),
        ("Read(/a/.env)", "a/.env", "b/.env"),
        ("Read(./.env)", ".env", "b/.env"),
        ("Read(.env)", "b/.env", "b/env"),
        ("Read(secrets/**)", "secrets/deep/k", "public/k"),
        ("Read(**/*.pem)", "a/b/k.PEM", "a/b/k.pub"),
        ("Grep(*.pem)", "k.pem", "k.pub"),
    ],
)
def test_each_form_of_a_deny_rule_keeps_its_files_back(rule: str, file: str, other: str, tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    text = rule.replace("{folder}", str(folder).lstrip("/"))
    assert kept(folder, [text], file, other) == [file]


def test_a_file_of_the_home_folder_is_kept_back(tmp_path: Path) -> None:
    home = make_context(tmp_path).scope.home
    test = withheld(tmp_path, Rule.parse("Read(~/.ssh/**)", "deny"), path=str(home))
    assert test is not None
    assert test(home / ".ssh" / "key")
    assert not test(home / "notes")


def test_a_link_to_what_is_denied_is_kept_back_and_so_is_a_denied_link(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    (folder / "secrets").mkdir()
    (folder / "secrets" / "k").write_text("")
    (folder / "plain").write_text("")
    (folder / "innocent").symlink_to("secrets/k")
    (folder / "door").symlink_to("secrets")
    (folder / "hidden").symlink_to("plain")
    files = ("innocent", "door/k", "hidden", "plain")
    assert kept(folder, ["Read(secrets/**)", "Read(hidden)"], *files) == ["innocent", "door/k", "hidden"]


def test_where_no_rule_is_about_reading_there_is_nothing_to_ask(tmp_path: Path) -> None:
    others = (("Bash(rm:*)", "deny"), ("Edit(.env)", "deny"), ("Read(.env)", "allow"), ("Grep", "ask"))
    assert withheld(tmp_path, *(Rule.parse(text, behavior) for text, behavior in others)) is None  # type: ignore[arg-type]


def test_what_a_rule_asks_about_is_kept_back_unless_the_call_was_asked_about(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    (folder / "notes").mkdir()
    rule = Rule.parse("Read(notes/**)", "ask")
    whole, notes = withheld(folder, rule), withheld(folder, rule, path="notes")
    assert whole is not None
    assert whole(folder / "notes" / "a")
    assert notes is not None
    assert not notes(folder / "notes" / "a")
