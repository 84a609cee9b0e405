"""Plugins that somebody else wrote, installed beside the standard set: what a session makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_session import of_type, run
from fake_site import Site, fresh_site
from mock_messages_api import MockMessagesApi, tool_use, turn

from toolpost import LaunchOptions, Notice
from toolpost_core.api import open_session

ENTRY = {"tools": {"word_count": "acme_words:word_count"}}
WORDS = """
    from toolpost import tool

    @tool(read_only=True)
    async def word_count(text: str) -> str:
        "Count words."
        return "from acme_words"
"""
PROTECT = """
    from toolpost import PermissionResolver

    class Protect(PermissionResolver):
        folders: tuple[str, ...] = ("migrations",)

        async def resolve(self, request):
            return None
"""


class Started(Site):
    """A site, and a session of the standard set beside what is installed there."""

    def __init__(self, base: Path, folder: Path) -> None:
        super().__init__(folder)
        self.project, self.state = base / "project", base / "state"
        self.project.mkdir()

    def write(self, file: Path, plugins: Mapping[str, Any], **more: Any) -> Path:
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"plugins": plugins, **more}), encoding="utf-8")
        return file

    def user(self, plugins: Mapping[str, Any], **more: Any) -> Path:
        """Write the user's settings file."""
        return self.write(self.state / "settings.json", plugins, **more)

    def shared(self, plugins: Mapping[str, Any], **more: Any) -> Path:
        """Write the project's settings file."""
        return self.write(self.project / ".toolpost" / "settings.json", plugins, **more)

    async def offered(self, **options: Any) -> tuple[Sequence[str], Sequence[str]]:
        """Run two prompts, the first with a call; return the tools that were offered and the warnings that were shown."""
        call = tool_use("Read", {"file_path": str(self.project / "nothing.txt")})
        async with MockMessagesApi([turn(call), "Done.", "Done."]) as api:
            env = {
                "HOME": str(self.state.parent),
                "TOOLPOST_CONFIG_DIR": str(self.state),
                "ANTHROPIC_BASE_URL": api.url,
                "ANTHROPIC_API_KEY": "test",
            }
            async with open_session(LaunchOptions(cwd=self.project, **options), env=env) as session:
                events = [event for _ in range(2) for event in await run(session)]
            tools = [tool["name"] for tool in api.requests[-1].body["tools"]]
        return tools, [notice.text for notice in of_type(events, Notice)]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Started]:
    with fresh_site(tmp_path / "site") as made:
        yield Started(tmp_path.resolve(), made.folder)


@pytest.mark.requirement("plugins.third_party_is_off")
async def test_what_was_installed_is_neither_imported_nor_offered_until_the_user_turns_it_on(site: Started) -> None:
    mark = site.folder / "imported"
    site.install("acme-words", entries=ENTRY, acme_words=f"    open({str(mark)!r}, 'w').close()" + WORDS)
    tools, told = await site.offered()
    assert ("Read" in tools, "word_count" in tools, mark.exists(), told) == (True, False, False, [])

    site.user({"word_count": True})
    tools, told = await site.offered()
    assert ("word_count" in tools, mark.exists(), told) == (True, True, [])


@pytest.mark.requirement("plugins.project_turns_off_only")
async def test_a_project_that_is_not_trusted_takes_a_tool_away_and_brings_none(site: Started) -> None:
    site.install("acme-words", entries=ENTRY, acme_words=WORDS)
    site.shared({"word_count": True, "grep": False})
    tools, _ = await site.offered()
    assert [name in tools for name in ("Read", "Grep", "word_count")] == [True, False, False]

    tools, _ = await site.offered(trust=True)
    assert [name in tools for name in ("Read", "Grep", "word_count")] == [True, False, True]


@pytest.mark.requirement("plugins.failure_is_isolated")
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nothing_of_this_name", "No module named 'nothing_of_this_name'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("word_count = print", "which is no plugin"),
        ("", "has no attribute 'word_count'"),
    ],
)
async def test_a_plugin_that_can_not_be_loaded_is_named_once_and_the_session_goes_on(
    site: Started, code: str, said: str
) -> None:
    site.install("acme-words", entries=ENTRY, acme_words=code)
    site.user({"word_count": True})
    tools, told = await site.offered()

    assert ("Read" in tools, "word_count" in tools) == (True, False)
    (text,) = told
    assert "'word_count' (acme-words 1.0)" in text
    assert said in text


@pytest.mark.requirement("plugins.config_mistake_is_named")
async def test_a_mistake_in_a_config_is_named_with_its_file_and_the_session_goes_on_without_the_plugin(
    site: Started,
) -> None:
    entries = {**ENTRY, "permission_resolvers": {"protect": "acme_protect:Protect"}}
    site.install("acme-all", entries=entries, acme_words=WORDS, acme_protect=PROTECT)
    file = site.user({"protect": {"enabled": True, "config": {"folder": ["db"]}}, "word_count": True})
    tools, told = await site.offered()

    assert "word_count" in tools
    (text,) = told
    for part in ("'protect' (acme-all 1.0)", "'folder'", str(file), "Allowed are: folders (tuple[str, ...])"):
        assert part in text


@pytest.mark.requirement("plugins.version_range")
async def test_a_plugin_made_for_other_hookspecs_is_refused_with_both_versions(site: Started) -> None:
    site.install("acme-words", entries=ENTRY, requires=["toolpost-hookspecs>=2,<3"], acme_words="raise SystemExit")
    site.user({"word_count": True})
    tools, told = await site.offered()

    assert "word_count" not in tools
    (text,) = told
    assert "'word_count' (acme-words 1.0)" in text
    assert "made for toolpost-hookspecs >=2,<3, and 1." in text


@pytest.mark.requirement("plugins.same_tool_name")
@pytest.mark.parametrize("order", [("acme-a", "acme-b"), ("acme-b", "acme-a")])
async def test_of_two_tools_with_one_name_the_first_distributions_is_offered_and_both_are_named(
    site: Started, order: tuple[str, str]
) -> None:
    for number, name in enumerate(order):
        site.install(
            name, entries={"tools": {f"p{number}": f"words_{number}:word_count"}}, **{f"words_{number}": WORDS}
        )
    site.user({"p0": True, "p1": True})
    tools, told = await site.offered()

    assert tools.count("word_count") == 1
    (text,) = told
    used, unused = text.split(" is used, ")
    assert ("(acme-a)" in used, "(acme-b)" in unused) == (True, True)


@pytest.mark.requirement("plugins.same_tool_name")
async def test_a_tool_that_says_what_it_replaces_is_offered_in_its_place_without_a_word(site: Started) -> None:
    instead = WORDS.replace("read_only=True", 'read_only=True, overrides="first"').replace("Count words", "Instead")
    site.install("acme-a", entries={"tools": {"first": "words_a:word_count"}}, words_a=WORDS)
    site.install("acme-b", entries={"tools": {"second": "words_b:word_count"}}, words_b=instead)
    site.user({"first": True, "second": True})
    tools, told = await site.offered()

    assert (tools.count("word_count"), told) == (1, [])
