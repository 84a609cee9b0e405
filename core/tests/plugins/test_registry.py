from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolpost import PluginError
from toolpost_core.plugins.registry import Problem, Registry
from toolpost_core.plugins.scan import Inventory, scan
from toolpost_core.settings import load

WORDS = """
    from toolpost import tool

    @tool(read_only=True)
    async def word_count(path: str) -> str:
        "Count words."
        return "2 words"
"""
PROTECT = """
    from toolpost import PermissionResolver

    class Protect(PermissionResolver):
        folders: tuple[str, ...] = ("migrations",)
        depth: int = 1

        async def resolve(self, request):
            return None

    class Strict(Protect):
        token: str
"""
BELL = """
    from toolpost import on

    heard = []

    @on.post_tool_use
    def ring(event):
        heard.append(event)
"""


class Started:
    """A registry over what a site holds and one settings document, and the problems that it told of."""

    def __init__(self, tmp_path: Path, plugins: Mapping[str, Any], level: str = "user", trusted: bool = True) -> None:
        project, config = tmp_path / "project", tmp_path / "config"
        self.file = (project / ".toolpost" if level == "project" else config) / "settings.json"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps({"plugins": plugins}), encoding="utf-8")
        settings = load(project, tmp_path, config, trusted=trusted, env={})
        ours = tuple(e for e in scan(tmp_path / "cache").entries if e.distribution.startswith("acme"))
        self.problems: list[Problem] = []
        self.registry = Registry(Inventory(ours), settings.plugins, self.problems.append)

    @property
    def told(self) -> str:
        return "\n".join(problem.text for problem in self.problems)

    def states(self) -> dict[str, str]:
        return {entry.name: self.registry.state_of(entry).status for entry in self.registry.inventory.entries}


@pytest.mark.requirement("plugins.third_party_is_off")
def test_a_third_partys_plugin_is_off_and_not_imported_until_settings_turn_it_on(site: Any, tmp_path: Path) -> None:
    site.install(
        "acme-words", entries={"tools": {"word_count": "acme_words:word_count"}}, acme_words="raise SystemExit"
    )
    off = Started(tmp_path, {})
    assert off.registry.names("tools") == []
    assert off.registry.collect("tools") == []
    assert off.states() == {"word_count": "off by default"}
    with pytest.raises(PluginError, match=r'toolpost plugins enable word_count.*\{"plugins": \{"word_count": true\}\}'):
        off.registry.one("tools", "word_count")
    assert off.problems == []


@pytest.mark.parametrize("key", ["word_count", "word-count", "Word_Count", "acme-words", "acme_words"])
def test_it_is_turned_on_by_its_own_name_or_its_distributions(site: Any, tmp_path: Path, key: str) -> None:
    site.install("acme-words", entries={"tools": {"word_count": "acme_words:word_count"}}, acme_words=WORDS)
    on = Started(tmp_path, {key: True})
    (provided,) = on.registry.collect("tools")
    assert (provided.value.name, provided.plugin, provided.distribution) == ("word_count", "word_count", "acme-words")
    assert on.registry.one("tools", "acme_words").value is provided.value
    assert on.problems == []


@pytest.mark.requirement("plugins.project_turns_off_only")
def test_a_project_turns_a_plugin_on_only_when_it_is_trusted(site: Any, tmp_path: Path) -> None:
    site.install("acme-words", entries={"tools": {"word_count": "acme_words:word_count"}}, acme_words=WORDS)
    assert Started(tmp_path, {"word_count": True}, "project", trusted=False).registry.names("tools") == []
    assert Started(tmp_path, {"word_count": True}, "project", trusted=True).registry.names("tools") == ["word_count"]


@pytest.mark.requirement("plugins.project_turns_off_only")
def test_an_untrusted_project_turns_off_a_tool_but_no_guard(site: Any, tmp_path: Path) -> None:
    site.install("toolpost", "9", requires=["acme-all"])
    entries = {
        "tools": {"word_count": "acme_words:word_count"},
        "permission_resolvers": {"protect": "acme_protect:Protect"},
    }
    site.install("acme-all", entries=entries, acme_words=WORDS, acme_protect=PROTECT)
    off = Started(tmp_path, {"word_count": False, "protect": False}, "project", trusted=False)
    assert off.states() == {"word_count": "off by settings", "protect": "on"}
    assert Started(tmp_path, {"protect": False}, "project").states()["protect"] == "off by settings"


