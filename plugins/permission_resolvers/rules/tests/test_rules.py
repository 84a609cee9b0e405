from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from toolpost import CommandPart, Decision, PermissionRequest, Rule, tool
from toolpost.permissions import Behavior
from toolpost.testing import make_context
from toolpost_permission_resolver_rules import Rules


def rules(**texts: Sequence[str]) -> list[Rule]:
    return [Rule.parse(text, behavior, file="settings.json", line=3) for behavior in texts for text in texts[behavior]]  # type: ignore[arg-type]


async def ask(folder: Path, tool: str, given: dict[str, Any], held: list[Rule], **more: Any) -> Decision | None:
    scope = replace(make_context(folder).scope, **more.pop("scope", {}))
    more["tool"] = more.pop("tool_object", None)
    path = given.get("file_path", given.get("path"))
    request = PermissionRequest(tool_name=tool, tool_input=given, scope=scope, rules=held, path=path, **more)
    return await Rules().resolve(request)


def behavior(decision: Decision | None) -> Behavior | None:
    return decision.behavior if decision else None


async def test_deny_beats_ask_beats_allow(tmp_path: Path) -> None:
    held = rules(allow=["WebFetch"], ask=["WebFetch"])
    assert behavior(await ask(tmp_path, "WebFetch", {"url": "https://a.example"}, held)) == "ask"
    held += rules(deny=["WebFetch(domain:a.example)"])
    denied = await ask(tmp_path, "WebFetch", {"url": "https://a.example"}, [*held[:1], held[-1]])
    assert behavior(denied) == "deny"


async def test_a_decision_names_its_rule_with_file_and_line(tmp_path: Path) -> None:
    denied = await ask(tmp_path, "WebFetch", {"url": "https://a.example"}, rules(deny=["WebFetch"]))
    assert denied is not None
    assert "settings.json:3" in denied.reason
    assert denied.rule is not None


@pytest.mark.parametrize(
    ("rule", "tool", "covers"),
    [
        ("mcp__github", "mcp__github__get", True),
        ("mcp__github__*", "mcp__github__get", True),
        ("mcp__github__get_*", "mcp__github__create", False),
        ("mcp__git", "mcp__github__get", False),
        ("*", "mcp__github__get", False),
        ("mcp__*", "mcp__github__get", False),
    ],
)
async def test_allow_rules_for_servers(rule: str, tool: str, covers: bool, tmp_path: Path) -> None:
    assert behavior(await ask(tmp_path, tool, {}, rules(allow=[rule]))) == ("allow" if covers else None)


@pytest.mark.parametrize("rule", ["*", "mcp__*", "mcp__github", "mcp__*__get", "mcp__github__get"])
async def test_deny_rules_may_leave_more_open(rule: str, tmp_path: Path) -> None:
    assert behavior(await ask(tmp_path, "mcp__github__get", {}, rules(deny=[rule]))) == "deny"


@pytest.mark.parametrize(
    ("rule", "path", "covers"),
    [
        ("Read(.env)", ".env", True),
        ("Read(.env)", "sub/.env", True),
        ("Read(.env)", ".ENV", True),
        ("Read(.env)", ".env2", False),
        ("Read(secrets/**)", "secrets/a/b", True),
        ("Read(secrets/**)", "deep/secrets/a", True),
        ("Read(secrets/**)", "secrets-public/a", False),
        ("Read(./secrets/**)", "deep/secrets/a", False),
        ("Read(/secrets/**)", "secrets/a", True),
        ("Read(**/*.key)", "a/b/c.key", True),
        ("Read(*.key)", "a/c.key", True),
        ("Read(src/*/x)", "src/a/x", True),
        ("Read(src/*/x)", "src/a/b/x", False),
        ("Read(src/[ab].py)", "src/a.py", True),
        ("Read(src/a?.py)", "src/ab.py", True),
        ("Read(src)", "src/deep/a.py", True),
        ("Read(.env)", "./x/../.env", True),
        ("Read(.env)", ".env.", True),
        ("Read(.env)", ".env::$DATA", True),
        ("Read( .env )", ".env", True),
    ],
)
async def test_path_patterns(rule: str, path: str, covers: bool, tmp_path: Path) -> None:
    decision = await ask(tmp_path, "Read", {"file_path": path}, rules(deny=[rule]))
    assert behavior(decision) == ("deny" if covers else "allow")


