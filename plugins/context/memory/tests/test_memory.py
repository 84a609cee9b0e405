"""What the model reads of its memory in whole sessions, and what it may write."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from toolpost import (
    Block,
    ModelRequest,
    Models,
    PermissionRequest,
    Provider,
    SessionScope,
    Stop,
    StreamEvent,
    TextDelta,
    ToolUse,
    project_key,
)
from toolpost.testing import SessionHarness, make_context, make_scope, record
from toolpost_context_memory import Memory
from toolpost_context_memory.files import memories
from toolpost_context_memory.recall import Recall
from toolpost_context_memory.told import MOST_BYTES, index_in
from toolpost_context_memory.writes import MemoryWrites

DAY = 86_400


class Answers(Provider):
    """Answers the session's requests in turn, and those of the recall with `picked`; keeps both."""

    default_model = "answers"

    def __init__(self, *turns: str | ToolUse, picked: str = '{"files": []}') -> None:
        self.turns, self.picked = list(turns), picked
        self.requests: list[ModelRequest] = []
        self.recalls: list[ModelRequest] = []
        self.recalled = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        if request.purpose == "memory":
            self.recalls.append(request)
            yield TextDelta(self.picked)
            yield Stop("end_turn")
            self.recalled.set()
            return
        self.requests.append(request)
        turn = self.turns[len(self.requests) - 1]
        if isinstance(turn, str):
            yield Block({"type": "text", "text": turn})
        else:
            yield turn
        yield Stop("end_turn" if isinstance(turn, str) else "tool_use")


@dataclass(frozen=True)
class Picks:
    """The service Models, which picks one file."""

    name: str
    small: str = "small"

    async def ask(self, request: ModelRequest) -> str:
        return f'{{"files": ["{self.name}"]}}'


@dataclass
class Stage:
    """A harness and the folder of its project's memories."""

    harness: SessionHarness
    folder: Path = field(init=False)

    def __post_init__(self) -> None:
        projects = self.harness.folder.resolve() / "state/projects"
        self.folder = projects / project_key(self.harness.project) / "memory"
        self.folder.mkdir(parents=True, exist_ok=True)

    def keep(self, name: str, description: str, text: str, *, days: int = 0, kind: str = "project") -> Path:
        path = self.folder / name
        path.write_text(f"---\nname: {path.stem}\ndescription: {description}\ntype: {kind}\n---\n\n{text}\n")
        os.utime(path, (time.time(), time.time() - days * DAY - 60))
        return path


def stage(tmp_path: Path, model: Provider, **more: Any) -> Stage:
    return Stage(SessionHarness(tmp_path, model, plugins=[Memory], **more))


def said_in(request: ModelRequest) -> str:
    return "\n".join(
        message["content"]
        if isinstance(message["content"], str)
        else "\n".join(str(block.get("text", "")) for block in message["content"])
        for message in request.messages
    )


def system_of(request: ModelRequest) -> str:
    return "\n".join(block.text for block in request.system)


def test_the_model_is_told_where_memory_is_and_what_its_index_says(tmp_path: Path) -> None:
    model = Answers("Hello.")
    made = stage(tmp_path, model)
    (made.folder / "MEMORY.md").write_text("- [testing](testing.md): no mocks\n")
    made.harness.run("hi")
    assert str(made.folder) in system_of(model.requests[0])
    assert "no mocks" in said_in(model.requests[0])
    assert "no mocks" not in system_of(model.requests[0])


def test_the_text_on_memory_is_short(tmp_path: Path) -> None:
    model = Answers("Hello.")
    made = stage(tmp_path, model)
    made.harness.run("hi")
    section = system_of(model.requests[0]).partition("# Memory")[2]
    assert 200 < len(section) < 1_100 + len(str(made.folder))
    assert "act as if it were empty" in section


