"""`plugins doctor --upgrade`: another version is read, and not installed."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import toolpost as api
from toolpost import HOOKSPEC_VERSION

FINE = """
    from toolpost import tool


    @tool(read_only=True)
    async def {name}(text: str) -> str:
        "Say it again."
        return text
"""
HEARS = """
    from toolpost import on


    class Hears:
        @on.pre_tool_use
        def look(self, event): ...

        @on.stop
        def end(self, event): ...


    hears = Hears()
"""
COUNT = """
    # /// toolpost
    # [capabilities]
    # filesystem = "read"
    # ///
    from toolpost import on, tool


    @tool(read_only=True)
    async def count(text: str) -> int:
        "Count letters."
        return len(text)


    @on.stop
    def end(event): ...
"""


def wheel_of(folder: Path, name: str, version: str, files: Mapping[str, str], *, requires: str = ">=1,<2") -> Path:
    """Write a wheel: its files, and the metadata that an installer and we read."""
    stem = f"{name.replace('-', '_')}-{version}"
    metadata = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n"
    if name != "toolpost-hookspecs":
        metadata += f"Requires-Dist: toolpost-hookspecs{requires}\n"
    info = {
        f"{stem}.dist-info/METADATA": metadata,
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    every = {**files, **info}
    record = "".join(f"{path},,\n" for path in (*every, f"{stem}.dist-info/RECORD"))
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**every, f"{stem}.dist-info/RECORD": record}.items():
            archive.writestr(path.replace("DIST-INFO", f"{stem}.dist-info"), dedent(text))
    return wheel


def hookspecs(folder: Path, version: str, changes: Mapping[str, tuple[str, str]]) -> Path:
    """Write a wheel of the hookspecs as they are here, but for a change of text in some files."""
    root = Path(api.__file__).parent
    files = {f"toolpost/{f.relative_to(root).as_posix()}": f.read_text(encoding="utf-8") for f in root.rglob("*.py")}
    for name, (old, new) in changes.items():
        assert old in files[name]
        files[name] = files[name].replace(old, new)
    return wheel_of(folder, "toolpost-hookspecs", version, files)


def rehearse(toolpost: Any, wanted: str, wheel: Path, code: int) -> dict[str, Any]:
    """Return what the rehearsal says that changes, by what and which."""
    done = toolpost("plugins", "doctor", "--upgrade", wanted, "--wheel", str(wheel), "--json")
    assert done.returncode == code, done.stdout + done.stderr
    return {f"{row['what']} {row['name']}": row for row in json.loads(done.stdout)["differences"]}


@pytest.mark.parametrize(("version", "refused"), [("1.9", False), ("2.0", True)])
def test_an_upgrade_of_the_api_is_rehearsed(alone: Any, version: str, refused: bool) -> None:
    alone.install("acme-fine", "tools", "fine", FINE.format(name="fine"))
    done = alone("plugins", "doctor", "--upgrade", f"toolpost-hookspecs=={version}", "--json")
    found = {row["distribution"]: row for row in json.loads(done.stdout)["dependents"]}
    assert (done.returncode, found["acme-fine"]["refused"]) == (int(refused), refused)
    assert found["acme-fine"]["plugins"] == ["tools/fine"]
    shown = alone("plugins", "doctor", "--upgrade", f"toolpost-hookspecs=={version}").stdout
    assert ("plugins would be off" in shown) is refused


def test_an_upgrade_of_what_nobody_has_or_of_no_version_is_refused_in_one_line(alone: Any) -> None:
    for wanted, said in (("acme-nothing==1.0", "No distribution"), ("toolpost-hookspecs", "is no DIST==VERSION")):
        done = alone("plugins", "doctor", "--upgrade", wanted)
        assert (done.returncode != 0, done.stdout, said in done.stderr) == (True, "", True), done.stderr


def test_the_same_version_changes_no_hook(toolpost: Any, tmp_path: Path) -> None:
    wheel = hookspecs(tmp_path, HOOKSPEC_VERSION, {})
    assert rehearse(toolpost, f"toolpost-hookspecs=={HOOKSPEC_VERSION}", wheel, 0) == {}
    shown = toolpost("plugins", "doctor", "--upgrade", f"toolpost-hookspecs=={HOOKSPEC_VERSION}", "--wheel", str(wheel))
    assert "No hook would change." in shown.stdout


def test_hooks_that_change_are_named_with_the_plugins_that_implement_them(alone: Any, tmp_path: Path) -> None:
    alone.install("acme-hears", "lifecycle", "hears", HEARS)
    alone.settings({"plugins": {"hears": True}})
    wheel = hookspecs(
        tmp_path,
        "1.9",
        {
            "toolpost/events/tool.py": (
                "class PreToolUse(EventBase):",
                "class PreToolUse(EventBase):\n    risk: int = 0",
            ),
            "toolpost/events/turn.py": ("def stop(", "def turn_end("),
            "toolpost/specs.py": (
                "def listeners(session: SessionScope)",
                "def listeners(session: SessionScope, n: int)",
            ),
            "toolpost/events/files.py": ("def file_changed(", "def _file_changed("),
        },
    )
    found = rehearse(alone, "toolpost-hookspecs==1.9", wheel, 1)
    assert found["hook pre_tool_use"]["text"] == "the event's field risk: int is new"
    assert not found["hook pre_tool_use"]["breaks"]
    assert "lifecycle/hears" in found["hook pre_tool_use"]["plugins"]
    assert (found["hook stop"]["text"], found["hook stop"]["breaks"]) == ("is now called turn_end", True)
    assert "lifecycle/hears" in found["hook stop"]["plugins"]
    assert found["hook listeners"]["text"] == "the argument n: int is new"
    assert found["hook listeners"]["breaks"]
    shown = alone("plugins", "doctor", "--upgrade", "toolpost-hookspecs==1.9", "--wheel", str(wheel)).stdout
    assert "BREAKS: is now called turn_end" in shown
    assert not alone("plugins", "doctor", "--json").returncode


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tool_use_id: str", "call_id: str", "the event's field tool_use_id is gone"),
        ("read_only: bool", "read_only: int", "the event's field read_only is int (was bool)"),
        ("updated_input: Mapping", "new_input: Mapping", "the answer's field updated_input is gone"),
        ('@event("decide", _strictest', '@event("observe", _strictest', "is of the kind observe (was decide)"),
    ],
)
def test_what_breaks_an_implementation_is_said_of_the_hook(
    toolpost: Any, tmp_path: Path, old: str, new: str, said: str
) -> None:
    wheel = hookspecs(tmp_path, "1.9", {"toolpost/events/tool.py": (old, new)})
    done = toolpost("plugins", "doctor", "--upgrade", "toolpost-hookspecs==1.9", "--wheel", str(wheel), "--json")
    rows = [row for row in json.loads(done.stdout)["differences"] if row["name"] == "pre_tool_use"]
    assert (said, True) in [(row["text"], row["breaks"]) for row in rows]


def test_an_upgrade_of_a_plugin_says_what_comes_goes_and_is_asked_for(toolpost: Any, tmp_path: Path) -> None:
    toolpost.install("acme-count", "tools", "count", COUNT)
    witness = toolpost.project / "ran"
    module = dedent(COUNT).replace("count(text", "tally(text").replace("@on.stop", "@on.pre_tool_use")
    module = module.replace('filesystem = "read"', 'filesystem = "read"\n# network = true')
    points = "[toolpost.tools]\ncount = acme_count:tally\n[toolpost.lifecycle]\nears = acme_count:ears\n"
    files = {"acme_count.py": f"open({str(witness)!r}, 'w')\n{module}", "DIST-INFO/entry_points.txt": points}
    found = rehearse(toolpost, "acme-count==2.0", wheel_of(tmp_path, "acme-count", "2.0", files, requires=">=1.1"), 1)

    assert {name: row["text"] for name, row in found.items()} == {
        "range toolpost-hookspecs": f">=1.1 is wanted, and {HOOKSPEC_VERSION} is installed: it would be refused",
        "entry point toolpost.tools count": "is acme_count:tally (was acme_count:count)",
        "entry point toolpost.lifecycle ears": "is new: acme_count:ears",
        "tool count": "is gone",
        "tool tally": "is new",
        "implemented hook pre_tool_use": "is new",
        "implemented hook stop": "is gone",
        "capabilities count": "network: nothing is now true",
    }
    assert not witness.exists()


def test_a_wheel_that_is_none_or_of_another_version_is_refused(toolpost: Any, tmp_path: Path) -> None:
    other = wheel_of(tmp_path, "acme-other", "2.0", {})
    broken = tmp_path / "broken.whl"
    broken.write_text("no archive", encoding="utf-8")
    for wheel, said in (
        (other, "is acme-other 2.0, and not toolpost-hookspecs 2.0"),
        (broken, "can't be read as a wheel"),
    ):
        done = toolpost("plugins", "doctor", "--upgrade", "toolpost-hookspecs==2.0", "--wheel", str(wheel))
        assert done.returncode == 1
        assert said in done.stderr
    assert toolpost("plugins", "doctor", "--wheel", str(other)).returncode == 2


def test_where_a_version_can_not_be_fetched_the_rest_is_told_and_why(toolpost: Any) -> None:
    done = toolpost("plugins", "doctor", "--upgrade", "toolpost-hookspecs==1.8", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["differences"]) == (0, [])
    assert "--wheel FILE" in found["unread"]
    assert "is not known: " in toolpost("plugins", "doctor", "--upgrade", "toolpost-hookspecs==1.8").stdout


def test_a_version_of_a_plugin_that_is_not_there_is_one_sentence(alone: Any) -> None:
    alone.install("acme-fine", "tools", "fine", FINE.format(name="fine"))
    done = alone("plugins", "doctor", "--upgrade", "acme-fine==9.9.9")
    assert (done.returncode, done.stdout) == (1, "")
    assert "What acme-fine 9.9.9 would change is not known: " in done.stderr
    assert "--wheel FILE" in done.stderr
    assert "ERROR" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(find_spec("pip") is None and shutil.which("uv") is None, reason="neither pip nor uv is here")
def test_a_wheel_is_fetched_from_where_the_installer_looks(toolpost: Any, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    hookspecs(tmp_path / "links", "1.8", {"toolpost/events/turn.py": ("def stop(", "def turn_end(")})
    toolpost.env |= {"UV_FIND_LINKS": str(tmp_path / "links"), "PIP_FIND_LINKS": str(tmp_path / "links")}
    found = json.loads(toolpost("plugins", "doctor", "--upgrade", "toolpost-hookspecs==1.8", "--json").stdout)
    assert found["unread"] is None
    assert "stop" in {row["name"] for row in found["differences"]}
