from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from toolpost import (
    Allow,
    Decision,
    Permissions,
    PermissionScope,
    PermissionState,
    Rule,
    Sandbox,
    Sandboxes,
    SandboxPolicy,
    Tool,
    ToolFailed,
    Violation,
    Wrapped,
)
from toolpost.testing import make_context, make_scope
from toolpost_service_confinement.service import SettingsConfinement


class Recorder(Sandbox):
    """A sandbox that keeps what it is asked for and holds nothing in; `found` are its violations."""

    platform = "any"
    policies: list[SandboxPolicy] = field(default_factory=list)
    found: tuple[Violation, ...] = ()

    def unusable(self) -> str | None:
        return None

    async def wrap(self, argv: Sequence[str], env: Mapping[str, str], policy: SandboxPolicy) -> Wrapped:
        self.policies.append(policy)

        async def finish() -> Sequence[Violation]:
            return self.found

        return Wrapped(argv=("held", *argv), env=env, finish=finish)


@dataclass
class Session:
    """A session in `folder`, with a home folder beside it."""

    folder: Path
    sandbox: Recorder | None = field(default_factory=Recorder)
    settings: dict[str, Any] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    interactive: bool = False
    home: Path | None = None

    @property
    def scope(self) -> PermissionScope:
        scope = make_context(self.folder).scope
        sandbox = {"enabled": True, **self.settings} if self.sandbox else None
        return replace(scope, sandbox=sandbox, home=self.home or scope.home)

    def usable(self) -> Sandbox | None:
        return self.sandbox

    async def check(
        self, tool_name: str, tool_input: Mapping[str, Any], *, stand_in: Tool[Any] | None = None
    ) -> Decision:
        assert stand_in is not None
        assert stand_in.name == tool_name
        self.asked.append(f"{tool_name} {tool_input['url']}")
        return Allow()

    def confinement(self) -> SettingsConfinement:
        services = {PermissionState: self, Sandboxes: self, Permissions: self}
        return SettingsConfinement(make_scope(self.folder, services=services, interactive=self.interactive))

    async def policy(self, **more: Any) -> SandboxPolicy:
        confinement = self.confinement()
        await confinement.enter(("true",), env={}, **more)
        await confinement.aclose()
        assert self.sandbox is not None
        return self.sandbox.policies[-1]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    (tmp_path / "project-home").mkdir()
    return Session(folder)


async def test_the_workspace_the_temporary_folder_and_what_is_asked_for_are_writable(session: Session) -> None:
    confinement = session.confinement()
    wrapped = await confinement.enter(("ls",), env={"A": "b"}, writable=(session.folder / "told",))
    assert wrapped.argv == ("held", "ls")
    temporary = Path(wrapped.env["TMPDIR"])
    assert session.sandbox is not None
    assert session.sandbox.policies[0].writable == (session.folder, temporary, session.folder / "told")
    assert temporary.is_dir()
    await confinement.aclose()
    assert not temporary.exists()


async def test_places_that_run_code_are_read_only_also_before_they_are_there(session: Session) -> None:
    (session.folder / ".bashrc").write_text("")
    (session.folder / "deep/er/.claude").mkdir(parents=True)
    policy = await session.policy()
    names = {str(path.relative_to(session.folder)) for path in policy.read_only if path.is_relative_to(session.folder)}
    assert names == {".git", ".toolpost", ".claude", ".mcp.json", ".bashrc", "deep/er/.claude"}


async def test_of_a_repository_hooks_and_configuration_are_read_only_and_the_rest_is_not(session: Session) -> None:
    for git in (session.folder / ".git", session.folder / "vendor/lib/.git"):
        git.mkdir(parents=True)
        (git / "config").write_text("")
    policy = await session.policy()
    git = session.folder / ".git"
    assert {git / "hooks", git / "config", session.folder / "vendor/lib/.git/hooks"} <= set(policy.read_only)
    assert git not in policy.read_only


async def test_a_file_that_points_to_a_repository_is_read_only(session: Session) -> None:
    (session.folder / ".git").write_text("gitdir: elsewhere")
    assert session.folder / ".git" in (await session.policy()).read_only


async def test_paths_of_the_settings_are_read_from_root_home_and_project(session: Session) -> None:
    home = session.scope.home
    session.settings["filesystem"] = {
        "allowWrite": ["/srv/data", "//srv/more/**", "~/cache"],
        "denyWrite": ["docs", "./out/"],
        "denyRead": ["~/.ssh", "~"],
        "allowRead": ["~/.nvm"],
    }
    policy = await session.policy()
    assert {Path("/srv/data"), Path("/srv/more"), home / "cache"} <= set(policy.writable)
    assert {session.folder / "docs", session.folder / "out", home / ".nvm"} <= set(policy.read_only)
    assert set(policy.hidden) == {home / ".ssh", home}


async def test_rules_for_files_count_too(session: Session) -> None:
    (session.folder / "a").mkdir()
    (session.folder / "a/.env").write_text("SECRET=1")
    session.rules += [
        Rule.parse("Edit(//srv/site/**)", "allow"),
        Rule.parse("Edit(/locked/**)", "deny", root=session.folder),
        Rule.parse("Read(.env)", "deny"),
        Rule.parse("Read(~/keys/**)", "deny"),
        Rule.parse("Read(//srv/pub/**)", "allow"),
    ]
    policy = await session.policy()
    assert Path("/srv/site") in policy.writable
    assert session.folder / "locked" in policy.read_only
    assert set(policy.hidden) == {session.folder / "a/.env", session.scope.home / "keys"}


async def test_without_a_domain_and_with_nobody_to_ask_there_is_no_network(session: Session) -> None:
    policy = await session.policy()
    assert (policy.network, policy.gateway) == (False, None)


