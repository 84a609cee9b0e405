from __future__ import annotations

from typing import Any

MOTTO = """
    from toolpost import ContextSource, Section, on


    class Motto(ContextSource):
        lines: int = 1
        api_token: str = ""

        async def sections(self, scope):
            return (Section(name="motto", text="x"),)

        @on.stop
        def look(self, event):
            return None
"""
TRACE = "open({file!r}, 'w').close()\n"
HEARS = """
from toolpost import on


@on.pre_tool_use
def look(event): ...
"""
EARLY = """
    from toolpost import hookimpl


    class {name}:
        @hookimpl(specname="stop", tryfirst={early})
        def look(self, event):
            return None


    {name} = {name}()
"""


def test_one_that_is_on_shows_what_it_brings_its_settings_and_where_they_come_from(toolpost: Any) -> None:
    toolpost.install("acme-motto", "context", "Motto", MOTTO)
    metadata = toolpost.site / "acme_motto-1.0.dist-info" / "METADATA"
    metadata.write_text(
        metadata.read_text(encoding="utf-8") + "Project-URL: Documentation, https://acme.example/motto\n",
        encoding="utf-8",
    )
    file = toolpost.settings({"plugins": {"Motto": {"enabled": True, "config": {"lines": 3, "api_token": "s3cret"}}}})
    (row,) = toolpost.json("plugins", "info", "motto", "--json")
    assert row["entry_points"] == [{"kind": "context", "name": "Motto", "value": "acme_motto:Motto"}]
    assert row["hooks"] == ["context", "stop"]
    settings = {field["name"]: (field["value"], field["from"]) for field in row["settings"]}
    assert settings == {"lines": (3, str(file)), "api_token": ("********", str(file))}
    assert row["schema"]["properties"]["lines"]["type"] == "integer"
    assert row["links"] == {"Documentation": "https://acme.example/motto"}
    assert row["capabilities"] is None
    shown = toolpost("plugins", "info", "motto").stdout
    assert f"setting lines: int = 3 ({file})" in shown
    assert "Documentation: https://acme.example/motto" in shown
    assert "s3cret" not in shown


def test_one_that_is_off_is_read_and_not_run(toolpost: Any) -> None:
    witness = toolpost.project / "ran"
    toolpost.install("acme-motto", "context", "Motto", TRACE.format(file=str(witness)))
    module = toolpost.site / "acme_motto.py"
    module.write_text(module.read_text(encoding="utf-8") + HEARS, encoding="utf-8")
    (row,) = toolpost.json("plugins", "info", "acme-motto", "--json")
    assert (row["state"], row["hooks"], row["settings"]) == ("off by default", ["pre_tool_use"], None)
    assert not witness.exists()


def test_flags_of_tools_are_shown(toolpost: Any) -> None:
    (row,) = toolpost.json("plugins", "info", "read", "--json")
    (tool,) = row["tools"]
    assert (tool["name"], tool["read_only"], tool["deferred"]) == ("Read", True, False) or tool["read_only"] is None
    assert {"destructive", "open_world", "concurrency_safe"} <= set(tool)


def test_the_place_among_listeners_is_explained(toolpost: Any) -> None:
    for name, early in (("first", False), ("second", True)):
        toolpost.install(f"acme-{name}", "lifecycle", name, EARLY.format(name=name, early=early))
    toolpost.settings({"plugins": {"first": True, "second": True}})
    (row,) = toolpost.json("plugins", "info", "first", "--json")
    (place,) = row["order"]
    assert (place["hook"], place["place"], place["of"]) == ("stop", 2, 2)
    assert place["all"] == ["lifecycle/second", "lifecycle/first"]
    assert "at stop it is number" in toolpost("plugins", "info", "first").stdout


def test_the_place_among_resolvers_is_explained(toolpost: Any) -> None:
    (row,) = toolpost.json("plugins", "info", "rules", "--json")
    (place,) = row["order"]
    assert place["all"][place["place"] - 1] == "rules"


def test_every_plugin_has_one_state_with_a_reason(toolpost: Any) -> None:
    toolpost.install("acme-off", "tools", "off", "1 / 0\n")
    toolpost.install("acme-odd", "no_such_kind", "odd", "1 / 0\n")
    toolpost.settings({"plugins": {"bash": False}})
    rows = {row["name"]: row for row in toolpost.json("plugins", "list", "--json")}
    states = {"on", "off by default", "off by settings", "refused", "failed"}
    assert all(row["state"] in states and row["why"] for row in rows.values())
    found = [rows[name]["state"] for name in ("read", "off", "odd", "bash")]
    assert found == ["on", "off by default", "refused", "off by settings"]


def test_what_a_plugin_prints_as_it_is_loaded_gets_into_no_document(toolpost: Any) -> None:
    toolpost.install("acme-loud", "lifecycle", "loud", "print('hello from the import')\nloud = object()\n")
    toolpost.settings({"plugins": {"loud": True}})
    assert toolpost.json("plugins", "info", "loud", "--json")[0]["state"] == "on"
    assert "hello" in toolpost("plugins", "info", "loud").stderr
    for command in (("plugins", "doctor"), ("plugins", "profile"), ("hooks", "list")):
        assert "hello" not in toolpost(*command, "--json").stdout
