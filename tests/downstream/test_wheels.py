"""What is published works: the wheels of Toolpost and of five plugins of somebody else's, in an environment of their own."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mock_messages_api import MockMessagesApi, tool_use, turn

pytestmark = pytest.mark.timeout(300)
ROOT = Path(__file__).parents[2]
FIVE = ("acme_sql", "acme_policy", "acme_echo", "acme_recent", "acme_audit")
EXPORT = ("export", "--frozen", "--all-packages", "--no-dev", "--no-emit-workspace", "--no-hashes", "--no-annotate")
PLUGINS = {
    "sql": {"enabled": True, "config": {"database": "shop.db"}},
    "policy": True,
    "echo": {"enabled": True, "config": {"prefix": "> "}},
    "keep_recent": {"enabled": True, "config": {"turns": 1, "above": 0.0}},
    "audit": {"enabled": True, "config": {"folder": "log"}},
}
POLICY = [{"tool": "sql_execute", "input": "*drop*", "answer": "deny", "why": "Tables stay."}]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `toolpost` of a fresh environment that has nothing but wheels."""
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed")
    place = tmp_path_factory.mktemp("wheels")
    built, venv = place / "built", place / "venv"

    def run(*arguments: str | Path) -> str:
        env = {key: value for key, value in os.environ.items() if key != "UV_PROJECT_ENVIRONMENT"}
        done = subprocess.run(
            [uv, *map(str, arguments)], cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"uv {arguments[0]}: {done.stderr[-2000:]}"
        return done.stdout

    run("build", "--wheel", "--quiet", "--all-packages", "--out-dir", built)
    for name in FIVE:
        run("build", "--wheel", "--quiet", "--out-dir", built, ROOT / "docs/examples" / name)
    (place / "libraries.txt").write_text(run(*EXPORT), encoding="utf-8")
    python = venv / "bin/python"
    run("venv", "--quiet", venv)
    run("pip", "install", "--quiet", "--python", python, "--requirement", place / "libraries.txt")
    run("pip", "install", "--quiet", "--python", python, "--no-deps", *sorted(built.glob("*.whl")))
    return venv / "bin/toolpost"


class Shop:
    """A project with a database and a policy, and a home whose settings turn the five plugins on."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.project, self.home, self._program = folder / "project", folder / "home", program
        self.project.mkdir()
        (self.home / ".toolpost").mkdir(parents=True)
        settings = {"plugins": PLUGINS, "permissions": {"allow": ["sql_query", "sql_execute"]}}
        (self.home / ".toolpost/settings.json").write_text(json.dumps(settings), encoding="utf-8")
        (self.project / ".policy.json").write_text(json.dumps(POLICY), encoding="utf-8")
        with closing(sqlite3.connect(self.project / "shop.db")) as db, db:
            db.execute("create table fruit (name text)")
            db.execute("insert into fruit values ('plum')")

    def toolpost(self, *arguments: str, **env: str) -> str:
        """Run the program; return what it wrote."""
        small = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "NO_COLOR": "1"}
        done = subprocess.run(
            [self._program, *arguments],
            cwd=self.project,
            env=small | env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout[-1000:]}{done.stderr[-2000:]}"
        return done.stdout

    def log(self) -> list[Mapping[str, Any]]:
        """Return the lines of the only audit log."""
        (file,) = (self.project / "log").iterdir()
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_session_uses_five_plugins_of_somebody_else_from_their_wheels(program: Path, tmp_path: Path) -> None:
    shop = Shop(tmp_path, program)
    calls = turn(
        tool_use("sql_query", {"sql": "select name from fruit"}, id="toolu_ask"),
        tool_use("sql_execute", {"sql": "drop table fruit"}, id="toolu_drop"),
    )
    with MockMessagesApi([calls, "There are plums.", "Only plums."]).run_in_thread() as api:
        wire = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": api.url}
        assert shop.toolpost("-p", "What fruit is there?", **wire) == "There are plums.\n"
        assert shop.toolpost("-p", "hello", "--continue", "--provider", "echo") == "> hello\n"
        assert shop.toolpost("-p", "Nothing else?", "--continue", **wire) == "Only plums.\n"

    results = {result["tool_use_id"]: str(result["content"]) for result in api.requests[1].tool_results}
    assert "plum" in results["toolu_ask"]  # acme-sql
    assert "Tables stay." in results["toolu_drop"]  # acme-policy
    kept = json.dumps(api.requests[-1].body["messages"])
    assert ("Nothing else?" in kept, "What fruit is there?" in kept) == (True, False)  # acme-recent
    told = [line["event"] for line in shop.log()]  # acme-audit
    assert told.count("UserPromptSubmit") == 3
    assert {"SessionStart", "PostToolUse", "SessionEnd"} <= set(told)
