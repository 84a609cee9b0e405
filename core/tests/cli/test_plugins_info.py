from __future__ import annotations

import json
from typing import Any

import pytest

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


def test_one_that_is_off_is_read_and_not_run(alone: Any) -> None:
    witness = alone.project / "ran"
    alone.install("acme-motto", "context", "Motto", TRACE.format(file=str(witness)))
    module = alone.site / "acme_motto.py"
    module.write_text(module.read_text(encoding="utf-8") + HEARS, encoding="utf-8")
    (row,) = alone.json("plugins", "info", "acme-motto", "--json")
    assert (row["state"], row["hooks"], row["settings"]) == ("off by default", ["pre_tool_use"], None)
    assert not witness.exists()


def test_flags_of_tools_are_shown(toolpost: Any) -> None:
    (row,) = toolpost.json("plugins", "info", "read", "--json")
    (tool,) = row["tools"]
    assert (tool["name"], tool["read_only"], tool["deferred"]) == ("Read", True, False) or tool["read_only"] is None
    assert {"destructive", "open_world", "concurrency_safe"} <= set(tool)


def test_the_place_among_listeners_is_explained(alone: Any) -> None:
    for name, early in (("first", False), ("second", True)):
        alone.install(f"acme-{name}", "lifecycle", name, EARLY.format(name=name, early=early))
    alone.settings({"plugins": {"first": True, "second": True}})
    (row,) = alone.json("plugins", "info", "first", "--json")
    (place,) = row["order"]
    assert (place["hook"], place["place"], place["of"]) == ("stop", 2, 2)
    assert place["all"] == ["lifecycle/second", "lifecycle/first"]
    assert "at stop it is number" in alone("plugins", "info", "first").stdout


def test_the_place_among_resolvers_is_explained(toolpost: Any) -> None:
    (row,) = toolpost.json("plugins", "info", "rules", "--json")
    (place,) = row["order"]
    assert place["all"][place["place"] - 1] == "rules"


RESOLVER = """
    from toolpost import Allow, PermissionResolver


    class Lenient(PermissionResolver):
        async def resolve(self, request):
            return Allow("why not")


    lenient = Lenient()
"""


@pytest.mark.requirement("plugins.grants_are_settings")
def test_what_may_loosen_was_granted_that_and_the_grant_can_be_given_and_taken(toolpost: Any) -> None:
    toolpost.install("acme-lenient", "permission_resolvers", "lenient", RESOLVER)
    call = json.dumps({"tool": "Write", "input": {"file_path": str(toolpost.project / "new.txt"), "content": "x"}})

    def granted(name: str) -> list[tuple[str, str]]:
        (row,) = toolpost.json("plugins", "info", name, "--json")
        return [(grant["grant"], grant["from"]) for grant in row["grants"]]

    def runs() -> bool:
        (toolpost.project / "new.txt").unlink(missing_ok=True)
        return not json.loads(toolpost("tool", "run", "--json", input=call).stdout)["is_error"]

    plugins: dict[str, Any] = {"lenient": {"enabled": True}}
    content = {"plugins": plugins}
    toolpost.settings(content)
    assert (granted("lenient"), granted("rules")) == ([], [("decide", "the standard set")])
    assert "granted: nothing: it may tighten, and not loosen" in toolpost("plugins", "info", "lenient").stdout
    assert not runs()

    plugins["lenient"]["grant"] = ["decide"]
    file = toolpost.settings(content)
    assert granted("lenient") == [("decide", str(file))]
    assert runs()

    plugins["lenient"]["grant"] = []
    allowed = {**content, "permissions": {"allow": ["Write", "Edit"]}}
    toolpost.settings(allowed)
    assert runs()

    plugins["rules"] = {"grant": []}
    toolpost.settings(allowed)
    assert granted("rules") == []
    assert not runs()


