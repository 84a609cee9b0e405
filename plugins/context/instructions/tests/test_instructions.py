from __future__ import annotations

from typing import Any

import pytest


async def test_files_come_from_the_user_then_down_the_folders_then_local(world: Any) -> None:
    paths = [
        ".toolpost/TOOLPOST.md",
        "work/AGENTS.md",
        "work/project/TOOLPOST.md",
        "work/project/TOOLPOST.local.md",
    ]
    for path in paths:
        world.put(path, f"I am {path}")
    assert await world.files() == paths


async def test_each_file_is_named_with_its_path_and_goes_before_the_prompt(world: Any) -> None:
    file = world.put("work/project/AGENTS.md", "Use tabs.")
    (section,) = await world.sections()
    assert section.user
    assert f"Instructions from {file} (of the project):\n\nUse tabs." in section.text


async def test_the_first_name_that_exists_in_a_folder_counts(world: Any) -> None:
    world.put("work/project/CLAUDE.md", "c")
    world.put("work/project/AGENTS.md", "a")
    assert await world.files() == ["work/project/AGENTS.md"]
    world.put("work/project/TOOLPOST.md", "t")
    assert await world.files() == ["work/project/TOOLPOST.md"]


async def test_a_folder_below_the_project_adds_its_own(world: Any) -> None:
    world.put("work/project/TOOLPOST.md", "upper")
    world.put("work/project/sub/CLAUDE.md", "lower")
    assert await world.files(cwd=world.project / "sub") == ["work/project/TOOLPOST.md", "work/project/sub/CLAUDE.md"]


async def test_without_files_there_is_no_section(world: Any) -> None:
    world.put("work/project/TOOLPOST.md", "<!-- nothing to say -->\n")
    assert list(await world.sections()) == []


async def test_imports_follow_their_file_and_are_relative_to_it(world: Any) -> None:
    world.put("work/project/TOOLPOST.md", "Read @docs/style.md.")
    world.put("work/project/docs/style.md", "See @more.md")
    world.put("work/project/docs/more.md", "And @~/own.md")
    world.put("own.md", "End")
    expected = ["work/project/TOOLPOST.md", "work/project/docs/style.md", "work/project/docs/more.md", "own.md"]
    assert await world.files() == expected
    assert f"(imported by {world.project / 'TOOLPOST.md'}):\n\nSee @more.md" in await world.text()


async def test_imports_end_at_the_fifth_level(world: Any) -> None:
    world.put("work/project/TOOLPOST.md", "@1.md")
    for level in range(1, 8):
        world.put(f"work/project/{level}.md", f"@{level + 1}.md")
    assert (await world.files())[-1] == "work/project/5.md"


async def test_files_that_import_each_other_are_read_once(world: Any) -> None:
    world.put("work/project/TOOLPOST.md", "@a.md @TOOLPOST.md")
    world.put("work/project/a.md", "@TOOLPOST.md @a.md")
    assert await world.files() == ["work/project/TOOLPOST.md", "work/project/a.md"]


async def test_missing_imports_stay_as_text_and_are_not_reported(world: Any) -> None:
    world.put("work/project/TOOLPOST.md", "Ask @ada about @missing.md, in @docs")
    (world.project / "docs").mkdir()
    assert "Ask @ada about @missing.md, in @docs" in await world.text()
    assert world.reports == []


async def test_an_untrusted_project_reaches_nothing_outside_itself(world: Any) -> None:
    world.put("secret.md", "hunter2")
    world.put("work/project/inside.md", "fine")
    world.put("work/project/TOOLPOST.md", "@~/secret.md @../../secret.md @link.md @inside.md")
    (world.project / "link.md").symlink_to(world.home / "secret.md")
    (world.project / "TOOLPOST.local.md").symlink_to(world.home / "secret.md")
    assert await world.files(trusted=False) == ["work/project/TOOLPOST.md", "work/project/inside.md"]
    assert "hunter2" in await world.text(trusted=True)


async def test_a_linked_project_folder_does_not_open_the_way_out(world: Any) -> None:
    world.put("secret.md", "hunter2")
    (world.project / "TOOLPOST.md").symlink_to(world.home / "secret.md")
    link = world.home / "link"
    link.symlink_to(world.project)
    assert "hunter2" not in await world.text(trusted=False, project=link, cwd=link)


