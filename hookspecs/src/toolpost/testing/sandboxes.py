"""The contract kit of sandboxes."""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
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
        """If this fails: only `writable` folders may be written to, and those can be: a person relies on both."""
        inside, outside = folder / "inside", folder / "outside"
        inside.mkdir()
        outside.mkdir()
        done = self._run(folder, f"echo x > {inside}/file; echo x > {outside}/file", SandboxPolicy(writable=(inside,)))
        assert (inside / "file").exists(), done.errors
        assert not (outside / "file").exists()

    def test_a_hidden_folder_can_not_be_read(self, folder: Path) -> None:
        """If this fails: `hidden` wins over the folder that it lies in; what is hidden are a person's secrets."""
        hidden = folder / "hidden"
        hidden.mkdir()
        (hidden / "secret.txt").write_text("the secret", encoding="utf-8")
        policy = SandboxPolicy(writable=(folder,), hidden=(hidden,))
        assert b"the secret" not in self._run(folder, f"cat {hidden}/secret.txt", policy).output

    def test_the_exit_code_comes_through(self, folder: Path) -> None:
        """If this fails: start the command so that its exit code is the process's own: tools tell failures by it."""
        assert self._run(folder, "exit 7", SandboxPolicy(writable=(folder,))).returncode == 7

    def test_a_read_only_path_can_not_be_changed_or_made(self, folder: Path) -> None:
        """If this fails: `read_only` wins over the folder that it lies in, also where it is not there yet."""
        there, missing = folder / "there", folder / "missing"
        there.mkdir()
        script = f"echo x > {there}/file; mkdir -p {missing}; echo x > {missing}/file; echo x > {missing}; :"
        done = self._run(folder, script, SandboxPolicy(writable=(folder,), read_only=(there, missing)))
        assert done.returncode == 0, done.errors
        assert not (there / "file").exists()
        assert not missing.exists(), "nothing may be left of what stood there meanwhile, either"

    def test_without_network_nothing_on_this_machine_is_reached(self, folder: Path) -> None:
        """If this fails: a sandbox without `network` has none, not even to 127.0.0.1."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.setblocking(False)
            port = server.getsockname()[1]
            code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
            done = self._run(folder, f'{sys.executable} -I -c "{code}"', SandboxPolicy(writable=(folder,)))
            assert not _called(server)
        assert done.returncode != 0

    def _run(self, folder: Path, script: str, policy: SandboxPolicy) -> Finished:
        sandbox: Sandbox = self.make()
        missing = f"works on {sandbox.platform}" if sys.platform != sandbox.platform else sandbox.unusable()
        if missing:
            pytest.skip(missing)
        ctx = make_context(folder)

        async def run() -> Finished:
            wrapped = await sandbox.wrap(("sh", "-c", script), ctx.env, policy)
            try:
                process = await ctx.processes.start(
                    wrapped.argv, cwd=folder, env=wrapped.env, pass_fds=wrapped.pass_fds
                )
                output = b"".join([chunk async for chunk in _chunks(process.read)])
                errors = b"".join([chunk async for chunk in _chunks(process.read_errors)])
                return Finished(await process.wait(), output, errors)
            finally:
                await wrapped.finish()

        return finish(run())


async def _chunks(read: Callable[[], Awaitable[bytes]]) -> AsyncIterator[bytes]:
    while chunk := await read():
        yield chunk


def _called(server: socket.socket) -> bool:
    """Whether anybody connected."""
    try:
        caller, _ = server.accept()
    except BlockingIOError:
        return False
    caller.close()
    return True
