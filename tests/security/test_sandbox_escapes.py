"""What a command in the sandbox tries, and what is true outside afterwards. Every attempt is really made."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.security.sandbox_cell import SECRET, Cell, call, needs_sandbox

from toolpost import ToolUse

pytestmark = needs_sandbox


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """A process outside."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


@contextmanager
def listening(family: socket.AddressFamily, address: Any) -> Iterator[socket.socket]:
    """A server outside that nobody must reach."""
    with socket.socket(family, socket.SOCK_STREAM) as server:
        server.bind(address)
        server.listen()
        server.setblocking(False)
        yield server
        with pytest.raises(BlockingIOError):
            server.accept()


async def test_work_in_the_project_is_not_hindered(cell: Cell) -> None:
    text = await cell.run(
        "mkdir -p src && echo 'print(6 * 7)' > src/a.py && python3 src/a.py | tee out.txt && mv out.txt b.txt"
        " && ln b.txt c.txt && ln -s b.txt d.txt && cat d.txt && rm c.txt && echo x > $TMPDIR/t && cat $TMPDIR/t"
        " && printf 'a\\nb\\n' | sort -r | head -1 && (sleep 5 & kill $!) && echo done"
    )
    assert text == "42\n42\nx\nb\ndone"
    assert (cell.project / "b.txt").read_text() == "42\n"


WRITES = {
    "directly": "echo x > {outside}/kept.txt; echo x > {outside}/new; rm -rf {outside}; mkdir {outside}/d; touch /etc/new",
    "by dots": "echo x > ../outside/kept.txt; cd ..; echo x > outside/new",
    "by a symbolic link": "ln -s {outside} link; echo x > link/kept.txt; echo x > link/new; rm link",
    "by a link to a file": "ln -s {outside}/kept.txt link; echo x > link; sed -i s/k/x/ link; chmod 777 link; rm -f link",
    "by a hard link": "ln {outside}/kept.txt link && echo x > link; rm -f link",
    "by proc": "for p in self 1 $$; do echo x > /proc/$p/root{outside}/kept.txt; echo x > /proc/$p/cwd/../outside/new; done",
    "by moving": "mv {outside} mine; mv {outside}/kept.txt mine; echo x > f; mv f {outside}/kept.txt; rm -f f",
    "by moving the project": "cd ..; mv project gone; mkdir project; mv outside project/",
    "by metadata": "touch -d 2001-01-01 {outside}/kept.txt; chmod 000 {outside}/kept.txt; chown 1:1 {outside}/kept.txt",
    "by a file descriptor": "for f in /proc/[0-9]*/fd/*; do echo x > $f/kept.txt; done; ls -l /proc/*/fd | grep {outside}",
}


@pytest.mark.parametrize("how", WRITES)
async def test_nothing_outside_is_written(cell: Cell, how: str) -> None:
    before, mode = cell.state(), (cell.outside / "kept.txt").stat()
    await cell.run("(" + WRITES[how].format(outside=cell.outside) + ") 2>/dev/null; true")
    after = (cell.outside / "kept.txt").stat()
    assert cell.state() == before
    assert (mode.st_mode, mode.st_uid, mode.st_mtime_ns) == (after.st_mode, after.st_uid, after.st_mtime_ns)
    assert not Path("/etc/new").exists()


async def test_links_that_one_command_leaves_lead_the_next_nowhere(cell: Cell) -> None:
    before = cell.state()
    async with cell.session() as session:
        await call(session, "mkdir -p deep/.claude deep/.vscode/x; true")
        await call(session, f"rm -rf deep/.vscode; ln -s {cell.outside} build; ln -s {cell.secrets} deep/.vscode")
        text = await call(
            session, "echo x > build/new; mv deep gone; cat deep/.vscode/key; echo x > deep/.vscode/key; true"
        )
    assert SECRET not in text
    assert cell.state() == before