def test_nothing_of_it_is_told_where_it_is_off_and_in_a_bare_session(tmp_path: Path) -> None:
    for more in ({"settings": {"autoMemoryEnabled": False}}, {"options": {"bare": True}}):
        model = Answers("Hello.")
        made = stage(tmp_path, model, **more)
        (made.folder / "MEMORY.md").write_text("- [testing](testing.md): no mocks\n")
        made.harness.run("hi")
        assert "emory" not in system_of(model.requests[0])
        assert "no mocks" not in said_in(model.requests[0])


@pytest.mark.parametrize(("entry", "count"), [("- short", 300), ("- " + "long " * 100, 100)])
def test_a_long_index_is_cut_with_a_warning(tmp_path: Path, entry: str, count: int) -> None:
    (tmp_path / "MEMORY.md").write_text("\n".join(f"{entry} {number}" for number in range(count)))
    text = index_in(tmp_path)
    assert "MEMORY.md is cut here" in text
    assert len(text) < MOST_BYTES + 400
    assert text.count("\n- ") <= 200
    (tmp_path / "MEMORY.md").write_text(entry)
    assert "cut here" not in index_in(tmp_path)


def test_links_and_what_is_no_memory_are_left_out(tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret.md", tmp_path / "memory"
    (folder / "logs").mkdir(parents=True)
    secret.write_text("---\nname: x\ndescription: a key\n---\n")
    (folder / "link.md").symlink_to(secret)
    (folder / "MEMORY.md").symlink_to(secret)
    (folder / "plain.md").write_text("no front matter: here")
    (folder / "notes.txt").write_text("---\ndescription: x\n---\n")
    assert [(file.name, file.description, file.type) for file in memories(folder)] == [("plain", "", "")]
    assert index_in(folder) == ""


def test_what_fits_a_prompt_is_recalled_with_its_age(tmp_path: Path) -> None:
    model = Answers("First.", "Second.", "Third.", picked='{"files": ["deploy.md", "../state/x.md", "none.md"]}')
    made = stage(tmp_path, model)
    made.keep("deploy.md", "how releases are made", "Run make ship.", days=47)
    made.keep("testing.md", "how tests are run", "No mocks.", kind="feedback")

    async def two_prompts() -> None:
        async with made.harness.session() as session:
            await record(session, "release it")
            await asyncio.wait_for(model.recalled.wait(), 10)
            await record(session, "go on", "and on")

    asyncio.run(two_prompts())
    asked = said_in(model.recalls[0])
    assert "deploy.md (project, 47 days ago): how releases are made" in asked
    assert "testing.md (feedback, today): how tests are run" in asked
    assert model.recalls[0].max_tokens == 256
    recalled = said_in(model.requests[1])
    assert "saved 47 days ago: check before relying on it" in recalled
    assert "Run make ship." in recalled
    assert "No mocks." not in recalled
    # What was shown is not offered again.
    assert all("deploy.md" not in said_in(request) for request in model.recalls[1:])
    assert said_in(model.requests[2]).count("Run make ship.") == 1


def test_what_the_model_read_meanwhile_is_not_shown_again(tmp_path: Path) -> None:
    async def after(call: ToolUse) -> str:
        recall = Recall(tmp_path, make_scope(tmp_path, services={Models: Picks("deploy.md")}), 5)
        recall.begin("release it")
        while not recall.is_idle:  # noqa: ASYNC110 - it reads files
            await asyncio.sleep(0.005)
        use: Any = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}
        return "".join(recall.taken([{"role": "assistant", "content": [use]}]))

    path = tmp_path / "deploy.md"
    path.write_text("---\ndescription: how releases are made\n---\nRun make ship.\n")
    assert "Run make ship." in asyncio.run(after(ToolUse("t1", "Read", {"file_path": str(tmp_path / "other.md")})))
    assert asyncio.run(after(ToolUse("t1", "Read", {"file_path": str(path)}))) == ""


