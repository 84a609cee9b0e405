"""The cases of tool_cases.jsonl, each through the whole pipeline, as `toolpost tool run` leads it: no model takes part.

A case lays files, calls tools step by step and says what must hold of each result and of the files after it. In texts
`{{cwd}}` is the case's folder, `{{repeat:N:TEXT}}` is TEXT N times, `{{name}}` a value saved from an earlier result.
"""

from __future__ import annotations

import base64
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from toolpost import LaunchOptions, ToolUse
from toolpost_core.api import open_session
from toolpost_core.session.session import Session

HERE = Path(__file__).parent
CASES = [json.loads(line) for line in (HERE / "tool_cases.jsonl").read_text(encoding="utf-8").splitlines() if line]
SLOWER = 1.0
"""Seconds that a loaded machine may take longer than a case allows: what hangs takes far more."""

Json = Mapping[str, Any]


def known_gaps() -> dict[str, str]:
    """Return the ids of cases that are known to fail, each with its reason."""
    lines = (HERE / "tool_known_gaps.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def marked_cases() -> Iterator[Any]:
    gaps = known_gaps()
    for case in CASES:
        marks = []
        if case["id"] in gaps:
            marks.append(pytest.mark.xfail(reason=gaps[case["id"]], strict=True))
        if "nonroot" in case.get("requires", ()) and os.geteuid() == 0:
            marks.append(pytest.mark.skip(reason="needs a user that file modes hold for"))
        yield pytest.param(case, id=case["id"], marks=marks)


def test_every_known_gap_is_a_case_and_has_a_reason() -> None:
    gaps = known_gaps()

    assert set(gaps) <= {case["id"] for case in CASES}
    assert all(reason.strip() for reason in gaps.values())


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the sessions of all cases find what is installed, so that only the first looks for it."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("case", list(marked_cases()))
async def test_tool_case(case: Json, tmp_path: Path, cache: Path) -> None:
    folder = tmp_path.resolve() / "tool case"  # with a blank, as many a real folder has
    folder.mkdir()
    lay(folder, case["setup"])
    values = {"cwd": str(folder)}
    problems: list[str] = []
    async with AsyncExitStack() as stack:
        sessions: dict[str, Session] = {}
        for number, (step, checks) in enumerate(zip(case["steps"], case["expect"], strict=True)):
            calls = step.get("parallel", [step])
            name = calls[0].get("session", "A")
            if name not in sessions:
                sessions[name] = await stack.enter_async_context(opened(folder, tmp_path / "state", cache))
            results, seconds = await called(sessions[name], [filled(call, values) for call in calls])
            for call, result in zip(calls, results, strict=True):
                save(call, text_of(result), values)
            for check in checks:
                for index in [check["call"]] if "call" in check else range(len(calls)):
                    failed = violations(filled(check, values), results[index], seconds, folder)
                    problems += [f"step {number}: {problem}" for problem in failed]
    assert problems == []


def opened(folder: Path, state: Path, cache: Path) -> AbstractAsyncContextManager[Session]:
    """Open a session in the folder of a case, with a home of its own."""
    if not state.is_dir():
        (state / ".toolpost").mkdir(parents=True)
        (state / ".toolpost" / "cache").symlink_to(cache)
    env = {**os.environ, "HOME": str(state), "TOOLPOST_CONFIG_DIR": str(state / ".toolpost")}
    options = LaunchOptions(cwd=folder, trust=True, permission_mode="bypassPermissions")
    return open_session(options, env=env, need_model=False)


async def called(session: Session, calls: list[Json]) -> tuple[list[Json], float]:
    """Make the calls of one turn; return their results and how many seconds they took."""
    uses = [ToolUse(f"toolu_{uuid4().hex}", call["tool"], call["input"]) for call in calls]
    started = time.monotonic()
    results = await session.run_calls(uses)
    seconds = time.monotonic() - started
    return [{"is_error": result.is_error, "content": result.block.get("content", "")} for result in results], seconds


def lay(folder: Path, setup: Json) -> None:
    """Make the files of a case; links last, because they may point at any of them."""
    for name, what in sorted(setup.items(), key=lambda item: isinstance(item[1], dict) and "symlink" in item[1]):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        entry = {"text": what} if isinstance(what, str) else what
        if "symlink" in entry:
            path.symlink_to(entry["symlink"])
            continue
        text = filled(entry.get("text", ""), {"cwd": str(folder)})
        path.write_bytes(base64.b64decode(entry["base64"]) if "base64" in entry else text.encode())
        if "mode" in entry:
            path.chmod(int(entry["mode"], 8))


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """Replace the macros in every text of a JSON value."""
    if isinstance(value, str):
        value = re.sub(r"(?s)\{\{repeat:(\d+):(.*?)\}\}", lambda found: found[2] * int(found[1]), value)
        return re.sub(r"\{\{(\w+)\}\}", lambda found: values.get(found[1], found[0]), value)
    if isinstance(value, list):
        return [filled(item, values) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, values) for key, item in value.items()}
    return value


def save(call: Json, text: str, values: dict[str, str]) -> None:
    for name, pattern in call.get("save", {}).items():
        found = re.search(pattern, text)
        assert found, f"nothing to save as {name} in {text[:200]!r}"
        values[name] = found[1]


def text_of(result: Json) -> str:
    """Return what the model reads; a block that is no text as `<<type media_type>>`."""
    content = result["content"]
    if isinstance(content, str):
        return content
    return "\n".join(
        block["text"] if block["type"] == "text" else f"<<{block['type']} {block['source']['media_type']}>>"
        for block in content
    )


def violations(check: Json, result: Json, seconds: float, folder: Path) -> Iterator[str]:
    """Yield what does not hold of a result."""
    text = text_of(result)
    text.encode()
    failed: dict[str, Callable[[Any], object]] = {
        "is_error": lambda wanted: result["is_error"] != wanted,
        "contains": lambda parts: [part for part in parts if part not in text],
        "not_contains": lambda parts: [part for part in parts if part in text],
        "contains_any": lambda parts: not any(part.lower() in text.lower() for part in parts),
        "ordered": lambda parts: not re.search("(?s)" + ".*".join(map(re.escape, parts)), text),
        "counts": lambda counts: [part for part, count in counts.items() if text.count(part) != count],
        "max_seconds": lambda most: seconds > most + SLOWER,
        "max_chars": lambda most: len(text) > most,
        "file": lambda wanted: wrong_file(folder / wanted["path"], wanted),
        "call": lambda _: None,
    }
    for name, wanted in check.items():
        found = failed[name](wanted)
        if found:
            yield f"{name} {wanted!r:.200} does not hold ({found!r:.200}) of {text[:300]!r}"
    if not text:
        yield "the result is empty"


def wrong_file(path: Path, wanted: Json) -> str:
    """Say how a file differs from what it should be; empty if it does not."""
    if wanted.get("absent"):
        return "it exists" if os.path.lexists(path) else ""
    data = path.read_bytes()
    exact = base64.b64decode(wanted["base64_equals"]) if "base64_equals" in wanted else None
    exact = wanted["equals"].encode() if "equals" in wanted else exact
    if exact is not None and data != exact:
        return f"it is {data[:200]!r}"
    return "" if wanted.get("contains", "").encode() in data else f"it is {data[:200]!r}"