def test_a_class_is_made_from_its_config(site: Any, tmp_path: Path) -> None:
    site.install(
        "acme-protect", entries={"permission_resolvers": {"protect": "acme_protect:Protect"}}, acme_protect=PROTECT
    )
    config = {"folders": ["db", "migrations"]}
    on = Started(tmp_path, {"protect": {"enabled": True, "config": config}})
    assert on.registry.one("permission_resolvers", "protect").value.folders == ("db", "migrations")
    assert on.problems == []


@pytest.mark.requirement("plugins.config_mistake_is_named")
@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"folder": ["db"]}, ["'folder'", "there is no such setting"]),
        ({"depth": "deep"}, ["'depth'", "valid integer", "'deep'"]),
        ({"folders": [1]}, ["'folders.0'", "valid string"]),
    ],
)
def test_a_mistake_in_a_config_names_plugin_key_file_and_what_is_allowed(
    site: Any, tmp_path: Path, config: Mapping[str, Any], said: list[str]
) -> None:
    entries = {
        "permission_resolvers": {"protect": "acme_protect:Protect"},
        "tools": {"word_count": "acme_words:word_count"},
    }
    site.install("acme-all", entries=entries, acme_protect=PROTECT, acme_words=WORDS)
    on = Started(tmp_path, {"protect": {"enabled": True, "config": config}, "word_count": True})
    assert on.registry.collect("permission_resolvers") == []
    assert len(on.registry.collect("tools")) == 1, "the others go on"
    for text in [
        *said,
        "'protect' (acme-all 1.0)",
        str(on.file),
        "Allowed are: folders (tuple[str, ...]), depth (int)",
    ]:
        assert text in on.told
    assert len(on.problems) == 1
    with pytest.raises(PluginError, match="can't be used: its setting"):
        on.registry.one("permission_resolvers", "protect")


def test_a_setting_that_a_plugin_needs_is_asked_for_with_an_example(site: Any, tmp_path: Path) -> None:
    site.install(
        "acme-protect", entries={"permission_resolvers": {"strict": "acme_protect:Strict"}}, acme_protect=PROTECT
    )
    on = Started(tmp_path, {"strict": True})
    assert on.registry.collect("permission_resolvers") == []
    assert 'needs the setting token. Put {"plugins": {"strict": {"enabled": true, "config": {"token"' in on.told


def test_a_config_for_what_takes_none_is_a_mistake(site: Any, tmp_path: Path) -> None:
    site.install("acme-bell", entries={"lifecycle": {"bell": "acme_bell"}}, acme_bell=BELL)
    on = Started(tmp_path, {"bell": {"enabled": True, "config": {"loud": True}}})
    assert on.registry.collect("lifecycle") == []
    assert "it is a module and takes no settings" in on.told


@pytest.mark.requirement("plugins.failure_is_isolated")
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("1 / 0", "acme_bad.py:1"),
        ("raise SystemExit(3)", "SystemExit"),
        ("def broken(:", "SyntaxError"),
        ("other = 1", "has no attribute 'it'"),
        ("def it(): ...", "which is no plugin"),
        ("class it: ...", "which is no plugin"),
        ("it = object()", "implements no hook 'tools'"),
        ("from toolpost import hookimpl\nclass P:\n @hookimpl\n def tools(self): 1 / 0\nit = P()", "ZeroDivisionError"),
        (
            "from toolpost import hookimpl\nclass P:\n @hookimpl\n def tools(self): return 5\nit = P()",
            "must be a list of",
        ),
        (
            "from toolpost import hookimpl\nclass P:\n @hookimpl\n def tools(self): return [5]\nit = P()",
            "toolpost.Tool",
        ),
        ("from toolpost import Tool\nclass it(Tool): ...", "abstract"),
        ("from toolpost import Plugin\nclass it(Plugin):\n def __init__(self): 1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_plugin_that_fails_is_named_once_and_the_others_go_on(
    site: Any, tmp_path: Path, code: str, said: str
) -> None:
    site.install("acme-bad", entries={"tools": {"bad": "acme_bad:it"}}, acme_bad=code)
    site.install("acme-words", entries={"tools": {"word_count": "acme_words:word_count"}}, acme_words=WORDS)
    on = Started(tmp_path, {"bad": True, "word_count": True})
    assert [provided.plugin for provided in on.registry.collect("tools")] == ["word_count"]
    assert [provided.plugin for provided in on.registry.collect("tools")] == ["word_count"]
    assert said in on.told
    assert "'bad' (acme-bad 1.0)" in on.told
    assert [problem.plugin for problem in on.problems] == ["bad"]
    assert on.states() == {"bad": "failed", "word_count": "on"}
    assert on.registry.names("tools") == ["word_count"]


