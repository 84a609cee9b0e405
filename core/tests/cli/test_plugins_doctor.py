from __future__ import annotations

import json
from typing import Any

import pytest

FINE = """
    from toolpost import tool


    @tool(read_only=True)
    async def {name}(text: str) -> str:
        "Say it again."
        return text
"""


def findings(toolpost: Any, *arguments: str) -> dict[str, dict[str, Any]]:
    """What the doctor finds about strangers' plugins, by check."""
    done = toolpost("plugins", "doctor", "--json", *arguments)
    assert done.returncode == 1, done.stdout + done.stderr
    rows = json.loads(done.stdout)
    assert all(row["text"] and row["mend"] for row in rows)
    return {row["check"]: row for row in rows}


def switch_on(toolpost: Any, *names: str, **more: Any) -> None:
    toolpost.settings({"plugins": dict.fromkeys(names, True), **more})


def test_where_nothing_is_wrong_the_doctor_says_so_and_exits_0(toolpost: Any) -> None:
    toolpost.install("acme-fine", "tools", "fine", FINE.format(name="fine"))
    switch_on(toolpost, "fine")
    done = toolpost("plugins", "doctor")
    assert (done.returncode, "no problems" in done.stdout) == (0, True), done.stdout
    assert toolpost.json("plugins", "doctor", "--json") == []


def test_an_import_that_fails_is_shown_with_the_plugins_own_lines_and_a_mend(alone: Any) -> None:
    alone.install("acme-bad", "tools", "bad", "def start():\n    return {}['key']\n\n\nstart()\n")
    switch_on(alone, "bad")
    found = findings(alone)["import"]
    assert (found["plugin"], found["distribution"]) == ("bad", "acme-bad")
    assert any("acme_bad.py" in line and "in start" in line for line in found["trace"])
    assert not any("toolpost_core" in line or "importlib" in line for line in found["trace"])
    shown = alone("plugins", "doctor").stdout
    assert "KeyError: 'key'" in shown
    assert (
        "what to do: Its author must mend acme_bad:bad; until then turn it off: `toolpost plugins disable bad`" in shown
    )


def test_an_entry_point_that_names_nothing_is_found(alone: Any) -> None:
    alone.install("acme-gone", "tools", "gone", "other = 1\n")
    switch_on(alone, "gone")
    found = findings(alone)["import"]
    assert "has no attribute 'gone'" in found["text"]
    assert "pip install --force-reinstall acme-gone" in found["mend"]


def test_a_plugin_for_another_spec_is_found_with_both_versions(alone: Any) -> None:
    alone.install("acme-new", "tools", "new", FINE.format(name="new"))
    metadata = alone.site / "acme_new-1.0.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text(encoding="utf-8").replace(">=1,<2", ">=7"), encoding="utf-8")
    switch_on(alone, "new")
    found = findings(alone)["range"]
    assert "made for toolpost-hookspecs >=7" in found["text"]
    assert "pip install --upgrade acme-new" in found["mend"]


def test_two_plugins_of_one_kind_and_name_are_found_with_who_wins(alone: Any) -> None:
    for name in ("acme-one", "acme-two"):
        alone.install(name, "tools", "same", FINE.format(name="same"))
    switch_on(alone, "acme-one", "acme-two")
    found = findings(alone)
    assert list(found) == ["duplicate entry point"]
    assert "that of acme-one is used, that of acme-two is not" in found["duplicate entry point"]["text"]
    assert "`toolpost plugins disable acme-two`" in found["duplicate entry point"]["mend"]


def test_two_tools_of_one_name_are_found_with_who_wins(alone: Any) -> None:
    for name in ("one", "two"):
        code = FINE.format(name=name).replace("@tool(", "@tool(name='shout', ")
        alone.install(f"acme-{name}", "tools", name, code)
    switch_on(alone, "one", "two")
    found = findings(alone)["tool name collision"]
    assert "that of one (acme-one) is used, that of two (acme-two) is not" in found["text"]
    assert "overrides='acme-one'" in found["mend"].replace("overrides='acme-two'", "overrides='acme-one'")


def test_config_of_the_wrong_type_and_unknown_keys_are_found(toolpost: Any) -> None:
    code = """
        from toolpost import ContextSource, Section


        class Motto(ContextSource):
            lines: int = 1

            async def sections(self, scope):
                return (Section(name="motto", text="x"),)
    """
    toolpost.install("acme-motto", "context", "Motto", code)
    toolpost.settings({"plugins": {"Motto": {"enabled": True, "config": {"lines": "many", "line": 1}}}, "modle": "x"})
    found = findings(toolpost)
    assert "its setting 'lines'" in found["config"]["text"]
    assert "its setting 'line'" in found["config"]["text"]
    assert "Did you mean model?" in found["unknown key"]["text"]
    assert str(toolpost.config / "settings.json") in found["unknown key"]["mend"]


def test_settings_for_what_is_not_installed_are_found(alone: Any) -> None:
    file = alone.settings({"plugins": {"acme-left": {"config": {"a": 1}}}})
    found = findings(alone)["orphaned setting"]
    assert str(file) in found["text"]
    assert found["mend"] == f"Install it, or remove plugins.acme-left from {file}."


def test_a_tool_that_a_deny_rule_hides_is_found_with_the_rule(alone: Any) -> None:
    alone.install("acme-fine", "tools", "fine", FINE.format(name="fine"))
    switch_on(alone, "fine", permissions={"deny": ["fine"]})
    found = findings(alone)["hidden tool"]
    assert "denied by the rule fine" in found["text"]
    assert "`toolpost plugins disable fine`" in found["mend"]


def test_an_import_that_takes_long_is_found_and_a_quick_one_is_not(alone: Any) -> None:
    busy = """
    import time

    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    """
    alone.install("acme-busy", "tools", "busy", busy + FINE.format(name="busy"))
    alone.install("acme-fine", "tools", "fine", FINE.format(name="fine"))
    switch_on(alone, "busy", "fine")
    done = alone("plugins", "doctor", "--json")
    slow = {row["plugin"]: row for row in json.loads(done.stdout) if row["check"] == "slow import"}
    assert "busy" in slow
    assert "fine" not in slow
    assert "python -X importtime -c 'import acme_busy'" in slow["busy"]["mend"]


def test_two_versions_on_the_path_are_found(alone: Any) -> None:
    alone.install("acme-fine", "tools", "fine", FINE.format(name="fine"))
    other = alone.site / "acme_fine-0.9.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.4\nName: acme-fine\nVersion: 0.9\n", encoding="utf-8")
    found = findings(alone)["two versions"]
    assert all(version in found["text"] for version in ("1.0", "0.9"))
    assert "pip uninstall acme-fine" in found["mend"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os\n\nos._exit(3)\n", "the import ended the process"),
        ("import signal\n\nsignal.pause()\n", "the import did not come to an end within 1 s"),
    ],
)
def test_an_import_that_hangs_or_ends_the_process_does_neither_to_the_doctor(alone: Any, code: str, said: str) -> None:
    alone.install("acme-stuck", "tools", "stuck", code)
    switch_on(alone, "stuck")
    alone.env["TOOLPOST_PLUGIN_LOAD_TIMEOUT"] = "1"
    found = findings(alone)["import"]
    assert said in found["text"]
    assert "`toolpost plugins disable stuck`" in found["mend"]
