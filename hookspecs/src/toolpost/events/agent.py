"""Events of sub-agents, tasks, teams and worktrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolpost._hooks import event
from toolpost.events._base import BlockOutcome, EventBase, Outcome, merged


@dataclass(frozen=True, kw_only=True)
class SubagentStart(EventBase):
    """A sub-agent begins."""

    agent_id: str
    agent_type: str = ""


@event("observe", merged)
def subagent_start(event: SubagentStart) -> Outcome | None:
    """When a sub-agent begins.

    When: before its first request. How often: once. Answer: `additional_context` for the sub-agent. Failure: reported.
    """


@dataclass(frozen=True, kw_only=True)
class SubagentStop(EventBase):
    """A sub-agent ended its turn."""

    agent_id: str
    agent_type: str = ""
    stop_hook_active: bool = False
    agent_transcript_path: Path | None = None
    last_assistant_message: str = ""
    background_tasks: Sequence[Mapping[str, Any]] = ()
    session_crons: Sequence[Mapping[str, Any]] = ()


@event("observe", merged, deadline=600.0)
def subagent_stop(event: SubagentStop) -> BlockOutcome | None:
    """When a sub-agent ended its turn.

    When: before its result goes to the parent. How often: once an end. Answer: `block` with `reason` keeps it going.
    Merge: any block blocks. Failure: reported.
    """


@dataclass(frozen=True, kw_only=True)
class TaskEvent(EventBase):
    """A task of the task list."""

    task_id: str
    task_subject: str = ""
    task_description: str = ""
    teammate_name: str | None = None
    team_name: str | None = None


@event("decide", merged)
def task_created(event: TaskEvent) -> BlockOutcome | None:
    """When a task is created.

    When: before it counts. How often: once. Answer: `block` takes it back, the model reads `reason`. Merge: any block
    blocks. Failure: blocks.
    """


@event("decide", merged)
def task_completed(event: TaskEvent) -> BlockOutcome | None:
    """When a task is marked completed.

    When: before it counts. How often: once. Answer: `block` leaves it open, the model reads `reason`. Merge: any block
    blocks. Failure: blocks.
    """


@dataclass(frozen=True, kw_only=True)
class TeammateIdle(EventBase):
    """A teammate has nothing to do."""

    teammate_name: str
    team_name: str | None = None


@event("observe", merged)
def teammate_idle(event: TeammateIdle) -> BlockOutcome | None:
    """When a teammate is about to go idle.

    When: after its turn. How often: once an end. Answer: `block` with `reason` keeps it working. Merge: any block
    blocks. Failure: reported.
    """


@dataclass(frozen=True, kw_only=True)
class WorktreeCreate(EventBase):
    """A worktree is wanted."""

    name: str


@dataclass(frozen=True, kw_only=True)
class WorktreeOutcome(BlockOutcome):
    """`path` is the worktree that the listener made."""

    path: str | None = None


@event("decide", merged, deadline=600.0)
def worktree_create(event: WorktreeCreate) -> WorktreeOutcome | None:
    """When a worktree is wanted.

    When: before one is made. How often: once. Answer: `path` of one that the listener made, or `block`. Merge: the last
    path counts. Failure: the creation fails.
    """


@dataclass(frozen=True, kw_only=True)
class WorktreeRemove(EventBase):
    """A worktree goes."""

    worktree_path: Path


@event("observe", merged)
def worktree_remove(event: WorktreeRemove) -> Outcome | None:
    """When a worktree is removed.

    When: before it goes. How often: once. Answer: none. Failure: reported.
    """