def test_nothing_is_asked_where_nothing_is_kept_or_recall_is_off(tmp_path: Path) -> None:
    model = Answers("Hello.")
    stage(tmp_path / "empty", model).harness.run("hi")
    assert model.recalls == []

    model = Answers("Hello.")
    made = Stage(SessionHarness(tmp_path, model, plugins=[Memory(recall=False)]))
    made.keep("deploy.md", "how releases are made", "Run make ship.")
    made.harness.run("hi")
    assert model.recalls == []


def test_an_answer_that_is_no_list_recalls_nothing(tmp_path: Path) -> None:
    model = Answers("First.", "Second.", picked="I would take deploy.md!")
    made = stage(tmp_path, model)
    made.keep("deploy.md", "how releases are made", "Run make ship.")

    async def two_prompts() -> Any:
        async with made.harness.session() as session:
            await record(session, "release it")
            await asyncio.wait_for(model.recalled.wait(), 10)
            return await record(session, "go on")

    assert not asyncio.run(two_prompts()).result.is_error
    assert "Run make ship." not in said_in(model.requests[1])


def test_in_log_mode_the_model_only_adds_to_a_log(tmp_path: Path) -> None:
    model = Answers("Hello.")
    Stage(SessionHarness(tmp_path, model, plugins=[Memory(daily_log=True)])).harness.run("hi")
    assert "logs/YYYY/MM/YYYY-MM-DD.md" in system_of(model.requests[0])
    assert "MEMORY.md" not in system_of(model.requests[0])


async def test_a_sub_agent_has_no_memory(tmp_path: Path) -> None:
    assert await Memory().sections(make_scope(tmp_path))
    assert await Memory().sections(make_scope(tmp_path, agent_id="a1")) == ()


def asked(scope: SessionScope, tool: str, path: Path, **more: Any) -> PermissionRequest:
    places = make_context(scope.project, home=scope.home).scope
    values: Mapping[str, Any] = {
        "scope": places,
        "session": scope,
        "path": str(path),
        "real_path": path.resolve(),
        **more,
    }
    return PermissionRequest(tool_name=tool, tool_input={"file_path": str(path)}, **values)


async def test_only_markdown_of_this_projects_memory_may_be_written(tmp_path: Path) -> None:
    project = tmp_path.resolve() / "project"
    scope = make_scope(project)
    folder = scope.config_dir / "projects" / project_key(project) / "memory"
    folder.mkdir(parents=True)
    (folder / "out.md").symlink_to(tmp_path / "elsewhere.md")

    async def allowed(tool: str, path: Path, **more: Any) -> bool:
        decision = await MemoryWrites().resolve(asked(scope, tool, path, **more))
        assert decision is None or decision.behavior == "allow"
        return decision is not None

    assert await allowed("Write", folder / "new.md")
    assert await allowed("Edit", folder / "logs/2026/11/2026-11-30.md")
    assert await allowed("Read", folder / "new.md")
    assert not await allowed("Bash", folder / "new.md")
    assert not await allowed("Write", folder / "run.sh")
    assert not await allowed("Write", folder / ".git/x.md")
    assert not await allowed("Write", folder / "out.md")
    assert not await allowed("Write", folder / "../other.md")
    assert not await allowed("Write", folder.parents[1] / "another/memory/x.md")
    assert not await allowed("Write", scope.config_dir / "settings.json")
    assert not await allowed("Write", folder / "new.md", agent_type="explore")


async def test_a_folder_that_nobody_trusted_writes_no_memory_by_itself(tmp_path: Path) -> None:
    from dataclasses import replace

    scope = make_scope(tmp_path.resolve())
    path = scope.config_dir / "projects" / project_key(scope.project) / "memory/x.md"
    request = asked(scope, "Write", path)
    assert await MemoryWrites().resolve(request) is not None
    assert await MemoryWrites().resolve(replace(request, scope=replace(request.scope, trusted=False))) is None