async def test_patterns_are_anchored_where_their_prefix_says(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    project.mkdir()
    held = rules(allow=["Read(~/notes/**)", "Read(//etc/hosts)", "Read(/etc/passwd)"])
    scope = {"home": home}
    assert behavior(await ask(project, "Read", {"file_path": "~/notes/a"}, held, scope=scope)) == "allow"
    assert behavior(await ask(project, "Read", {"file_path": "/etc/hosts"}, held, scope=scope)) == "allow"
    assert behavior(await ask(project, "Read", {"file_path": "/etc/passwd"}, held, scope=scope)) is None


async def test_a_link_is_judged_by_both_of_its_ends(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (outside / "secret").touch()
    (project / ".env").touch()
    (project / "out").symlink_to(outside / "secret")
    (project / "in").symlink_to(".env")
    assert behavior(await ask(project, "Read", {"file_path": "out"}, rules(allow=["Read(./**)"]))) is None
    assert behavior(await ask(project, "Read", {"file_path": "in"}, rules(deny=["Read(.env)"]))) == "deny"


async def test_what_must_not_be_read_must_not_be_edited(tmp_path: Path) -> None:
    held = rules(deny=["Read(a/**)"], allow=["Edit"])
    assert behavior(await ask(tmp_path, "Write", {"file_path": "a/b", "content": ""}, held)) == "deny"
    assert behavior(await ask(tmp_path, "Write", {"file_path": "b", "content": ""}, held)) == "allow"


@pytest.mark.parametrize(
    "path", [".git/config", "sub/.GIT/hooks/x", ".claude/./settings.json", "~/.bashrc", "HEAD", ".git"]
)
async def test_no_rule_opens_a_protected_place(path: str, tmp_path: Path) -> None:
    held = rules(allow=["Edit", "Edit(**)", "Edit(~/**)"])
    assert behavior(await ask(tmp_path, "Write", {"file_path": path, "content": ""}, held)) == "ask"


@pytest.mark.parametrize("path", ["~root/x", "file:///etc/passwd", "a\0b", "/" * 5000])
async def test_a_path_that_can_not_be_judged_is_asked_about(path: str, tmp_path: Path) -> None:
    assert behavior(await ask(tmp_path, "Read", {"file_path": path}, [])) == "ask"


@pytest.mark.parametrize("pattern", ["../**/*.key", "/etc/**", "src/../../**", "~/**"])
async def test_a_glob_that_leaves_the_project_is_no_plain_read(pattern: str, tmp_path: Path) -> None:
    assert behavior(await ask(tmp_path, "Glob", {"pattern": pattern}, [])) != "allow"


@pytest.mark.parametrize(
    ("rule", "url", "covers"),
    [
        ("example.com", "https://example.com/a", True),
        ("example.com", "https://EXAMPLE.com./a", True),
        ("example.com", "https://api.example.com/", False),
        ("*.example.com", "https://a.b.example.com/", True),
        ("*.example.com", "https://example.com/", False),
        ("*.example.com", "https://evil-example.com/", False),
        ("example.com", "https://example.com.evil.example/", False),
        ("example.com", "https://example.com@evil.example/", False),
        ("*.example.com", "https://evil.example\x00.example.com/", False),
        ("example.com", "https://evil.example\\@example.com/", False),
        ("example.com", "file://example.com/", False),
        ("*", "https://any.example/", True),
    ],
)
async def test_domains(rule: str, url: str, covers: bool, tmp_path: Path) -> None:
    held = rules(allow=[f"WebFetch(domain:{rule})"])
    assert behavior(await ask(tmp_path, "WebFetch", {"url": url}, held)) == ("allow" if covers else None)


@pytest.mark.parametrize(
    "url",
    [
        "https://user@example.com/",
        "https://example.com@x.example/",
        "https://example.com\\x",
        "https://ex%61mple.com/",
        "\thttps://example.com/",
        "https:/example.com/",
        "https://example.com\u3002",
    ],
)
async def test_no_spelling_of_a_url_gets_past_a_rule_against_its_host(url: str, tmp_path: Path) -> None:
    held = rules(deny=["WebFetch(domain:example.com)"], allow=["WebFetch"])
    assert behavior(await ask(tmp_path, "WebFetch", {"url": url}, held)) in ("ask", "deny")
    assert behavior(await ask(tmp_path, "WebFetch", {"url": url}, rules(allow=["WebFetch"]))) == "allow"


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f.1", "017700000001", "[::ffff:127.0.0.1]"])
async def test_an_address_is_the_same_however_it_is_written(host: str, tmp_path: Path) -> None:
    held = rules(deny=["WebFetch(domain:127.0.0.1)"], allow=["WebFetch"])
    assert behavior(await ask(tmp_path, "WebFetch", {"url": f"http://{host}:80/"}, held)) == "deny"


@pytest.mark.parametrize("name", ["deploy", "/deploy", " deploy"])
async def test_a_skill_is_denied_however_its_name_is_given(name: str, tmp_path: Path) -> None:
    held = rules(deny=["Skill(deploy)"], allow=["Skill"])
    assert behavior(await ask(tmp_path, "Skill", {"skill": name}, held)) == "deny"


async def test_single_parameters_can_be_denied_and_not_allowed(tmp_path: Path) -> None:
    given = {"model": "opus-4", "prompt": "x", "subagent_type": "Explore"}
    assert behavior(await ask(tmp_path, "Agent", given, rules(deny=["Agent(model:opus*)"]))) == "deny"
    assert behavior(await ask(tmp_path, "Agent", given, rules(allow=["Agent(model:opus*)"]))) is None
    assert behavior(await ask(tmp_path, "Agent", given, rules(deny=["Task(Explore)"]))) == "deny"
    assert behavior(await ask(tmp_path, "Skill", {"skill": "deploy-prod"}, rules(allow=["Skill(deploy)"]))) is None


@dataclass(frozen=True)
class Matcher:
    """What a tool made of parts hands over; a specifier covers a part whose text begins with it."""

    parts: Sequence[CommandPart]
    doubt: str = ""

    def matches(self, part: CommandPart, specifier: str, behavior: Behavior) -> bool:
        return part.text.startswith(specifier)


async def test_every_part_must_be_allowed_and_one_denied_part_denies(tmp_path: Path) -> None:
    matcher = Matcher((CommandPart("make"), CommandPart("list", read_only=True)))
    held = rules(allow=["Bash(make)"])
    allowed = await ask(tmp_path, "Bash", {}, held, matcher=matcher)
    assert behavior(allowed) == "allow"
    assert [verdict.behavior for verdict in allowed.parts] == ["allow", "allow"]  # type: ignore[union-attr]
    assert behavior(await ask(tmp_path, "Bash", {}, [], matcher=matcher)) is None
    held += rules(deny=["Bash(list)"])
    assert behavior(await ask(tmp_path, "Bash", {}, held, matcher=matcher)) == "deny"


async def test_files_of_a_part_are_held_against_the_path_rules(tmp_path: Path) -> None:
    write = Matcher((CommandPart("> a", writes=(tmp_path / "a",)),))
    assert behavior(await ask(tmp_path, "Bash", {}, rules(allow=["Edit(a)"]), matcher=write)) == "allow"
    assert behavior(await ask(tmp_path, "Bash", {}, rules(deny=["Edit(a)"], allow=["Bash"]), matcher=write)) == "deny"
    assert behavior(await ask(tmp_path, "Bash", {}, [], matcher=write, scope={"mode": "acceptEdits"})) == "allow"
    outside = Matcher((CommandPart("show", read_only=True, reads=(tmp_path.parent / "a",)),))
    assert behavior(await ask(tmp_path, "Bash", {}, [], matcher=outside)) is None


async def test_a_denied_file_below_a_folder_that_is_read_denies(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".env").touch()
    (tmp_path / "other").mkdir()
    held = rules(deny=["Read(.env)"])
    tree = Matcher((CommandPart("search", read_only=True, reads=(tmp_path / "**",)),))
    other = Matcher((CommandPart("search", read_only=True, reads=(tmp_path / "other" / "**",)),))
    assert behavior(await ask(tmp_path, "Bash", {}, held, matcher=tree)) == "deny"
    assert behavior(await ask(tmp_path, "Bash", {}, held, matcher=other)) == "allow"


@pytest.mark.parametrize(
    ("names", "rule", "answer"),
    [
        ("*.py", "Read(.env)", "allow"),
        ("*.py", "Read(*.py)", "deny"),
        ("*.py", "Read(sub/**)", "deny"),
        ("*", "Read(.env)", "deny"),
        (".e*", "Read(.env)", "deny"),
        ("*.md", "Read(.env)", "deny"),  # a link leads there
    ],
)
async def test_what_keeps_to_names_is_held_against_rules_about_those(
    names: str, rule: str, answer: Behavior, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    for name in (".env", "a.py", "sub/b.py"):
        (tmp_path / name).touch()
    (tmp_path / "link.md").symlink_to(".env")
    search = Matcher((CommandPart("search", read_only=True, reads=(tmp_path / "**" / names,)),))
    assert behavior(await ask(tmp_path, "Bash", {}, rules(deny=[rule]), matcher=search)) == answer


async def test_many_files_that_no_rule_is_about_are_no_reason_to_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolpost_permission_resolver_rules.trees.MOST_FOUND", 3)
    for number in range(20):
        (tmp_path / f"{number}.js").touch()
    search = Matcher((CommandPart("search", read_only=True, reads=(tmp_path / "**",)),))
    removal = Matcher((CommandPart("remove", writes=(tmp_path / "**",)),))
    assert (
        behavior(await ask(tmp_path, "Bash", {}, rules(deny=["Read(.env)", "Read(*.pem)"]), matcher=search)) == "allow"
    )
    held = rules(deny=["Edit(.env)"], allow=["Bash"])
    assert behavior(await ask(tmp_path / "sub", "Bash", {}, held, matcher=removal)) == "allow"
    (tmp_path / "key.PEM").touch()
    assert behavior(await ask(tmp_path, "Bash", {}, rules(deny=["Read(*.pem)"]), matcher=search)) == "deny"


async def test_a_folder_that_is_too_big_to_look_through_is_asked_about_where_a_rule_forbids_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolpost_permission_resolver_rules.trees.MOST_ENTRIES", 3)
    for number in range(5):
        (tmp_path / str(number)).touch()
    search = Matcher((CommandPart("search", read_only=True, reads=(tmp_path / "**",)),))
    decision = await ask(tmp_path, "Bash", {}, rules(deny=["Read(.env)"], allow=["Bash"]), matcher=search)
    assert behavior(decision) == "ask"
    assert decision is not None
    assert f"too much lies below {tmp_path} to see whether Read(.env) covers any of it" in decision.reason


async def test_a_search_in_a_folder_of_which_all_is_denied_is_denied(tmp_path: Path) -> None:
    (tmp_path / "secrets" / "deep").mkdir(parents=True)
    held = rules(deny=["Read(secrets/**)"])
    for folder in ("secrets", "secrets/deep"):
        assert behavior(await ask(tmp_path, "Grep", {"pattern": "x", "path": folder}, held)) == "deny"
    assert behavior(await ask(tmp_path, "Grep", {"pattern": "x", "path": "."}, held)) == "allow"


@pytest.mark.parametrize(
    ("unseen", "rule", "answer"),
    [
        ("reads", "Read(.env)", "ask"),
        ("reads", "Edit(.env)", "allow"),
        ("writes", "Edit(src/**)", "ask"),
        ("writes", "Read(.env)", "allow"),
    ],
)
async def test_files_that_only_running_names_are_asked_about_where_a_rule_forbids_some(
    unseen: Any, rule: str, answer: Behavior, tmp_path: Path
) -> None:
    show = Matcher((CommandPart("show", doubt="which is not known", unseen=frozenset({unseen})),))
    for forbidding in ("deny", "ask"):
        held = rules(allow=["Bash"], **{forbidding: [rule]})
        assert behavior(await ask(tmp_path, "Bash", {}, held, matcher=show)) == answer
    assert behavior(await ask(tmp_path, "Bash", {}, rules(allow=["Bash"]), matcher=show)) == "allow"


@pytest.mark.parametrize("rule", ["Read(.env)", "Edit(.env)", "Write(.env)", "Edit(deep/**)"])
async def test_a_file_that_may_be_opened_or_not_is_asked_about_where_a_rule_forbids_it(
    rule: str, tmp_path: Path
) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    perhaps = (tmp_path / ".env", tmp_path / "deep" / "**")
    show = Matcher((CommandPart("show", doubt="which is not known", perhaps=perhaps),))
    for forbidding in ("deny", "ask"):
        held = rules(allow=["Bash"], **{forbidding: [rule]})
        assert behavior(await ask(tmp_path, "Bash", {}, held, matcher=show)) == "ask"
    for other in ("Read(other.env)", "Edit(deeper/**)"):
        held = rules(allow=["Bash"], deny=[other])
        assert behavior(await ask(tmp_path, "Bash", {}, held, matcher=show)) == "allow"


async def test_what_the_sandbox_keeps_need_not_be_asked_about(tmp_path: Path) -> None:
    show = Matcher((CommandPart("show", unseen=frozenset({"reads"})),))
    denied, asked = (rules(allow=["Bash"], **{kind: ["Read(.env)"]}) for kind in ("deny", "ask"))

    async def answer(held: list[Rule], sandbox: dict[str, Any] | None) -> Behavior | None:
        return behavior(await ask(tmp_path, "Bash", {}, held, matcher=show, scope={"sandbox": sandbox}))

    assert await answer(denied, {"enabled": True}) == "allow"
    assert await answer(denied, {"enabled": True, "excludedCommands": ["show"]}) == "ask"
    assert await answer(asked, {"enabled": True}) == "ask"
    assert await answer(denied, None) == "ask"


@pytest.mark.parametrize("path", ["/dev/sda", "/dev/mem", "~/.gdbinit", ".codex/config.toml", ".agents/x", ".mise/x"])
async def test_devices_and_other_tools_settings_are_protected_too(path: str, tmp_path: Path) -> None:
    for mode in ("acceptEdits", "bypassPermissions"):
        decision = await ask(tmp_path, "Write", {"file_path": path}, rules(allow=["Write"]), scope={"mode": mode})
        assert behavior(decision) == "ask"
    written = Matcher((CommandPart("> out", writes=(Path("/dev/null"), Path("/dev/shm/x"))),))
    assert behavior(await ask(tmp_path, "Bash", {}, rules(allow=["Bash"]), matcher=written)) == "allow"


async def test_what_would_take_the_project_or_the_home_folder_is_asked_about(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path.parent, Path("/")):
        removal = Matcher((CommandPart("remove", writes=(path,)),))
        assert behavior(await ask(tmp_path, "Bash", {}, rules(allow=["Bash"]), matcher=removal)) == "ask"


async def test_a_line_that_is_not_understood_is_allowed_by_no_rule(tmp_path: Path) -> None:
    matcher = Matcher((CommandPart("make"),), doubt="it is odd")
    assert behavior(await ask(tmp_path, "Bash", {}, rules(allow=["Bash(make)"]), matcher=matcher)) is None
    held = rules(allow=["Bash"], deny=["Bash(other)"])
    assert behavior(await ask(tmp_path, "Bash", {}, held, matcher=matcher)) == "ask"


async def test_a_rule_for_edits_opens_no_other_tool_and_a_rule_of_its_own_does(tmp_path: Path) -> None:
    given = {"path": "src/a"}
    assert behavior(await ask(tmp_path, "deploy", given, rules(allow=["Edit(src/**)", "Edit"]))) is None
    assert behavior(await ask(tmp_path, "deploy", given, rules(allow=["deploy(src/**)"]))) == "allow"
    assert behavior(await ask(tmp_path, "deploy", {"path": "b"}, rules(allow=["deploy(src/**)"]))) is None
    assert behavior(await ask(tmp_path, "deploy", given, rules(deny=["Edit(src/**)"], allow=["deploy"]))) == "deny"


@pytest.mark.parametrize("given", [{}, {"path": "a"}])
async def test_a_rule_that_denies_a_tool_by_its_old_name_still_does_and_one_that_allows_does_not(
    given: dict[str, Any], tmp_path: Path
) -> None:
    @tool(name="new", aliases=("old",))
    async def renamed(path: str = "") -> str:
        """Do it."""
        return path

    denied = await ask(tmp_path, "new", given, rules(deny=["old"]), tool_object=renamed)
    assert behavior(denied) == "deny"
    assert behavior(await ask(tmp_path, "new", given, rules(allow=["old"]), tool_object=renamed)) is None


async def test_a_folder_with_too_much_in_it_to_look_for_protected_places_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolpost_permission_resolver_rules.trees.MOST_ENTRIES", 3)
    for number in range(5):
        (tmp_path / "many" / str(number)).mkdir(parents=True)
    removal = Matcher((CommandPart("remove", writes=(tmp_path / "many" / "**",)),))
    assert behavior(await ask(tmp_path, "Bash", {}, [], matcher=removal, scope={"mode": "acceptEdits"})) == "ask"


async def test_only_the_own_kept_results_are_read_unasked(tmp_path: Path) -> None:
    project, own, other = (tmp_path / name for name in ("project", "a/tool-results", "b/tool-results"))
    for folder in (project, own, other):
        folder.mkdir(parents=True)
    (own / "away").symlink_to(other)
    scope = {"config_dir": tmp_path, "results_dir": own}

    async def read(path: Path) -> Behavior | None:
        return behavior(await ask(project, "Read", {"file_path": str(path)}, [], read_only=True, scope=scope))

    assert await read(own / "1.txt") == "allow"
    assert await read(other / "1.txt") is None
    assert await read(own / ".." / ".." / "b" / "tool-results" / "1.txt") is None
    assert await read(own / "away" / "1.txt") is None


async def test_a_memory_in_the_agents_own_folder_is_no_protected_place_for_edit_and_write(tmp_path: Path) -> None:
    project, config = tmp_path / "project", tmp_path / "state"
    memory = config / "projects/key/memory"
    for folder in (project, memory / ".git"):
        folder.mkdir(parents=True)
    (memory / "link.md").symlink_to(config / "settings.json")

    async def write(name: str, tool: str = "Write") -> Behavior | None:
        given = {"file_path": f"{memory}/{name}"}
        return behavior(await ask(project, tool, given, [], scope={"config_dir": config}))

    assert [await write("a.md"), await write("logs/2026/a.md", "Edit")] == [None, None]
    for name in ("a.sh", ".git/a.md", "link.md", "../a.md", "../../../settings.json", "../../memory/a.md"):
        assert await write(name) == "ask", name
    assert await write("a.md", "Strange") == "ask"


@pytest.mark.parametrize(
    ("rule", "url"),
    [
        ("[::1]", "http://[::1]/"),
        ("[::1]", "http://[0:0::1]:80/"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("bücher.example", "https://BÜCHER.example/"),
        ("*.bücher.example", "https://a.xn--bcher-kva.example/"),
    ],
)
async def test_a_host_is_denied_in_every_spelling(rule: str, url: str, tmp_path: Path) -> None:
    held = rules(deny=[f"WebFetch(domain:{rule})"], allow=["WebFetch"])
    assert behavior(await ask(tmp_path, "WebFetch", {"url": url}, held)) == "deny"


@pytest.mark.parametrize("pattern", [".", "./"])
async def test_a_rule_that_denies_the_folder_itself_denies_what_is_in_it(pattern: str, tmp_path: Path) -> None:
    denied = await ask(tmp_path, "Read", {"file_path": "src/a"}, rules(deny=[f"Read({pattern})"]))
    assert behavior(denied) == "deny"


async def test_another_name_of_the_working_folder_hides_nothing(tmp_path: Path) -> None:
    held = rules(deny=["Read(.env)"], allow=["Read"])
    assert behavior(await ask(tmp_path, "Read", {"file_path": "/proc/self/cwd/.env"}, held)) == "deny"
