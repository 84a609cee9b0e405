"""The section's text, from the repository's files and three git processes that run at the same time."""

from __future__ import annotations

import asyncio

from toolpost import SessionScope
from toolpost_context_git.command import Command, git_command
from toolpost_context_git.repository import Repository

LIMIT = 2_000
_STATUS_LINES = 30


async def describe(repository: Repository, scope: SessionScope, *, commits: int, timeout: float) -> str:
    """Return the text; empty if git is not installed or refuses the repository."""
    git = git_command(repository, scope, timeout)
    if git is None:
        return ""
    if repository.may_name_filters:
        git = await _without_filters(git)
        if git is None:
            return ""
    async with asyncio.TaskGroup() as group:
        # Status takes longest, so it starts first.
        status = group.create_task(git.run("status", "--porcelain", "--no-renames", "--ignore-submodules=dirty"))
        log = group.create_task(git.run("log", f"-{commits}", "--no-decorate", "--no-color", "--format=%h %s"))
        user = group.create_task(git.run("config", "user.name"))
        main = repository.main_branch
        branch = repository.branch
        if branch == ".invalid":  # the repository keeps its branches in a table and not in files
            branch = (await git.run("symbolic-ref", "--short", "HEAD") or "").strip()
    if status.result() is None and log.result() is None:
        return ""
    lines = [
        "# Git, as it stood when the session began (it is not updated)",
        f"Branch: {branch}",
        *([f"Main branch: {main}"] if main else []),
        *([f"User: {name}"] if (name := (user.result() or "").strip()) else []),
        *_block("Status", status.result(), "nothing changed"),
        *_block("Last commits, newest first", log.result() if repository.has_commits else "", "none yet"),
    ]
    return _within(LIMIT, lines)


async def _without_filters(git: Command) -> Command | None:
    """Switch off the filter programs that the repository's own configuration names; those of the user stay."""
    # core.hooksPath is among what we set ourselves, so that git finds something and a failure is not taken for nothing.
    asked = ("config", "--includes", "--show-scope", "--name-only", "--get-regexp", r"^(filter\.|core\.hookspath$)")
    listed = await git.run(*asked)
    if listed is None:
        return None
    keys = (line.partition("\t") for line in listed.splitlines())
    ours = [key for scope, _, key in keys if scope in ("local", "worktree") and key.startswith("filter.")]
    return git.with_settings({key: "false" if key.endswith(".required") else "" for key in ours})


def _block(title: str, output: str | None, nothing: str) -> list[str]:
    if output is None:
        return [f"{title}: not known, git did not answer in time or refused"]
    found = ["".join(c if c.isprintable() else "?" for c in line) for line in output.splitlines()]
    if not found:
        return [f"{title}: {nothing}"]
    more = len(found) - _STATUS_LINES
    return [f"{title}:", *found[:_STATUS_LINES], *([f"… and {more} more"] if more > 0 else [])]


def _within(limit: int, lines: list[str]) -> str:
    text = "\n".join(line if len(line) <= 160 else f"{line[:159]}…" for line in lines)
    return text if len(text) <= limit else f"{text[: limit - 13].rstrip()}\n… (cut off)"
