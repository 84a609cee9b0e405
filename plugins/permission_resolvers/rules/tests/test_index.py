from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from toolpost import CommandPart, PermissionRequest, Rule
from toolpost.permissions import Behavior
from toolpost.testing import make_context
from toolpost_permission_resolver_rules import Rules
from toolpost_permission_resolver_rules.index import Index, index_of
from toolpost_permission_resolver_rules.paths import covers, names_in, spellings

PATTERNS = [
    ".env",
    "*.key",
    "**/*.key",
    "secrets/**",
    "./secrets/**",
    "/secrets/**",
    "src/*.py",
    "src",
    "src/",
    "a/b/c",
    "**/x/**",
    "//etc/**",
    "//etc/passwd",
    "~/x",
    "~/x/**",
    "~",
    "[ab].txt",
    "a\\*b",
    ".ENV",
    "Secrets/**",
    "secrets.",
    '"x',
    'y"',
    "**",
    "*",
    "a?c/d",
    "../out/**",
    ".git/**",
    "build*/out",
]
PATHS = [
    ".env",
    "sub/.env",
    ".Env",
    "a.key",
    "a/b.key",
    "secrets",
    "secrets/k",
    "deep/secrets/k",
    "SECRETS/k",
    "src/a.py",
    "src",
    "src/deep/a.py",
    "a/b/c",
    "a/b/c/d",
    "x/y",
    "q/x/y",
    "/etc/passwd",
    "/etc",
    "/root/x",
    "a.txt",
    "a*b",
    "abc/d",
    ".git/config",
    "build1/out",
    "build1/out/z",
    "secrets./k",
    "~/x",
    "~",
    "../out/a",
]


@pytest.mark.parametrize("behavior", ["allow", "deny"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_rule_that_covers_a_path_is_missed(pattern: str, behavior: Behavior, tmp_path: Path) -> None:
    scope = replace(make_context(tmp_path).scope, home=Path("/root"))
    rule = Rule.parse(f"Read({pattern})", behavior)
    shelf = Index([rule]).files(frozenset({"Read"}))
    for path in PATHS:
        places = spellings(tmp_path / path)
        if covers(rule, places, scope):
            assert rule in shelf.near(names_in(places, scope)), path


class Line:
    """Understands nothing: each part is covered by the rules that are its text."""

    doubt = ""

    def __init__(self, *parts: CommandPart) -> None:
        self.parts = parts
        self.asked: list[str] = []

    def matches(self, part: CommandPart, specifier: str, behavior: Behavior) -> bool:
        self.asked.append(specifier)
        return specifier.removesuffix(":*") == part.text


@pytest.mark.parametrize(
    ("heads", "asked"),
    [
        (frozenset({"git"}), {"git push:*", "git", "*x", "'git' a", "git*"}),
        (frozenset({"git", "npm"}), {"git push:*", "git", "*x", "'git' a", "git*", "npm:*", "npm run x"}),
        (frozenset({"none"}), {"*x", "'git' a", "git*"}),
        (None, {"git push:*", "git", "*x", "'git' a", "git*", "npm:*", "npm run x", "rm -rf *"}),
    ],
)
async def test_only_rules_that_may_cover_a_part_are_held_against_it(
    heads: frozenset[str] | None, asked: set[str], tmp_path: Path
) -> None:
    texts = ("git push:*", "git", "*x", "'git' a", "git*", "npm:*", "npm run x", "rm -rf *")
    rules = tuple(Rule.parse(f"Bash({text})", "allow") for text in texts)
    line = Line(CommandPart("unknown", heads=heads))
    request = PermissionRequest(
        tool_name="Bash", tool_input={}, scope=make_context(tmp_path).scope, rules=rules, matcher=line
    )
    assert await Rules().resolve(request) is None
    assert set(line.asked) == asked


def test_the_index_of_a_tuple_is_kept_and_that_of_a_list_is_not() -> None:
    rules = (Rule.parse("Bash(git *)", "allow"),)
    again = (Rule.parse("Bash(git *)", "allow"),)
    assert index_of(rules) is index_of(rules)
    assert index_of(rules) is not index_of(again)
    changing = [*rules]
    first = index_of(changing)
    changing.append(Rule.parse("Bash", "deny"))
    assert len(index_of(changing).rules) == len(first.rules) + 1
