"""What managed settings keep for themselves of the sandbox, and what is said of settings that have no effect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def managed(tmp_path: Path) -> Any:
    def write(sandbox: Mapping[str, Any]) -> Mapping[str, str]:
        file = tmp_path / "managed.json"
        file.write_text(json.dumps({"sandbox": sandbox}), encoding="utf-8")
        return {"TOOLPOST_MANAGED_SETTINGS": str(file)}

    return write


@pytest.mark.parametrize(
    ("part", "lock", "opens", "others"),
    [
        ("network", "allowManagedDomainsOnly", "allowedDomains", "deniedDomains"),
        ("filesystem", "allowManagedReadPathsOnly", "allowRead", "denyRead"),
    ],
)
def test_a_lock_leaves_what_opens_to_managed_settings_and_what_closes_to_all(
    folders: Any, managed: Any, part: str, lock: str, opens: str, others: str
) -> None:
    folders.write("user", {"sandbox": {part: {opens: ["mine"], others: ["mine"]}}})
    folders.write("project", {"sandbox": {part: {opens: ["theirs"], others: ["theirs"]}}})
    env = managed({part: {lock: True, opens: ["policy"]}})

    assert folders.load(env=env).get(f"sandbox.{part}") == {
        opens: ["policy"],
        others: ["mine", "theirs"],
        lock: True,
    }
    assert folders.load(env=managed({part: {opens: ["policy"]}})).get(f"sandbox.{part}.{opens}") == [
        "mine",
        "theirs",
        "policy",
    ]


def test_a_lock_of_others_locks_nothing_and_is_named(folders: Any) -> None:
    file = folders.write("user", {"sandbox": {"network": {"allowManagedDomainsOnly": True, "allowedDomains": ["a"]}}})
    settings = folders.load()

    assert settings.get("sandbox.network") == {"allowedDomains": ["a"]}
    (problem,) = settings.problems
    assert str(file) in problem.text
    assert "sandbox.network.allowManagedDomainsOnly" in problem.text
    assert "managed settings only" in problem.text


@pytest.mark.parametrize(
    ("sandbox", "named", "says"),
    [
        ({"network": {"tlsTerminate": {"caCertPath": "/x"}}}, "sandbox.network.tlsTerminate", "passes it over"),
        ({"network": {"allowUnixSockets": ["/run/x"]}}, "sandbox.network.allowUnixSockets", "passes it over"),
        ({"allowNestedUserNamespaces": True}, "sandbox.allowNestedUserNamespaces", "passes it over"),
        (
            {"credentials": {"envVars": [{"name": "A", "mode": "mask"}]}},
            "sandbox.credentials.envVars",
            "as with `deny`",
        ),
        ({"credentials": {"files": [{"path": "~/a", "mode": "mask"}]}}, "sandbox.credentials.files", "as with `deny`"),
    ],
)
def test_what_this_version_does_not_do_is_said(folders: Any, sandbox: Mapping[str, Any], named: str, says: str) -> None:
    file = folders.write("user", {"sandbox": sandbox})
    (problem,) = folders.load().problems
    assert str(file) in problem.text
    assert named in problem.text
    assert says in problem.text


def test_what_is_off_or_done_is_not_named(folders: Any) -> None:
    credentials = {"files": [{"path": "~/a", "mode": "deny"}]}
    done = {"enableWeakerNestedSandbox": True, "network": {"httpProxyPort": 3128}, "credentials": credentials}
    folders.write("user", {"sandbox": {**done, "allowAppleEvents": False}})
    assert folders.load().problems == ()
