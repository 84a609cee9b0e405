"""The contract kit of sandboxes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from toolpost.sandboxes import Sandbox, SandboxPolicy
from toolpost.services import Finished
from toolpost.testing._contract import PluginContract, finish
from toolpost.testing.context import make_context


class SandboxContract(PluginContract):
    """The suite for a sandbox; where it can't work on this machine the tests are skipped and say what is missing."""

    group = "sandboxes"

    def test_a_command_inside_writes_where_it_may_and_nowhere_else(self, folder: Path) -> None:
        """If this fails: only `writable` folders may be written to."""
        inside, outside = folder / "inside", folder / "outside"
        inside.mkdir()
        outside.mkdir()
        done = self._run(folder, f"echo x > {inside}/file; echo x > {outside}/file", SandboxPolicy(writable=(inside,)))
        assert (inside / "file").exists(), done.errors
        assert not (outside / "file").exists()

    def test_a_hidden_folder_can_not_be_read(self, folder: Path) -> None:
        """If this fails: `hidden` wins over the folder that it lies in."""
        hidden = folder / "hidden"
        hidden.mkdir()
        (hidden / "secret.txt").write_text("the secret", encoding="utf-8")
        policy = SandboxPolicy(writable=(folder,), hidden=(hidden,))
        assert b"the secret" not in self._run(folder, f"cat {hidden}/secret.txt", policy).output

    def test_the_exit_code_comes_through(self, folder: Path) -> None:
        """If this fails: start the command so that its exit code is the process's own."""
        assert self._run(folder, "exit 7", SandboxPolicy(writable=(folder,))).returncode == 7

    def _run(self, folder: Path, script: str, policy: SandboxPolicy) -> Finished:
        sandbox: Sandbox = self.make()
        missing = f"works on {sandbox.platform}" if sys.platform != sandbox.platform else sandbox.unusable()
        if missing:
            pytest.skip(missing)
        ctx = make_context(folder)

        async def run() -> Finished:
            wrapped = await sandbox.wrap(("sh", "-c", script), ctx.env, policy)
            return await ctx.processes.run(wrapped.argv, cwd=folder, env=wrapped.env)

        return finish(run())