async def test_the_users_own_file_may_import_in_an_untrusted_project(world: Any) -> None:
    world.put(".toolpost/TOOLPOST.md", "@~/mine.md")
    world.put("mine.md", "Be brief.")
    assert "Be brief." in await world.text(trusted=False)


async def test_over_40000_characters_are_warned_about_and_still_sent(world: Any) -> None:
    world.put("work/project/TOOLPOST.md", "x" * 40_001)
    assert "x" * 40_001 in await world.text()
    (report,) = world.reports
    assert "40,001 characters" in report
    assert str(world.project / "TOOLPOST.md") in report


async def test_a_file_that_is_no_text_is_reported_and_left_out(world: Any) -> None:
    file = world.put("work/project/TOOLPOST.md", "a\0b")
    assert list(await world.sections()) == []
    assert str(file) in world.reports[0]


async def test_a_link_to_itself_is_left_out(world: Any) -> None:
    (world.project / "loop.md").symlink_to("loop.md")
    world.put("work/project/TOOLPOST.md", "@loop.md stays")
    assert await world.files() == ["work/project/TOOLPOST.md"]


async def test_each_file_is_announced_with_its_reason(world: Any) -> None:
    world.put(".toolpost/TOOLPOST.md", "own")
    importer = world.put("work/project/TOOLPOST.md", "@a.md")
    world.put("work/project/a.md", "more")
    await world.sections()
    assert [(e.memory_type, e.load_reason, e.parent_file_path) for e in world.events] == [
        ("User", "session_start", None),
        ("Project", "session_start", None),
        ("Project", "include", importer),
    ]
    await world.sections()
    assert [e.load_reason for e in world.events[3:]] == ["compact", "compact", "include"]


async def test_policy_comes_first_and_nothing_leaves_it_out(world: Any) -> None:
    world.managed.write_text("Never deploy.", encoding="utf-8")
    world.put(".toolpost/TOOLPOST.md", "own")
    sections = await world.sections(settings={"claudeMd": "Be kind.", "claudeMdExcludes": ["**/*.md"]})
    assert [section.text.splitlines()[-1] for section in sections] == ["Be kind.", "Never deploy."]
    assert [section.order for section in sections] == [49, 50]
    assert [event.memory_type for event in world.events] == ["Managed"]


async def test_excluded_files_are_left_out_by_their_absolute_paths(world: Any) -> None:
    world.put("work/AGENTS.md", "above")
    world.put("work/project/AGENTS.md", "here @a.md")
    world.put("work/project/a.md", "imported")
    settings = {"claudeMdExcludes": [f"{world.home}/work/AGENTS.md", "**/project/a.md"]}
    assert await world.files(settings=settings) == ["work/project/AGENTS.md"]


async def test_a_folders_own_toolpost_folder_may_hold_its_file(world: Any) -> None:
    world.put("work/project/.toolpost/TOOLPOST.md", "hidden")
    world.put("work/project/AGENTS.md", "never read")
    assert await world.files() == ["work/project/.toolpost/TOOLPOST.md"]


async def test_the_users_file_does_not_stand_for_that_of_the_home(world: Any) -> None:
    world.put(".toolpost/TOOLPOST.md", "own")
    world.put("AGENTS.md", "home")
    assert await world.files() == [".toolpost/TOOLPOST.md", "AGENTS.md"]


async def test_a_file_that_two_names_lead_to_is_read_once(world: Any) -> None:
    file = world.put("work/project/AGENTS.md", "once")
    (world.project / "sub").mkdir()
    (world.project / "sub" / "AGENTS.md").symlink_to(file)
    assert await world.files(cwd=world.project / "sub") == ["work/project/AGENTS.md"]


@pytest.mark.parametrize(
    ("data", "text"), [(b"\xef\xbb\xbfUse tabs.\r\nNow.", "Use tabs.\nNow."), (b"caf\xe9", "caf\ufffd")]
)
async def test_odd_bytes_cost_no_more_than_themselves(world: Any, data: bytes, text: str) -> None:
    (world.project / "AGENTS.md").write_bytes(data)
    assert (await world.text()).endswith(text)
    assert world.reports == []
