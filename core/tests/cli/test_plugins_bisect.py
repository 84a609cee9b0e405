from __future__ import annotations

import json
import sys
from typing import Any

import pytest

QUIET = """
    from toolpost import on


    class Listens:
        @on.session_end
        def look(self, event):
            return None


    listens = Listens()
"""
COUNT = """
import json, subprocess, sys
command = [sys.executable, "-m", "toolpost_core", "plugins", "list", "--json"]
rows = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
on = {row["distribution"] for row in rows if row["enabled"]}
wanted = set(sys.argv[1:])
print("on are", sorted(on & wanted))
sys.exit(3 if wanted <= on else 0)
"""


@pytest.fixture
def many(toolpost: Any) -> Any:
    names = [f"acme-{letter}" for letter in "abcde"]
    for name in names:
        toolpost.install(name, "lifecycle", f"{name[-1]}_listens", QUIET.replace("listens =", f"{name[-1]}_listens ="))
    toolpost.settings({"plugins": dict.fromkeys(names, True)})
    return toolpost


@pytest.mark.parametrize("culprits", [["acme-d"], ["acme-a", "acme-e"]])
def test_the_plugins_that_make_a_command_fail_are_named(many: Any, culprits: list[str]) -> None:
    before = (many.config / "settings.json").read_bytes()
    done = many("plugins", "bisect", "--json", "--", sys.executable, "-c", COUNT, *culprits)
    verdict = json.loads(done.stdout)
    assert (done.returncode, verdict["outcome"], verdict["found"]) == (0, "found", culprits), done.stderr
    assert verdict["plugins"] == [f"acme-{letter}" for letter in "abcde"]
    assert "with all of 5 on: fails (exit code 3)" in done.stderr
    assert (many.config / "settings.json").read_bytes() == before


def test_a_person_reads_who_it_was_and_how_to_turn_it_off(many: Any) -> None:
    done = many("plugins", "bisect", "--", sys.executable, "-c", COUNT, "acme-b")
    assert done.stdout.startswith("acme-b makes it fail: exit code 3. It said: on are ['acme-b']")
    assert "`toolpost plugins disable acme-b`" in done.stdout


def test_a_command_that_fails_by_itself_is_no_plugins_fault(many: Any) -> None:
    done = many("plugins", "bisect", "--json", "--", sys.executable, "-c", "print('boom'); raise SystemExit(1)")
    verdict = json.loads(done.stdout)
    assert (done.returncode, verdict["outcome"], verdict["found"]) == (1, "fails with none", [])
    assert len(verdict["runs"]) == 2
    said = many("plugins", "bisect", "--", sys.executable, "-c", "print('boom'); raise SystemExit(1)").stdout
    assert "none of them is the cause. It said: boom" in said


def test_a_command_that_works_leaves_nothing_to_find(many: Any) -> None:
    done = many("plugins", "bisect", "--", sys.executable, "-c", "")
    assert (done.returncode, "works with all 5" in done.stdout) == (1, True)


def test_without_third_party_plugins_nothing_is_run(toolpost: Any) -> None:
    done = toolpost("plugins", "bisect", "--json", "--", sys.executable, "-c", "open('ran', 'w')")
    assert (done.returncode, json.loads(done.stdout)["outcome"]) == (1, "nothing to turn off")
    assert not (toolpost.project / "ran").exists()


def test_a_command_that_hangs_is_ended_and_counts_as_failed(many: Any) -> None:
    waits = "import signal, sys; signal.pause()"
    done = many("plugins", "bisect", "--json", "--slower-than", "0.3", "--", sys.executable, "-c", waits)
    assert json.loads(done.stdout)["outcome"] == "fails with none"
    assert json.loads(done.stdout)["runs"][0]["how"] == "took longer than 0.3 s"


def test_a_command_that_is_not_there_is_said_in_one_line(many: Any) -> None:
    done = many("plugins", "bisect", "--", "no-such-command-here")
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) != (0, "", True)
    assert "'no-such-command-here' can't be run" in done.stderr
