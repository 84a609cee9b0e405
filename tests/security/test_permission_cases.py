"""The permission cases, decided by `toolpost permissions explain --batch`; no command of theirs is ever run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

HERE = Path(__file__).parent
CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for line in (HERE / "permission_cases.jsonl").read_text("utf-8").splitlines()
    if line.strip()
    for case in (json.loads(line),)
}
GAPS = {
    line.split()[0]
    for line in (HERE / "permission_known_gaps.txt").read_text("utf-8").splitlines()
    if line.strip() and not line.startswith("#")
}
PASSED_ON = ("hook", "trusted", "trustedRoots", "sandbox", "agent", "skill", "mcp", "sources", "dirs")
# What a deny rule forbids stays forbidden with all of Bash allowed, and in bypassPermissions.
DENIED = [
    id
    for id, case in CASES.items()
    if case["tool"] == "Bash" and case["rules"].get("deny") and case["expect"] == "deny" and case["interactive"]
]
Variant = Literal["given", "bash", "bypass"]


@pytest.fixture(scope="session")
def decisions(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[Variant, str], str]:
    """The decision for each case and variant; one process decides all of a variant."""
    found: dict[tuple[Variant, str], str] = {}
    for variant in ("given", "bash", "bypass"):
        top = tmp_path_factory.mktemp(variant).resolve()
        chosen = CASES if variant == "given" else {id: CASES[id] for id in DENIED}
        orders = [lay_out(changed(case, variant), top / id) for id, case in chosen.items()]
        batch = top / "batch.jsonl"
        batch.write_text("".join(json.dumps(order) + "\n" for order in orders), "utf-8")
        run = subprocess.run(
            [sys.executable, "-m", "toolpost_core", "permissions", "explain", "--json", "--batch", str(batch)],
            capture_output=True,
            cwd=top,
            env={**os.environ, "HOME": str(top), "TOOLPOST_CONFIG_DIR": str(top / ".toolpost")},
            check=False,
        )
        for line in run.stdout.decode("utf-8", errors="replace").splitlines():
            if line.startswith("{"):
                answer = json.loads(line)
                found[variant, answer["id"]] = answer["decision"]
        assert len([key for key in found if key[0] == variant]) == len(orders), run.stderr.decode()[-2000:]
    return found


@pytest.mark.parametrize("id", [id for id in CASES if id not in GAPS])
def test_a_case_is_decided_as_it_should_be(id: str, decisions: dict[tuple[Variant, str], str]) -> None:
    case = CASES[id]
    wanted = case["expect"] if isinstance(case["expect"], list) else [case["expect"]]
    assert decisions["given", id] in wanted, case["why"]


@pytest.mark.parametrize("variant", ["bash", "bypass"])
@pytest.mark.parametrize("id", [id for id in DENIED if id not in GAPS])
def test_what_a_deny_rule_forbids_stays_forbidden(
    id: str, variant: Variant, decisions: dict[tuple[Variant, str], str]
) -> None:
    if f"{id}/{variant}" in GAPS:
        pytest.skip("a known gap")
    assert decisions[variant, id] == "deny", CASES[id]["why"]


def test_a_gap_that_was_closed_is_taken_off_the_list(decisions: dict[tuple[Variant, str], str]) -> None:
    closed = []
    for gap in GAPS:
        id, _, variant = gap.partition("/")
        wanted = CASES[id]["expect"]
        if decisions[variant or "given", id] in (wanted if isinstance(wanted, list) else [wanted]):  # type: ignore[index]
            closed.append(gap)
    assert closed == []


def changed(case: dict[str, Any], variant: str) -> dict[str, Any]:
    if variant == "bash":
        return {**case, "rules": {**case["rules"], "allow": [*(case["rules"].get("allow") or []), "Bash"]}}
    return {**case, "mode": "bypassPermissions"} if variant == "bypass" else case


def lay_out(case: dict[str, Any], base: Path) -> dict[str, Any]:
    """Make the case's project, home and outside folder as it says, and return the order for it."""
    project, outside, home = base / "p" / "proj", base / "o" / "outside", base / "h" / "home"
    for folder in (project, outside, home):
        folder.mkdir(parents=True)
    text = json.dumps(case)
    marks = {"@PROJECT@": project, "@BASENAME@": project.name, "@PARENT@": project.parent, "@HOME@": home}
    for mark, value in marks.items():
        text = text.replace(mark, str(value))
    case = json.loads(text.replace("/outside/", f"{outside}/"))
    links: list[tuple[Path, str]] = []
    for name, what in (case.get("cwd_layout") or {}).items():
        name = name.rstrip("/")
        path = home / name[2:] if name.startswith("~/") else project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(what, str):
            path.write_text(what, "utf-8")
        elif "symlink" in what:
            links.append((path, what["symlink"]))
        else:
            path.mkdir(parents=True, exist_ok=True)
    for path, target in links:
        if not path.is_symlink():
            path.symlink_to(target)
    return {
        **{key: case[key] for key in ("id", "tool", "input", "mode", "interactive")},
        **{key: case[key] for key in PASSED_ON if key in case},
        "cwd": str(project),
        "home": str(home),
        "settings": {"permissions": case.get("rules") or {}},
    }