def test_every_plugin_has_one_state_with_a_reason(toolpost: Any) -> None:
    toolpost.install("acme-off", "tools", "off", "1 / 0\n")
    toolpost.install("acme-odd", "no_such_kind", "odd", "1 / 0\n")
    toolpost.settings({"plugins": {"bash": False}})
    rows = {row["name"]: row for row in toolpost.json("plugins", "list", "--json")}
    states = {"on", "off by default", "off by settings", "refused", "failed"}
    assert all(row["state"] in states and row["why"] for row in rows.values())
    found = [rows[name]["state"] for name in ("read", "off", "odd", "bash")]
    assert found == ["on", "off by default", "refused", "off by settings"]


def test_what_a_plugin_prints_as_it_is_loaded_gets_into_no_document(alone: Any) -> None:
    alone.install("acme-loud", "lifecycle", "loud", "print('hello from the import')\nloud = object()\n")
    alone.settings({"plugins": {"loud": True}})
    assert alone.json("plugins", "info", "loud", "--json")[0]["state"] == "on"
    assert "hello" in alone("plugins", "info", "loud").stderr
    for command in (("plugins", "doctor"), ("plugins", "profile"), ("hooks", "list")):
        assert "hello" not in alone(*command, "--json").stdout


ARRAY = """
    from toolpost import Tool, ToolResult


    class Listed(Tool):
        name = {name!r}
        input_schema = {schema!r}

        async def call(self, input, ctx, progress):
            return ToolResult("done")
"""


@pytest.mark.parametrize(
    ("name", "schema", "said"),
    [
        ("Listed", {"type": "array"}, "its input_schema is no schema of an object"),
        ("no name!", {"type": "object"}, "no model can call a tool of that name"),
    ],
)
def test_a_tool_that_no_service_would_take_is_shown_with_the_reason(
    toolpost: Any, name: str, schema: Any, said: str
) -> None:
    toolpost.install("acme-listed", "tools", "Listed", ARRAY.format(name=name, schema=schema))
    toolpost.settings({"plugins": {"Listed": True}})
    (row,) = toolpost.json("plugins", "info", "listed", "--json")
    assert said in row["tools"][0]["left_out"]
    shown = " ".join(toolpost("plugins", "info", "listed").stdout.split())
    assert f"left out: {said[:30]}" in shown
    rows = {row["name"]: row for row in toolpost.json("tool", "list", "--json")}
    assert said in rows[name]["why"]
    assert said in toolpost("plugins", "doctor").stdout.replace("\n", " ")


@pytest.mark.parametrize(
    "code",
    [
        "import acme_nowhere\n",
        "raise SystemExit(3)\n",
        "def broken(:\n",
        "import signal\n\nsignal.pause()\n",
        "from toolpost import Tool\n\n\nclass bad(Tool):\n    def __init__(self):\n        raise OSError('no')\n",
    ],
    ids=("import", "exit", "syntax", "hang", "constructor"),
)
def test_a_plugin_is_in_one_state_whoever_is_asked(alone: Any, code: str) -> None:
    alone.install("acme-bad", "tools", "bad", code)
    alone.settings({"plugins": {"bad": True}})
    alone.env["TOOLPOST_PLUGIN_LOAD_TIMEOUT"] = "1"
    (told,) = alone.json("plugins", "info", "bad", "--json")
    (listed,) = [row for row in alone.json("plugins", "list", "--json") if row["name"] == "bad"]
    assert (listed["state"], listed["why"]) == ("failed", told["why"])
    assert (told["state"], listed["enabled"]) == ("failed", False)


def test_the_list_is_whole_though_a_plugin_ends_the_process(toolpost: Any) -> None:
    toolpost.install("acme-bad", "tools", "bad", "import os\n\nos._exit(3)\n")
    toolpost.install("acme-worse", "tools", "worse", "import acme_nowhere\n")
    toolpost.settings({"plugins": {"bad": True, "worse": True}})
    rows = {row["name"]: row for row in toolpost.json("plugins", "list", "--json")}
    assert (rows["bad"]["state"], "ended the process" in rows["bad"]["why"]) == ("failed", True)
    assert (rows["worse"]["state"], "acme_nowhere" in rows["worse"]["why"]) == ("failed", True)
    assert rows["write"]["state"] == "on"