async def test_programs_on_path_do_not_take_the_sandboxs_place(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{cell.project}/bin:{os.environ['PATH']}")
    async with cell.session() as session:
        names = "bwrap nsenter unshare true bash"
        evil = f'#!/bin/sh\\ntouch {cell.outside}/owned\\nexec /bin/bash \\"\\$@\\"'
        await call(session, f'mkdir bin; for n in {names}; do printf "{evil}" > bin/$n; chmod +x bin/$n; done')
        await call(session, "true")
    assert not (cell.outside / "owned").exists()


async def test_a_server_of_one_command_is_reached_by_the_next_and_by_nobody_outside(cell: Cell) -> None:
    serve = f"{sys.executable} -I -m http.server --bind 127.0.0.1 47001 --directory $TMPDIR"
    async with cell.session() as session:
        (started,) = await session.run_calls(
            [ToolUse("toolu_1", "Bash", {"command": serve, "run_in_background": True, "timeout": 60_000})]
        )
        assert not started.is_error
        fetch = "curl -sf http://127.0.0.1:47001/ >/dev/null"
        assert (
            await call(session, f"for i in $(seq 100); do {fetch} && echo REACHED && break; sleep 0.1; done")
            == "REACHED"
        )
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", 47001), timeout=2)


READS = {
    "directly": "cat {secrets}/key; ls -la {secrets}; head -c 100 {secrets}/*",
    "by dots": "cat ../home/secrets/key",
    "by a link": "ln -s {secrets} link; cat link/key; rm link; ln -s {secrets}/key link; cat link; rm link",
    "by a hard link": "ln {secrets}/key link && cat link; cp -l {secrets}/key link && cat link; rm -f link",
    "by proc": "for p in self 1 2 $$; do cat /proc/$p/root{secrets}/key /proc/$p/cwd/../home/secrets/key; done",
    "by descriptors": "for f in /proc/[0-9]*/fd/*; do cat $f/key $f/home/secrets/key; done",
    "by unmounting": "umount {secrets}; umount -l {secrets}; cat {secrets}/key",
    "by mounting": "mkdir m; mount --bind ../home m; cat m/secrets/key; mount -t tmpfs x m; rmdir m",
    "by a namespace": "unshare -Urm sh -c 'umount -l {secrets}; cat {secrets}/key'; unshare -m cat {secrets}/key",
    "by another's namespace": "nsenter -t 1 -m cat {secrets}/key; nsenter -t 1 -U -m cat {secrets}/key",
    "by moving": "mv {secrets} s; cat s/key; mv ../home h; cat h/secrets/key",
    "by archives": "tar cf - {secrets} | strings; cp -r {secrets} copy; cat copy/key; rm -rf copy",
    "by the disk": "for d in $(lsblk -lnpo NAME) /dev/vda /dev/sda; do dd if=$d bs=1M count=1; done | strings | head -c 100",
    "by making a device": "mknod disk b 254 0 && head -c 10 disk; mknod disk b 8 0 && head -c 10 disk; rm -f disk",
}


@pytest.mark.parametrize("how", READS)
async def test_no_secret_is_read(cell: Cell, how: str) -> None:
    text = await cell.run("(" + READS[how].format(secrets=cell.secrets) + ") 2>&1; echo tried")
    assert "tried" in text
    assert SECRET not in text
    assert (cell.secrets / "key").read_text() == SECRET


async def test_a_hidden_folder_takes_nothing_up(cell: Cell) -> None:
    text = await cell.run(f"echo x > {cell.secrets}/new && echo WROTE; ls -A {cell.secrets}; echo tried")
    assert text.splitlines()[1] == "tried"
    assert "WROTE" not in text


async def test_no_process_outside_is_signalled(cell: Cell, victim: subprocess.Popen[bytes]) -> None:
    me, pid = os.getpid(), victim.pid
    await cell.run(f"kill -9 {pid}; kill -9 -{pid}; pkill -9 sleep; kill -9 {me}; kill -9 -{me}; kill -15 1; true")
    await cell.run("kill -9 -1; true")
    assert victim.poll() is None


async def test_no_process_outside_is_seen_or_traced(cell: Cell, victim: subprocess.Popen[bytes]) -> None:
    text = await cell.python(
        f"""
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        for pid in ({victim.pid}, {os.getpid()}):
            print("attach", libc.ptrace(16, pid, None, None), "seize", libc.ptrace(0x4206, pid, None, None))
            print("there", os.path.exists(f"/proc/{{pid}}/status"))
        print("most", max(int(name) for name in os.listdir("/proc") if name.isdigit()) < 100)
        """
    )
    assert text.splitlines() == ["attach -1 seize -1", "there False"] * 2 + ["most True"]
    assert "TracerPid:\t0" in Path(f"/proc/{victim.pid}/status").read_text()


CONNECT = """
import socket, sys
for family, address in {targets}:
    try:
        made = socket.socket(family, socket.SOCK_STREAM)
        made.settimeout(1)
        made.connect(address)
    except OSError as error:
        print("refused", error.errno)
    else:
        print("CONNECTED", address)
"""


async def test_no_server_of_this_machine_and_no_metadata_is_reached(cell: Cell) -> None:
    named = str(cell.project / "socket")
    with (
        listening(socket.AF_INET, ("127.0.0.1", 0)) as server,
        listening(socket.AF_UNIX, named),
        listening(socket.AF_UNIX, f"\0toolpost-{os.getpid()}"),
    ):
        port = server.getsockname()[1]
        here = [(int(socket.AF_INET), (host, port)) for host in ("127.0.0.1", "0.0.0.0", "127.1.2.3")]
        far = [(int(socket.AF_INET), ("169.254.169.254", 80)), (int(socket.AF_INET), ("1.1.1.1", 443))]
        sockets = [(int(socket.AF_UNIX), named), (int(socket.AF_UNIX), f"\0toolpost-{os.getpid()}"), (40, (2, 22))]
        text = await cell.python(CONNECT.format(targets=[*here, *far, *sockets]))
    (cell.project / "socket").unlink()
    assert "CONNECTED" not in text
    assert text.count("refused") == 8, text


PAIRS = """
import socket
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, socket.SOCK_RAW):
    try:
        half, other = socket.socketpair(socket.AF_UNIX, kind)
    except OSError as error:
        print("refused", error.errno)
        continue
    for attempt in (lambda: half.sendto(b"x", {address!r}), lambda: half.connect({address!r})):
        try:
            attempt()
        except OSError:
            pass
    print("made", kind)
"""


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET])
async def test_half_of_a_pair_of_sockets_reaches_no_program_outside(cell: Cell, kind: socket.SocketKind) -> None:
    address = str(cell.outside / "socket")
    with socket.socket(socket.AF_UNIX, kind) as server:
        server.bind(address)
        server.setblocking(False)
        if kind is not socket.SOCK_DGRAM:
            server.listen()
        text = await cell.python(PAIRS.format(address=address))
        with pytest.raises(BlockingIOError):
            server.recv(1) if kind is socket.SOCK_DGRAM else server.accept()
    assert text.splitlines() == ["made 1", "refused 1", "made 5", "refused 1"]


