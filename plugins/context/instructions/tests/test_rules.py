from __future__ import annotations

import time

import pytest

from toolpost_context_instructions.globs import matches
from toolpost_context_instructions.rules import without_front


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("*.md", "a.md", True),
        ("*.md", "docs/a.md", False),
        ("**/*.md", "a.md", True),
        ("**/*.md", "docs/deep/a.md", True),
        ("src/**/*.ts", "src/a.ts", True),
        ("src/**/*.ts", "src/a/b/c.ts", True),
        ("src/**/*.ts", "lib/a.ts", False),
        ("src/**", "src/a/b", True),
        ("src/*", "src/a/b", False),
        ("src/", "src/a/b", True),
        ("src", "src/a/b", True),
        ("./src/a.ts", "src/a.ts", True),
        ("**", "anything/at/all", True),
        ("a/**/**/b", "a/b", True),
        ("src/**/*.{ts,tsx}", "src/x/a.tsx", True),
        ("{src,lib}/**/*.{ts,js}", "lib/a.js", True),
        ("{a,b{c,d}}.md", "bd.md", True),
        ("[ab].md", "b.md", True),
        ("a?.md", "ab.md", True),
        ("a.md", "A.md", False),
        ("{a}.md", "{a}.md", True),
        ("", "a", False),
    ],
)
def test_globs(glob: str, path: str, fits: bool) -> None:
    assert matches([glob], path) is fits


@pytest.mark.parametrize("glob", ["{a,b}" * 40, "**/" * 200 + "x", "*a" * 60 + "b", "{" * 500 + "a,b" + "}" * 500])
@pytest.mark.timeout(20)
def test_no_glob_takes_long(glob: str) -> None:
    started = time.process_time()
    assert not matches([glob], "/".join(["a" * 200] * 20))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("front", "globs"),
    [
        ("paths: src/**/*.ts", ("src/**/*.ts",)),
        ("paths: a.md, b/*.{c,d}", ("a.md", "b/*.{c,d}")),
        ("paths: [\"a.md\", 'b.md']", ("a.md", "b.md")),
        ('paths:\n  - "a.md"\n  - b.md\n\nother: x', ("a.md", "b.md")),
        ("paths:\n- a.md", ("a.md",)),
        ("description: no paths", ()),
        ("paths:", ()),
        ("", ()),
    ],
)
def test_the_paths_of_a_rule_are_read_from_its_front_matter(front: str, globs: tuple[str, ...]) -> None:
    assert without_front(f"---\n{front}\n---\nText.") == (globs, "Text.")


@pytest.mark.parametrize("text", ["Text.", "---\nno end", "Text.\n---\npaths: a\n---\n"])
def test_a_text_without_front_matter_stays_whole(text: str) -> None:
    assert without_front(text) == ((), text)


@pytest.mark.timeout(20)
def test_long_front_matter_is_text_and_takes_no_time() -> None:
    text = f"---\npaths: {'{,' * 200_000}\n---\nText."
    assert without_front(text) == ((), text)
    assert without_front(f"---\npaths: {',' * 9_000}\n---\nText.") == ((), "Text.")
