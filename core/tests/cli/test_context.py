from __future__ import annotations

from typing import Any

CLOCK = """
    from toolpost import ContextSource, Section


    class Clock(ContextSource):
        async def sections(self, scope):
            return (
                Section(name="clock.rules", text="Clocks go round.", static=True),
                Section(name="clock.now", text="It is late.", volatile=True, why_volatile="time passes"),
                Section(name="clock.files", text="From a file.", user=True, source="/CLOCK.md"),
            )


    clock = Clock()
"""


def test_the_blocks_of_a_first_request_are_shown_with_cache_tokens_and_origin(toolpost: Any) -> None:
    toolpost.install("acme-clock", "context", "clock", CLOCK)
    toolpost.settings({"plugins": {"clock": {"enabled": True}}})
    found = toolpost.json("context", "show", "--append-system-prompt", "Be brief.", "--json")

    assert [(block["block"], block["scope"]) for block in found["blocks"]] == [
        ("tools", "shared"),
        ("system 1", "shared"),
        ("system 2", "session"),
        ("system 3", "none"),
        ("first message", "session"),
    ]
    parts = {part["name"]: part for block in found["blocks"] for part in block["parts"]}
    assert (parts["default"]["origin"], parts["clock.rules"]["origin"]) == ("core", "clock")
    assert (parts["clock.now"]["why"], parts["clock.files"]["file"]) == ("time passes", "/CLOCK.md")
    assert found["blocks"][2]["text"].endswith("Be brief.")
    assert found["tokens"] == sum(part["tokens"] for part in parts.values())
    assert toolpost("context", "show").stdout.splitlines()[0].split() == ["BLOCK", "CACHE", "PART", "TOKENS", "ORIGIN"]


def test_a_bare_session_is_told_its_place_and_nothing_else(toolpost: Any) -> None:
    found = toolpost.json("context", "show", "--bare", "--json")
    system = [block["text"] for block in found["blocks"] if block["block"].startswith("system")]

    assert system[0] == "You are Toolpost, a coding agent in the user's terminal."
    assert system[1].startswith(f"Working folder: {toolpost.project.resolve()}\nDate: 2")
    assert len(system) == 2


def test_a_source_that_fails_is_named_beside_the_table(toolpost: Any) -> None:
    toolpost.install("acme-clock", "context", "clock", CLOCK.replace('why_volatile="time passes"', 'why_volatile=""'))
    toolpost.settings({"plugins": {"clock": {"enabled": True}}})
    done = toolpost("context", "show")

    assert done.returncode == 0
    assert "'clock'" in done.stderr
    assert "'clock.now' is volatile" in done.stderr
    assert "clock.rules" not in done.stdout


def test_a_session_that_is_not_there_is_an_error(toolpost: Any) -> None:
    done = toolpost("context", "show", "--session", "11111111-1111-4111-8111-111111111111")

    assert done.returncode == 1
    assert "11111111" in done.stderr
