"""Where the path of a call leads is looked up once: what is judged, asked about and opened is the same place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from fake_session import fake_session, listen, of_type, offer, run

from toolpost import (
    Allow,
    Decision,
    Files,
    PermissionRequest,
    PermissionResolver,
    Progress,
    ServiceOffer,
    Tool,
    ToolContext,
    ToolFinished,
    ToolResult,
    ToolUse,
    on,
)
from toolpost.testing import FakeModel, PlainFiles


@dataclass(frozen=True)
class PeekInput:
    path: str


class Peek(Tool[PeekInput]):
    """Shows a file, as a tool of a stranger would: through `ctx.files`."""

    name = "Peek"
    input_model = PeekInput

    def get_path(self, input: PeekInput) -> str | None:
        return input.path

    async def call(self, input: PeekInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        return ToolResult(await ctx.files.read_text(ctx.resolve(input.path)))


class Inside(PermissionResolver):
    """Allows what leads into the project."""

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        inside = request.real_path is not None and request.real_path.is_relative_to(request.scope.project)
        return Allow() if inside else None


class InsideThen(Inside):
    """Answers, and lets a test act before the call is made."""

    then: Callable[[], None]

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        answer = await super().resolve(request)
        self.then()
        return answer


@pytest.fixture
def link(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "mine.txt").write_text("mine")
    (tmp_path / "secret.txt").write_text("secret")
    (project / "link").symlink_to("mine.txt")
    return project / "link"


def swap(link: Path) -> None:
    link.unlink()
    link.symlink_to("../secret.txt")


async def peeked(tmp_path: Path, *plugins: object) -> ToolFinished:
    model = FakeModel(ToolUse("toolu_1", "Peek", {"path": "link"}), "Done.")
    files = offer(ServiceOffer(Files, lambda _: PlainFiles()))
    async with fake_session(tmp_path, model, Peek(), files, *plugins, allow=False) as session:
        (finished,) = of_type(await run(session), ToolFinished)
    return finished


async def test_a_resolver_is_told_where_a_path_leads(tmp_path: Path, link: Path) -> None:
    assert (await peeked(tmp_path, Inside())).text == "mine"
    swap(link)
    assert "nobody to ask" in (await peeked(tmp_path, Inside())).text


@pytest.mark.requirement("permissions.links_are_held")
async def test_a_link_that_is_exchanged_by_the_time_of_the_call_is_not_followed(tmp_path: Path, link: Path) -> None:
    done = await peeked(tmp_path, InsideThen(then=lambda: swap(link)))

    assert done.is_error
    assert f"leads to {tmp_path.resolve() / 'secret.txt'} by now" in done.text


@pytest.mark.requirement("permissions.links_are_held")
async def test_a_link_that_is_exchanged_while_listeners_look_is_not_followed(tmp_path: Path, link: Path) -> None:
    (link.parent / "other.txt").write_text("other")

    def swap_inside(event: object) -> None:
        link.unlink()
        link.symlink_to("other.txt")

    done = await peeked(tmp_path, listen(on.pre_tool_use, swap_inside), Inside())

    assert done.is_error
    assert "was changed while the call was decided on" in done.text
