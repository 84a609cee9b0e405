"""Memory with the standard set: what the model may write by itself, and what a later session reads of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_session import of_type, run
from mock_messages_api import MockMessagesApi, Request, tool_use, turn
from served_session import opened, until

from toolpost import ToolFinished, project_key


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider looks for its key in the environment of the process."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    folder.mkdir()
    return folder


@pytest.fixture
def memory(project: Path) -> Path:
    return project.parent / "state/projects" / project_key(project) / "memory"


def write(path: Path, text: str = "- a fact\n") -> Any:
    return turn(tool_use("Write", {"file_path": str(path), "content": text}, id="t1"))


async def wrote(project: Path, path: Path, **options: Any) -> bool:
    """Let the model write a file where nobody can be asked; return whether it is there then."""
    async with (
        MockMessagesApi([write(path), "Done."]) as api,
        opened(api, project, mode="default", **options) as session,
    ):
        (finished,) = of_type(await run(session), ToolFinished)
        assert path.is_file() != finished.is_error
        return path.is_file()


async def test_the_model_keeps_a_memory_without_a_question_and_reads_it_in_the_next_session(
    project: Path, memory: Path
) -> None:
    assert await wrote(project, memory / "MEMORY.md")
    async with MockMessagesApi(["Hello."]) as api, opened(api, project) as session:
        await run(session)
        assert "- a fact" in str(api.requests[0].body["messages"])


@pytest.mark.parametrize(
    "name", ["../settings.json", "run.sh", "../../other/memory/a.md", ".git/a.md", "../../../a.md"]
)
async def test_it_writes_nothing_else_below_the_agents_own_folder(project: Path, memory: Path, name: str) -> None:
    memory.mkdir(parents=True)
    assert not await wrote(project, Path(f"{memory}/{name}"))


async def test_a_link_in_the_folder_is_no_way_out(project: Path, memory: Path, tmp_path: Path) -> None:
    memory.mkdir(parents=True)
    (memory / "out").symlink_to(tmp_path / "state")
    assert not await wrote(project, memory / "out/a.md")


async def test_where_memory_is_off_its_files_are_asked_about(project: Path, memory: Path) -> None:
    assert not await wrote(project, memory / "a.md", env={"TOOLPOST_DISABLE_AUTO_MEMORY": "1"})
    assert not await wrote(project, memory / "a.md", bare=True)


async def test_a_deny_rule_stands_above_it(project: Path, memory: Path) -> None:
    assert not await wrote(project, memory / "a.md", disallowed_tools=(f"Edit(/{memory}/**)",))


async def test_a_project_can_not_say_where_memory_lies(project: Path, memory: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path.resolve() / "elsewhere"
    (project / ".toolpost").mkdir()
    (project / ".toolpost/settings.json").write_text(f'{{"autoMemoryDirectory": "{elsewhere}"}}')
    assert not await wrote(project, elsewhere / "a.md")
    assert await wrote(project, memory / "a.md")


async def test_what_fits_a_prompt_goes_along_with_a_later_request_and_is_paid_by_the_session(
    project: Path, memory: Path
) -> None:
    memory.mkdir(parents=True)
    (memory / "deploy.md").write_text(
        "---\nname: deploy\ndescription: how releases are made\ntype: project\n---\nmake ship\n"
    )

    def answer(request: Request) -> str:
        return '{"files": ["deploy.md"]}' if _is_recall(request) else "Done."

    async with MockMessagesApi([answer] * 10) as api, opened(api, project) as session:
        await run(session, "release it")
        await until(lambda: {line.spender for line in session.costs()} == {"main", "memory"})
        await run(session, "go on")
        asked = [request for request in api.requests if _is_recall(request)]
        first, second, *_ = (request for request in api.requests if not _is_recall(request))
        assert "how releases are made" in str(asked[0].body["messages"])
        assert "make ship" not in str(first.body["messages"])
        assert "make ship" in str(second.body["messages"][-1])


def _is_recall(request: Request) -> bool:
    return "You pick notes" in str(request.body.get("system"))