async def test_the_gateway_is_no_way_to_this_machine_either(cell: Cell) -> None:
    cell.network = {"allowedDomains": ["*"]}
    with listening(socket.AF_INET, ("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        hosts = ("127.0.0.1", "localhost", "0.0.0.0", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "[::1]")
        urls = " ".join(f"'http://{host}:{port}/'" for host in hosts) + " http://169.254.169.254/latest/meta-data/"
        text = await cell.run(
            f"for url in {urls}; do curl -gsS -m 5 --noproxy '' -o /dev/null -w '%{{http_code}}\\n' $url; done; "
            f"curl -sS -m 5 --noproxy '' -x socks5h://${{http_proxy#http://}} http://localhost:{port}/ || echo none"
        )
    shown = text.partition("<sandbox_violations>")
    assert set(shown[0].split("\n")[:9]) == {"403"}, text
    assert "none" in shown[0]
    assert "connect 169.254.169.254:80" in shown[2]


CALLS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, *arguments):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*arguments) if isinstance(name, str) else libc.syscall(name, *arguments)
    print(name, "WORKED" if result >= 0 else "refused")
attempt("mount", None, b"/", None, 0x1020, None)
attempt("mount", b"tmpfs", b"/mnt", b"tmpfs", 0, None)
attempt("mount", b"proc", b"/proc", b"proc", 0, None)
attempt("umount2", b"/proc", 2)
attempt("umount2", {secrets!r}, 2)
attempt("pivot_root" if hasattr(libc, "pivot_root") else 155, b"/tmp", b"/tmp")
attempt("unshare", 0x10000000)
attempt("unshare", 0x00020000)
attempt("unshare", 0x10020000)
attempt("setns", os.open("/proc/1/ns/mnt", os.O_RDONLY), 0)
attempt("chroot", b"/tmp")
attempt("sethostname", b"x", 1)
attempt("swapoff", b"/none")
attempt("reboot", 0)
attempt("setuid", 12345)
attempt("keyctl" if hasattr(libc, "keyctl") else {keyctl}, 0, -3, 0)
attempt({ring}, 8, ctypes.create_string_buffer(256))
attempt({bpf}, 0, None, 0)
"""
NUMBERS = {"x86_64": {"keyctl": 250, "bpf": 321}, "aarch64": {"keyctl": 219, "bpf": 280}}[os.uname().machine]


async def test_no_call_to_the_kernel_opens_a_way_out(cell: Cell) -> None:
    text = await cell.python(CALLS.format(secrets=str(cell.secrets).encode(), ring=425, **NUMBERS))
    assert "WORKED" not in text
    assert text.count("refused") == 18, text


async def test_the_kernel_is_not_set_and_no_terminal_typed_into(cell: Cell) -> None:
    printk = Path("/proc/sys/kernel/printk").read_text()
    text = await cell.run(
        "for f in /proc/sys/kernel/printk /proc/sys/vm/overcommit_ratio /proc/sysrq-trigger /proc/mtrr "
        "/proc/sys/kernel/hostname /proc/sys/vm/drop_caches "
        "/sys/kernel/mm/ksm/run /sys/fs/cgroup/cgroup.procs /proc/1/mem /proc/self/uid_map; do "
        "(echo 1 > $f) 2>/dev/null && echo WROTE $f; done; : < /dev/tty && echo TERMINAL; echo tried"
    )
    assert "tried" in text
    assert "WROTE" not in text
    assert "TERMINAL" not in text
    assert Path("/proc/sys/kernel/printk").read_text() == printk