async def test_a_domain_opens_a_gateway_and_nothing_else(session: Session) -> None:
    session.settings["network"] = {"allowedDomains": ["a.example"], "deniedDomains": ["b.example"]}
    policy = await session.policy()
    assert policy.network
    assert policy.gateway is not None
    assert (policy.allowed_domains, policy.denied_domains) == (("a.example",), ("b.example",))
    assert not policy.unix_sockets


async def test_where_somebody_can_be_asked_there_is_a_gateway_unless_the_list_is_strict(session: Session) -> None:
    session.interactive = True
    assert (await session.policy()).gateway is not None
    session.settings["network"] = {"strictAllowlist": True}
    assert (await session.policy()).gateway is None


async def test_only_the_network_is_held_back_for_what_asks_for_that(session: Session) -> None:
    policy = await session.policy(network_only=True)
    bare = SandboxPolicy(writable=(Path("/"),), unix_sockets=True, own_processes=False, stash=policy.stash)
    assert policy == bare


async def test_variables_with_secrets_are_taken_out_and_their_files_hidden(session: Session) -> None:
    session.settings["credentials"] = {
        "envVars": [{"name": "TOKEN", "mode": "deny"}],
        "files": [{"path": "~/.netrc", "mode": "mask"}],
    }
    confinement = session.confinement()
    wrapped = await confinement.enter(("true",), env={"TOKEN": "x", "KEPT": "y"})
    await confinement.aclose()
    assert "TOKEN" not in wrapped.env
    assert wrapped.env["KEPT"] == "y"
    assert session.sandbox is not None
    assert session.sandbox.policies[0].hidden == (session.scope.home / ".netrc",)


async def test_without_a_sandbox_nothing_is_started(session: Session) -> None:
    session.sandbox = None
    confinement = session.confinement()
    assert not confinement.in_force
    with pytest.raises(ToolFailed, match="not started"):
        await confinement.enter(("true",), env={})


async def test_violations_are_told_once_and_without_those_that_are_ignored(session: Session) -> None:
    found = [
        Violation("connect", "a.example:443"),
        Violation("connect", "a.example:443"),
        Violation("write", "/x/cache/y"),
    ]
    session.sandbox = Recorder(found=tuple(found))
    session.settings["ignoreViolations"] = {"npm": ["/x/cache"], "*": ["b.example"]}
    confinement = session.confinement()
    for command, expected in (("npm test", found[:1]), ("make", [found[0], found[2]])):
        wrapped = await confinement.enter(("true",), env={}, command=command)
        assert list(await wrapped.finish()) == expected
    await confinement.aclose()


@pytest.mark.parametrize("planted", ["bare", "commondir", "link"])
async def test_what_no_mount_keeps_out_is_taken_away_afterwards(session: Session, planted: str) -> None:
    git = session.folder / ".git"
    (git / "shared-hooks").mkdir(parents=True)
    (git / "config").write_text("")
    (git / "hooks").symlink_to("shared-hooks")
    confinement = session.confinement()
    wrapped = await confinement.enter(("true",), env={})
    if planted == "bare":
        for name in ("objects", "refs"):
            (session.folder / name).mkdir()
        (session.folder / "HEAD").write_text("ref: refs/heads/main")
    elif planted == "commondir":
        (git / "commondir").write_text("../evil")
    else:
        (git / "hooks").unlink()
        (git / "hooks").mkdir()
        (git / "hooks/pre-commit").write_text("#!/bin/sh\nevil")
    violations = await wrapped.finish()
    await confinement.aclose()
    assert [violation.action for violation in violations] == ["write"]
    assert not (session.folder / "HEAD").exists()
    assert not (git / "commondir").exists()
    assert os.readlink(git / "hooks") == "shared-hooks"  # noqa: PTH115 - as it stands


async def test_what_commands_could_put_a_link_in_the_place_of_is_not_writable_by_its_name(session: Session) -> None:
    (session.folder / "build").symlink_to(session.scope.home)
    session.settings["filesystem"] = {"allowWrite": ["./build", "./docs/out", "/srv/data"], "denyWrite": ["./docs"]}
    policy = await session.policy()
    assert session.folder / "build" not in policy.writable
    assert {session.folder, session.folder / "docs/out", Path("/srv/data")} <= set(policy.writable)


async def test_putting_a_link_back_leads_to_no_other_folder(session: Session) -> None:
    deep, elsewhere = session.folder / "deep", session.scope.home / "elsewhere"
    deep.mkdir()
    (deep / ".claude").symlink_to("/nowhere")
    (elsewhere / ".claude").mkdir(parents=True)
    confinement = session.confinement()
    wrapped = await confinement.enter(("true",), env={})
    deep.rename(session.folder / "moved")
    deep.symlink_to(elsewhere)
    await wrapped.finish()
    await confinement.aclose()
    assert (elsewhere / ".claude").is_dir()
    assert not (elsewhere / ".claude").is_symlink()


async def test_where_the_home_folder_is_writable_start_up_files_are_kept_from_being_made(session: Session) -> None:
    home = session.scope.home
    assert home / ".bash_profile" not in (await session.policy()).read_only
    session.settings["filesystem"] = {"allowWrite": ["~"]}
    assert {home / ".bash_profile", home / ".ssh", home / ".gitconfig"} <= set((await session.policy()).read_only)


@pytest.mark.parametrize("above", [0, 1, -1])
async def test_a_working_directory_that_holds_the_home_folder_is_not_written_to(session: Session, above: int) -> None:
    session.home = home = session.scope.home
    session.folder = home.parents[above]
    policy = await session.policy()
    assert [path for path in policy.writable if home.is_relative_to(path)] == []
    session.settings["filesystem"] = {"allowWrite": [str(home)]}
    assert home in (await session.policy()).writable
