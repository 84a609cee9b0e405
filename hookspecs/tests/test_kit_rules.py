"""Rules that hold for what a kit can't see in one call: how bytes are cut, refusals, cancelling, imports, and the report."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path

import pytest

from toolpost import ModelRequest, Provider, ProviderError, Stop, StreamEvent, TextDelta, ToolUse, testing
from toolpost.testing import ProviderContract
from toolpost.testing._imports import heavy_among, importing
from toolpost.testing._interpreters import ready_interpreter

BODY = json.dumps({"command": "echo é"}, ensure_ascii=False).encode()


class Pieces(Provider):
    """Gets a call's input in pieces; a careless one decodes each by itself."""

    size: int = 1_000
    careless: bool = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        pieces = [BODY[at : at + self.size] for at in range(0, len(BODY), self.size)]
        text = "".join(part.decode(errors="replace") for part in pieces) if self.careless else b"".join(pieces).decode()
        yield ToolUse("toolu_1", "Bash", json.loads(text))
        yield Stop("tool_use")


class Refused(Provider):
    kind: str = "invalid_request"
    raises: bool = True

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        if not self.raises:
            raise ConnectionResetError
        yield TextDelta("")
        raise ProviderError("max_tokens: too many", kind=self.kind)


class Stubborn(Provider):
    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        yield TextDelta("one")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.5)
        yield Stop("end_turn")


def kit(provider: Provider, *, careless: bool = False) -> ProviderContract:
    class Kit(ProviderContract):
        plugin = provider
        within = 0.2

        def cut_up(self, size: int) -> AbstractAsyncContextManager[Provider]:
            return nullcontext(Pieces(size=size, careless=careless))

        def failures(self) -> Mapping[str, AbstractAsyncContextManager[Provider]]:
            return {"invalid_request": nullcontext(provider)}

        @asynccontextmanager
        async def hanging(self) -> AsyncIterator[tuple[Provider, asyncio.Event]]:
            yield provider, asyncio.Event()

    return Kit()


def test_an_answer_that_depends_on_how_it_is_cut_is_found() -> None:
    kit(Pieces()).test_an_answer_is_the_same_however_it_is_cut()
    with pytest.raises(AssertionError, match="cut into 1 bytes"):
        kit(Pieces(), careless=True).test_an_answer_is_the_same_however_it_is_cut()


def test_a_failure_of_another_type_or_kind_is_found() -> None:
    kit(Refused()).test_a_failure_of_the_service_is_a_provider_error_of_its_kind()
    with pytest.raises(AssertionError, match="invalid_request became rate_limit"):
        kit(Refused(kind="rate_limit")).test_a_failure_of_the_service_is_a_provider_error_of_its_kind()
    with pytest.raises(ConnectionResetError):
        kit(Refused(raises=False)).test_a_failure_of_the_service_is_a_provider_error_of_its_kind()


def test_a_provider_that_goes_on_though_it_was_cancelled_is_found() -> None:
    with pytest.raises(AssertionError, match=r"s after it was called off; 0\.2 s are allowed"):
        kit(Stubborn()).test_cancelling_an_answer_ends_it()


def test_a_connection_that_stays_open_is_found() -> None:
    with pytest.raises(pytest.fail.Exception, match="the connection was still open"):
        kit(Pieces()).test_an_answer_that_is_called_off_closes_its_connection()


def test_a_heavy_library_of_a_plugin_that_is_a_module_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weighty.py").write_text("import pydantic\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    import weighty  # type: ignore[import-not-found]

    modules = importing(weighty, math.inf, tmp_path / "compiled").modules
    assert heavy_among(modules, ()) == ["pydantic"]
    assert heavy_among(modules, ("pydantic",)) == []


def test_what_a_plugin_prints_and_raises_as_it_is_imported_does_not_disturb_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loud.py").write_text("import os\nos.write(1, b'loud')\nprint(input)\n", encoding="utf-8")
    (tmp_path / "failing.py").write_text("import pathlib\nraise LookupError('on purpose')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(AssertionError, match="LookupError: on purpose"):
        ready_interpreter().ask("__import__(arguments[0])", "failing")
    assert ready_interpreter().ask("import loud; answer = sorted({'loud', 'failing'} & {*sys.modules})") == ["loud"]


@pytest.mark.parametrize("kit", [name for name in testing.__all__ if name.endswith("Contract")])
def test_every_rule_says_how_to_keep_it(kit: str) -> None:
    rules = {name: test for name, test in inspect.getmembers(getattr(testing, kit)) if name.startswith("test_")}
    assert rules
    assert [name for name, test in rules.items() if not (test.__doc__ or "").startswith("If this fails: ")] == []


def test_the_report_of_a_broken_rule_says_which_and_how_to_mend_it(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text(
        "from toolpost import tool\nfrom toolpost.testing import ToolContract\n\n"
        "@tool(name='my tool')\nasync def mine() -> str:\n    'Does what it can, slowly.'\n    return 'done'\n\n"
        "class TestMine(ToolContract):\n    tool = mine\n    example = {}\n",
        encoding="utf-8",
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        "pytest.ini",
        "-k",
        "names",
        "--tb=short",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "The rule: its names are legal." in done.stdout
    assert "If this fails: use 1 to 64 letters" in done.stdout