def test_listening_to_an_event_adds_its_spec(site: Any, tmp_path: Path) -> None:
    site.install("acme-bell", entries={"lifecycle": {"bell": "acme_bell"}}, acme_bell=BELL)
    on = Started(tmp_path, {"bell": True})
    assert not hasattr(on.registry.manager.hook, "post_tool_use")
    (provided,) = on.registry.collect("lifecycle")
    (found,) = on.registry.manager.hook.post_tool_use.get_hookimpls()
    assert found.plugin is provided.value
    assert found.plugin_name == "lifecycle/bell"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("from toolpost import on\n@on.stop\ndef f(evt): ...", ["'stop'", "'evt'", "stop(event)"]),
        (
            "from toolpost import hookimpl\n@hookimpl\ndef pre_tool_usee(event): ...",
            ["pre_tool_usee", "Did you mean pre_tool_use"],
        ),
        (
            "from toolpost import hookimpl\n@hookimpl(wrapper=True)\ndef tools(): yield",
            ["'tools'", "calls no wrappers"],
        ),
        ("from toolpost import hookimpl\n@hookimpl\ndef tools(extra): ...", ["'extra'", "tools()"]),
    ],
)
def test_a_listener_that_does_not_fit_is_refused_with_plugin_hook_and_signature(
    site: Any, tmp_path: Path, code: str, said: list[str]
) -> None:
    site.install("acme-bell", entries={"lifecycle": {"bell": "acme_bell"}}, acme_bell=code)
    on = Started(tmp_path, {"bell": True})
    assert on.registry.collect("lifecycle") == []
    for text in ["'bell' (acme-bell 1.0)", *said]:
        assert text in on.told
    assert on.registry.manager.get_plugins() == set()


@pytest.mark.requirement("plugins.version_range")
def test_a_plugin_for_other_hookspecs_is_refused_with_both_versions(site: Any, tmp_path: Path) -> None:
    entries = {"tools": {"word_count": "acme_words:word_count"}}
    site.install("acme-words", entries=entries, requires=["toolpost-hookspecs>=2,<3"], acme_words=WORDS)
    on = Started(tmp_path, {"word_count": True})
    assert on.registry.collect("tools") == []
    assert "made for toolpost-hookspecs >=2,<3, and 1." in on.told
    assert on.states() == {"word_count": "refused"}


def test_of_two_plugins_of_one_name_the_first_distribution_is_used_and_both_are_named(
    site: Any, tmp_path: Path
) -> None:
    for name in ("acme-b", "acme-a", "acme-c"):
        site.install(name, entries={"tools": {"word_count": "acme_words:word_count"}}, acme_words=WORDS)
    on = Started(tmp_path, {"word_count": True, "acme-a": False})
    assert [provided.distribution for provided in on.registry.collect("tools")] == ["acme-b"]
    assert "acme-c 1.0" in on.told
    assert "acme-b has a plugin of the same kind and name" in on.told


