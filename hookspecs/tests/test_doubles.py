"""The doubles behave as the services that they stand for."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from toolpost import (
    Aborted,
    Files,
    Mcp,
    MissingService,
    ModelRequest,
    ProviderError,
    StaleFile,
    Stop,
    TextDelta,
    ToolUse,
)
from toolpost.testing import AbortSwitch, FakeModel, make_context, make_scope

REQUEST = ModelRequest(model="fake-model", messages=[{"role": "user", "content": "Hello"}])


async def test_a_fake_model_plays_its_turns_and_keeps_the_requests() -> None:
    model = FakeModel(ToolUse("toolu_1", "Read", {}), ["Al", "most"], ProviderError("overloaded"), "Done.")
    called = [event async for event in model.stream(REQUEST)]
    spoken = [event async for event in model.stream(REQUEST)]
    assert [type(event).__name__ for event in called] == ["MessageStart", "ToolUse", "Stop"]
    assert called[-1].reason == "tool_use"  # type: ignore[union-attr]
    assert [event.text for event in spoken if isinstance(event, TextDelta)] == ["Al", "most"]
    assert isinstance(spoken[-1], Stop)
    with pytest.raises(ProviderError, match="overloaded"):
        [event async for event in model.stream(REQUEST)]
    assert len(model.requests) == 3


async def test_a_fake_model_that_has_no_turn_left_says_so() -> None:
    with pytest.raises(ProviderError, match="has 0 turns and was asked for turn 1"):
        [event async for event in FakeModel().stream(REQUEST)]


@pytest.mark.parametrize("data", [b"a\r\nb\r\n", "\ufeffä\n".encode(), b"\xff\xfea\x00", b"caf\xe9", b"a\rb", b""])
async def test_a_text_file_goes_back_as_it_came(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "file.txt"
    file.write_bytes(data)
    files = make_context(tmp_path).files
    loaded = await files.load(file)
    await files.write_text(file, loaded.text, like=loaded, expect=loaded.digest)
    assert file.read_bytes() == data


async def test_a_file_that_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "file.txt"
    file.write_text("one", encoding="utf-8")
    files = make_context(tmp_path).files
    digest = (await files.load(file)).digest
    file.write_text("two", encoding="utf-8")
    with pytest.raises(StaleFile, match=r"file\.txt"):
        await files.write_text(file, "three", expect=digest)
    assert file.read_text(encoding="utf-8") == "two"


async def test_a_process_gets_its_input_and_gives_its_output_and_code(tmp_path: Path) -> None:
    script = "import sys; print(sys.stdin.read().upper()); print('oops', file=sys.stderr); sys.exit(3)"
    done = await make_context(tmp_path).processes.run([sys.executable, "-c", script], cwd=tmp_path, input=b"hi")
    assert (done.output, done.errors, done.returncode, done.timed_out) == (b"HI\n", b"oops\n", 3, False)


async def test_output_over_the_limit_is_counted_and_dropped(tmp_path: Path) -> None:
    done = await make_context(tmp_path).processes.run(["printf", "0123456789"], cwd=tmp_path, max_output=4)
    assert (done.output, done.dropped) == (b"0123", 6)


async def test_a_process_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    done = await make_context(tmp_path).processes.run(["sleep", "60"], cwd=tmp_path, timeout=0.1)
    assert done.timed_out
    assert done.returncode == -9


async def test_an_abort_ends_the_process_and_is_raised(tmp_path: Path) -> None:
    abort = AbortSwitch()
    run = asyncio.create_task(make_context(tmp_path).processes.run(["sleep", "60"], cwd=tmp_path, abort=abort))
    await asyncio.sleep(0)
    abort.trigger("interrupt")
    with pytest.raises(Aborted) as caught:
        await run
    assert caught.value.reason == "interrupt"


def test_a_service_that_the_test_does_not_offer_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingService, match=r"'Mcp'.*services=\{Mcp"):
        _ = make_context(tmp_path).mcp


def test_a_service_of_the_tests_own_replaces_the_double(tmp_path: Path) -> None:
    mine: Any = object()
    assert make_context(tmp_path, services={Files: mine}).files is mine
    assert make_context(tmp_path, services={Mcp: mine}).mcp is mine


def test_a_context_is_in_its_folder_with_the_mode_and_environment_of_the_test(tmp_path: Path) -> None:
    ctx = make_context(tmp_path, mode="plan", interactive=True, env={"TOKEN": "x"})
    assert (ctx.cwd, ctx.mode, ctx.scope.interactive) == (tmp_path.resolve(), "plan", True)
    assert ctx.env["TOKEN"] == "x"
    assert not ctx.scope.home.exists()
    assert make_scope(tmp_path, model="other").model == "other"
