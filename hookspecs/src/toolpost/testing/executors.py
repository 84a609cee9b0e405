"""The contract kit of agent executors."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from toolpost.errors import SessionError
from toolpost.services import AgentRequest, AgentResult
from toolpost.session import SessionScope
from toolpost.testing._contract import PluginContract, finish
from toolpost.testing.context import make_scope


class ExecutorContract(PluginContract):
    """The suite for an agent executor that runs its agents with `run_here`."""

    group = "executors"

    def test_it_hands_on_the_request_and_hands_back_the_result(self, folder: Path) -> None:
        """If this fails: await run_here with the request, in a scope whose `cwd` exists, and return its result as it is."""
        result = AgentResult(agent_id="agent-1", content=({"type": "text", "text": "Done."},))
        prompts: list[str] = []

        async def run_here(request: AgentRequest, scope: SessionScope) -> AgentResult:
            assert scope.cwd.is_dir()
            prompts.append(request.prompt)
            return result

        answer = finish(self.make().run(self._request(), make_scope(folder), run_here))
        assert (answer.content, prompts) == (result.content, ["Count the files."])

    def test_what_the_agent_raises_comes_through(self, folder: Path) -> None:
        """If this fails: let the error of run_here pass; core makes the result of it that the parent's model reads."""

        async def run_here(request: AgentRequest, scope: SessionScope) -> AgentResult:
            del request, scope
            raise SessionError("there is no model")

        with pytest.raises(SessionError, match="there is no model"):
            finish(self.make().run(self._request(), make_scope(folder), run_here))

    def test_cancelling_it_ends_the_agent(self, folder: Path) -> None:
        """If this fails: let CancelledError through to run_here, and clean up in `finally`: the parent was called off."""
        ended: list[bool] = []

        async def run_here(request: AgentRequest, scope: SessionScope) -> AgentResult:
            del request, scope
            try:
                started.set()
                await asyncio.Event().wait()
            finally:
                ended.append(True)
            raise AssertionError

        async def cancelled() -> None:
            run = asyncio.create_task(self.make().run(self._request(), make_scope(folder), run_here))
            await started.wait()
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
            # Here and not later: the end of the loop cancels whatever is left.
            assert ended == [True], "the executor ended, and the agent runs on"

        started = asyncio.Event()
        finish(cancelled())

    def _request(self) -> AgentRequest:
        return AgentRequest(prompt="Count the files.", isolation=self.make().isolation)