def test_a_strangers_plugin_is_not_turned_on_by_the_name_of_a_standard_one(site: Any, tmp_path: Path) -> None:
    site.install("toolpost", "9", requires=["acme-real"])
    site.install("acme-real", entries={"tools": {"word_count": "acme_words:word_count"}}, acme_words=WORDS)
    site.install("acme-false", entries={"lifecycle": {"word_count": "acme_bell"}}, acme_bell=BELL)
    on = Started(tmp_path, {"word_count": True})
    assert on.registry.names("tools") == ["word_count"]
    assert on.registry.names("lifecycle") == []
    with pytest.raises(PluginError, match="enable acme-false"):
        on.registry.one("lifecycle", "word_count")


def test_a_standard_plugin_can_be_replaced_by_turning_it_off(site: Any, tmp_path: Path) -> None:
    site.install("toolpost", "9", requires=["acme-real"])
    for name in ("acme-real", "acme-mine"):
        site.install(name, entries={"tools": {"word_count": "acme_words:word_count"}}, acme_words=WORDS)
    both = Started(tmp_path, {"acme-mine": True})
    assert [provided.distribution for provided in both.registry.collect("tools")] == ["acme-real"]
    mine = Started(tmp_path, {"acme-mine": True, "word_count": False})
    assert [provided.distribution for provided in mine.registry.collect("tools")] == ["acme-mine"]


def test_an_object_that_two_kinds_name_hears_each_event_once(site: Any, tmp_path: Path) -> None:
    code = (
        PROTECT
        + "\n    from toolpost import on\n\n    class Both(Protect):\n        @on.stop\n        def f(self, event): ...\n"
    )
    entries = {"permission_resolvers": {"both": "acme_both:Both"}, "lifecycle": {"both": "acme_both:Both"}}
    site.install("acme-both", entries=entries, acme_both=code)
    on = Started(tmp_path, {"both": True})
    (resolver,) = on.registry.collect("permission_resolvers")
    (listener,) = on.registry.collect("lifecycle")
    assert resolver.value is listener.value
    assert len(on.registry.manager.hook.stop.get_hookimpls()) == 1


def test_settings_for_a_plugin_that_is_not_there_are_a_problem_that_names_the_file(site: Any, tmp_path: Path) -> None:
    on = Started(tmp_path, {"acme-gone": True})
    assert f"Settings in {on.file} name the plugin 'acme-gone', which is not installed" in on.told


def test_an_unknown_name_is_answered_with_those_there_are(site: Any, tmp_path: Path) -> None:
    site.install("acme-words", entries={"tools": {"word_count": "acme_words:word_count"}}, acme_words=WORDS)
    on = Started(tmp_path, {"word_count": True})
    with pytest.raises(PluginError, match="Installed are: word_count"):
        on.registry.one("tools", "nothing")
    with pytest.raises(PluginError, match="None is installed"):
        on.registry.one("providers", "nothing")


def test_a_kind_that_there_is_not_is_refused(site: Any, tmp_path: Path) -> None:
    site.install("acme-words", entries={"tool": {"word_count": "acme_words:word_count"}}, acme_words=WORDS)
    on = Started(tmp_path, {"word_count": True})
    assert "there is no kind of plugin 'tool'" in on.told


def test_a_misspelt_event_is_told_with_the_plugins_own_line(tmp_path: Path, site: Any) -> None:
    code = "from toolpost import on\n\n\n@on.pre_tool_uze\ndef look(event): ...\n"
    site.install("acme-look", entries={"lifecycle": {"look": "acme_look"}}, acme_look=code)
    started = Started(tmp_path, {"look": True})

    started.registry.collect("lifecycle")
    text = started.problems[-1].text
    assert "Did you mean 'pre_tool_use'?" in text
    assert text.endswith(f"({site.folder / 'acme_look.py'}:4)")


def test_an_import_that_is_missing_is_told_with_the_plugins_own_line(tmp_path: Path, site: Any) -> None:
    code = "from importlib import import_module\n\nimport_module('acme_nowhere')\n"
    site.install("acme-look", entries={"lifecycle": {"look": "acme_look"}}, acme_look=code)
    started = Started(tmp_path, {"look": True})

    started.registry.collect("lifecycle")
    assert started.problems[-1].text.endswith(f"({site.folder / 'acme_look.py'}:3)")
