"""Events of a session's life."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from toolpost._hooks import event
from toolpost.events._base import BlockOutcome, EventBase, Outcome, merged


@dataclass(frozen=True, kw_only=True)
class SessionStart(EventBase):
    """A session began, or began anew."""

    source: Literal["startup", "resume", "clear", "compact", "fork"] = "startup"
    model: str = ""
    session_title: str | None = None


@dataclass(frozen=True, kw_only=True)
class SessionStartOutcome(Outcome):
    """What a session begins with: a message before the person's first, a title, files to watch."""

    initial_user_message: str = ""
    session_title: str = ""
    watch_paths: tuple[str, ...] = ()


@event("observe", merged)
def session_start(event: SessionStart) -> SessionStartOutcome | None:
    """When a session begins.

    When: before its first prompt is taken; again after resume, /clear and compaction. How often: once each. Answer:
    `additional_context` goes before the first prompt. Merge: texts joined. Failure: reported.
    """


@dataclass(frozen=True, kw_only=True)
class SessionEnd(EventBase):
    """A session ends."""

    reason: Literal["clear", "resume", "logout", "prompt_input_exit", "other"] = "other"


@event("observe", merged, deadline=1.5)
def session_end(event: SessionEnd) -> Outcome | None:
    """When a session ends.

    When: after its last turn, before its files are closed. How often: once. Answer: none. Failure: reported; after
    1.5 s it is left behind.
    """


@dataclass(frozen=True, kw_only=True)
class Setup(EventBase):
    """A project is set up or maintained, by `--init` or `--maintenance`."""

    trigger: Literal["init", "maintenance"] = "init"


@event("observe", merged, deadline=600.0)
def setup(event: Setup) -> Outcome | None:
    """When a project is set up.

    When: before SessionStart, only where asked for. How often: once. Answer: `additional_context`. Failure: reported.
    """


@dataclass(frozen=True, kw_only=True)
class InstructionsLoaded(EventBase):
    """An instructions file came into the prompt."""

    file_path: Path
    memory_type: Literal["User", "Project", "Local", "Managed"] = "Project"
    load_reason: Literal["session_start", "nested_traversal", "path_glob_match", "include", "compact"] = "session_start"
    globs: tuple[str, ...] = ()
    trigger_file_path: Path | None = None
    parent_file_path: Path | None = None


@event("observe", merged)
def instructions_loaded(event: InstructionsLoaded) -> Outcome | None:
    """When an instructions file was read.

    When: after reading, before it is sent. How often: once a file and reason. Answer: none. Failure: reported.
    """


ConfigSource: TypeAlias = Literal["user_settings", "project_settings", "local_settings", "policy_settings", "skills"]


@dataclass(frozen=True, kw_only=True)
class ConfigChange(EventBase):
    """A settings or skills file changed while the session runs."""

    source: ConfigSource = "user_settings"
    file_path: Path | None = None


@event("decide", merged)
def config_change(event: ConfigChange) -> BlockOutcome | None:
    """When a settings file changed.

    When: before the change is applied. How often: once a change. Answer: `block` leaves the old settings in force,
    except for policy. Merge: any block blocks. Failure: blocks.
    """


@dataclass(frozen=True, kw_only=True)
class CwdChanged(EventBase):
    """The current folder changed."""

    old_cwd: Path
    new_cwd: Path


@dataclass(frozen=True, kw_only=True)
class WatchOutcome(Outcome):
    """More files to watch."""

    watch_paths: tuple[str, ...] = ()


@event("observe", merged)
def cwd_changed(event: CwdChanged) -> WatchOutcome | None:
    """When the current folder changed.

    When: after the call that changed it. How often: once a change. Answer: `watch_paths`. Merge: joined. Failure:
    reported.
    """


@dataclass(frozen=True, kw_only=True)
class DirectoryAdded(EventBase):
    """A working directory was added."""

    directory: Path
    source: Literal["slash_command", "register_repo_root"] = "slash_command"


@event("observe", merged, preview=True)
def directory_added(event: DirectoryAdded) -> Outcome | None:
    """When a working directory was added (preview).

    When: after it counts. How often: once a directory. Answer: none. Failure: reported.
    """
