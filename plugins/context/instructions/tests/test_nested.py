from __future__ import annotations

from typing import Any

import pytest

from toolpost import Compacted, Exchanged
from toolpost_context_instructions import Instructions


async def test_outer_folders_come_before_inner_ones_and_what_they_import_behind_them(world: Any) -> None:
    world.put("work/project/AGENTS.md", "known")
    world.put("work/project/app/AGENTS.md", "outer @more.md")
    world.put("work/project/app/more.md", "imported")
    world.put("work/project/app/deep/CLAUDE.md", "inner")
    await world.sections()
    told = await world.after_use("work/project/app/deep/main.py")
    assert [text.rpartition("\n")[2] for text in told] == ["outer @more.md", "imported", "inner"]


async def test_each_is_announced_with_the_file_that_brought_it(world: Any) -> None:
    world.put("work/project/app/AGENTS.md", "nested")
    world.put("work/project/.toolpost/rules/py.md", "---\npaths: '**/*.py'\n---\nType it.")
    await world.sections()
    await world.after_use("work/project/app/main.py")
    trigger = world.project / "app" / "main.py"
    assert [(e.load_reason, e.globs, e.trigger_file_path) for e in world.events] == [
        ("nested_traversal", (), trigger),
        ("path_glob_match", ("**/*.py",), trigger),
    ]


async def test_what_the_conversation_holds_is_not_told_again_and_what_it_lost_is(world: Any) -> None:
    world.put("work/project/app/AGENTS.md", "nested")
    await world.sections()
    (told,) = await world.after_use("work/project/app/main.py")
    reminder = {"role": "user", "content": [{"type": "text", "text": f"<system-reminder>\n{told}"}]}
    assert await world.after_use("work/project/app/main.py", before=[reminder]) == []
    assert await world.after_use("work/project/app/main.py") == [told]


async def test_files_outside_the_project_bring_nothing(world: Any) -> None:
    world.put("elsewhere/AGENTS.md", "not ours")
    world.put("elsewhere/main.py", "")
    (world.project / "link").symlink_to(world.home / "elsewhere")
    await world.sections()
    assert await world.after_use("elsewhere/main.py", "work/project/link/main.py") == []


async def test_other_peoples_code_in_the_project_brings_nothing(world: Any) -> None:
    world.put("work/project/web/AGENTS.md", "ours")
    world.put("work/project/web/node_modules/left/AGENTS.md", "theirs")
    world.put("work/project/web/node_modules/left/lib/AGENTS.md", "theirs")
    await world.sections()
    (told,) = await world.after_use("work/project/web/node_modules/left/lib/index.js")
    assert told.endswith("ours")


async def test_an_untrusted_project_reaches_nothing_outside_itself(world: Any) -> None:
    world.put("secret.md", "hunter2")
    world.put("work/project/app/AGENTS.md", "@~/secret.md")
    world.put("work/project/sub/main.py", "")
    (world.project / "sub" / "AGENTS.md").symlink_to(world.home / "secret.md")
    await world.sections(trusted=False)
    (told,) = await world.after_use("work/project/app/main.py", "work/project/sub/main.py", trusted=False)
    assert "hunter2" not in told


@pytest.mark.parametrize("link", [".toolpost", ".toolpost/rules"])
async def test_nor_does_it_by_a_link_in_the_place_of_a_folder(world: Any, link: str) -> None:
    for path in ("own/TOOLPOST.md", "own/rule.md", "own/rules/rule.md"):
        world.put(path, "hunter2")
    for folder in (world.project, world.project / "app"):
        (folder / link).parent.mkdir(parents=True, exist_ok=True)
        (folder / link).symlink_to(world.home / "own")
    world.put("work/project/app/main.py", "")
    assert await world.files(trusted=False) == []
    assert await world.after_use("work/project/app/main.py", trusted=False) == []
    assert "hunter2" in await world.text(trusted=True)


async def test_the_users_own_rules_are_for_files_of_the_project(world: Any) -> None:
    world.put(".toolpost/rules/all.md", "Be brief.")
    world.put(".toolpost/rules/tests.md", '---\npaths: [tests/**, "spec/*.py"]\n---\nName outcomes.')
    assert await world.files() == [".toolpost/rules/all.md"]
    assert await world.after_use("work/project/src/tests/a.py", "work/project/spec/a/b.py") == []
    (told,) = await world.after_use("work/project/tests/deep/a.py", "work/project/spec/a.py")
    assert told.endswith("(the user's own, for all projects, for tests/**, spec/*.py):\n\nName outcomes.")


async def test_rules_of_a_folder_below_come_with_it(world: Any) -> None:
    world.put("work/project/app/.toolpost/rules/a.md", "always")
    world.put("work/project/app/.toolpost/rules/b.md", "---\npaths:\n  - src\n---\nsources")
    await world.sections()
    told = await world.after_use("work/project/app/main.py")
    assert [text.rpartition("\n")[2] for text in told] == ["always"]
    told = await world.after_use("work/project/app/src/deep/main.py")
    assert [text.rpartition("\n")[2] for text in told] == ["always", "sources"]


async def test_after_a_compaction_what_files_brought_is_there_again_and_once(world: Any) -> None:
    world.put("work/project/app/AGENTS.md", "nested")
    world.put("work/project/.toolpost/rules/py.md", "---\npaths: '**/*.py'\n---\nType it.")
    await world.sections()
    call = {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": f"{world.project}/app/main.py"}}
    before: Any = [
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "1\tpass"}]},
    ]
    left: list[Any] = [{"role": "user", "content": "It was shortened."}]
    again = await Instructions().after_compaction(world.scope(), Compacted(before=before, left=left))
    assert [section.text.rpartition("\n")[2] for section in again] == ["nested", "Type it."]
    assert {event.load_reason for event in world.events} == {"compact"}
    left += [{"role": "user", "content": section.text} for section in again]
    assert await world.after_use("work/project/app/main.py", before=left) == []
    assert await Instructions().after_compaction(world.scope(), Compacted(before=before, left=left)) == []


@pytest.mark.parametrize(
    "change", [{"is_error": True}, {"tool_use_id": "another"}], ids=["a call that failed", "no result yet"]
)
async def test_only_calls_that_succeeded_count(world: Any, change: dict[str, Any]) -> None:
    world.put("work/project/app/AGENTS.md", "nested")
    await world.sections()
    call = {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": f"{world.project}/app/main.py"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "no", **change}
    messages: Any = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    assert await Instructions().reminders(world.scope(), Exchanged(messages=messages, new=messages)) == ()


@pytest.mark.parametrize("given", [{}, {"file_path": 3}, {"file_path": "a\0b"}, {"path": "app"}])
async def test_inputs_that_name_no_file_bring_nothing(world: Any, given: dict[str, Any]) -> None:
    await world.sections()
    call = {"type": "tool_use", "id": "t", "name": "Read", "input": given}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "yes"}
    messages: Any = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    assert list(await Instructions().reminders(world.scope(), Exchanged(messages=messages, new=messages))) == []
