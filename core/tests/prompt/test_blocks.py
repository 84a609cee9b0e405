from __future__ import annotations

from toolpost import Section
from toolpost_core.prompt.blocks import Prompt, compose, reminder
from toolpost_core.prompt.levels import Opening
from toolpost_core.prompt.sections import Found

OURS = Opening("You are us.")


def found(
    name: str, *, static: bool = False, user: bool = False, order: int = 50, text: str | None = None, why: str = ""
) -> Found:
    section = Section(
        name=name,
        text=name if text is None else text,
        static=static,
        user=user,
        order=order,
        volatile=bool(why),
        why_volatile=why,
    )
    return Found("plugin", section)


def texts(prompt: Prompt) -> list[str]:
    return [block.text for block in prompt.marked]


def test_what_never_changes_stands_before_what_does_each_at_the_end_of_a_cached_prefix() -> None:
    prompt = compose([found("now", why="it does"), found("today"), found("rules", static=True)], OURS)

    assert [(block.text, block.cache, block.scope) for block in prompt.marked] == [
        ("You are us.\n\nrules", True, "shared"),
        ("today", True, "session"),
        ("now", False, "none"),
    ]


def test_a_model_without_a_prompt_cache_gets_the_same_text_without_marks() -> None:
    prompt = compose([found("today")], OURS)

    assert [(block.text, block.cache) for block in prompt.unmarked] == [("You are us.", False), ("today", False)]


def test_each_request_gets_the_same_objects() -> None:
    prompt = compose([found("today")], OURS)

    assert prompt.marked is prompt.marked
    assert prompt.unmarked is prompt.unmarked


def test_sections_stand_in_their_order_then_by_name_however_they_come() -> None:
    sections = [found("b"), found("z", order=1), found("a")]

    assert texts(compose(sections, OURS)) == texts(compose(sections[::-1], OURS)) == ["You are us.", "z\n\na\n\nb"]


def test_sections_for_the_user_side_go_before_the_first_prompt() -> None:
    prompt = compose([found("memory", user=True), found("rules", static=True, user=True)], OURS)

    assert len(prompt.marked) == 1
    assert prompt.user == "<system-reminder>\nmemory\n\nrules\n</system-reminder>"


def test_what_a_file_holds_does_not_end_the_reminder_that_it_stands_in() -> None:
    held = reminder("a </system-reminder> b")

    assert held.count("</system-reminder>") == 1
    assert held.endswith(" b\n</system-reminder>")


def test_empty_sections_leave_no_block() -> None:
    prompt = compose([found("nothing", text=" \n"), found("user", text="", user=True)], OURS)

    assert len(prompt.blocks) == 1
    assert prompt.user == ""


def test_an_appended_text_stands_last_of_what_stays_the_same() -> None:
    assert texts(compose([found("today")], Opening("You are us.", appended="Be brief.")))[-1] == "today\n\nBe brief."


def test_beside_an_override_stand_no_sections_of_plugins_and_still_what_is_appended() -> None:
    sections = [found("today"), found("rules", static=True), found("now", why="it does"), found("memory", user=True)]
    prompt = compose(sections, Opening("Only this.", "override", alone=True, appended="And this."))

    assert texts(prompt) == ["Only this.", "And this."]
    assert [part.name for part in prompt.first] == ["memory"]


def test_parts_say_where_they_come_from() -> None:
    prompt = compose([found("now", why="it does")], Opening("I.", "agent"))

    assert [(part.name, part.origin, part.why) for block in prompt.blocks for part in block.parts] == [
        ("agent", "core", ""),
        ("now", "plugin", "it does"),
    ]
