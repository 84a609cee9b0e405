"""What of a session's surroundings must not become a way out: where it was started, and what its environment says."""

from __future__ import annotations

import asyncio

from tests.security.sandbox_cell import Cell, needs_sandbox

pytestmark = needs_sandbox


async def test_started_above_the_home_folder_it_is_not_written_to(cell: Cell) -> None:
    home, secrets = cell.root / "home", cell.state()
    cell.project = cell.root
    await cell.run("(echo x > home/new; echo x > new; mkdir home/.config; echo x > home/.bashrc) 2>/dev/null; true")
    assert [path.name for path in home.iterdir() if path.name not in (".toolpost", ".cache")] == ["secrets"]
    assert not (cell.root / "new").exists()
    assert cell.state() == secrets


async def test_at_home_nothing_is_planted_that_starts_by_itself(cell: Cell) -> None:
    home = cell.root / "home"
    (home / ".config").mkdir()
    cell.project = home
    names = ".config/autostart/x.desktop .local/bin/git bin/git .bash_profile .ssh/authorized_keys .config/git/config"
    await cell.run(
        f"(for n in {names}; do mkdir -p $(dirname $n); echo x > $n; done; echo x > notes) 2>/dev/null; true"
    )
    assert (home / "notes").exists()
    assert [name for name in names.split() if (home / name).exists()] == []


async def test_variables_of_the_loader_do_not_reach_the_programs_that_hold_commands_in(cell: Cell) -> None:
    # glibc says in files of this name what it loads, for each program that has the variables.
    cell.env = {
        "LD_DEBUG": "libs",
        "LD_DEBUG_OUTPUT": f"{cell.outside}/loaded",
        "LD_LIBRARY_PATH": f"{cell.project}/lib",
    }
    before = cell.state()
    text = await cell.run("echo $LD_LIBRARY_PATH $LD_DEBUG")
    assert f"{cell.project}/lib libs" in text.splitlines()
    assert cell.state() == before


async def test_a_proxy_of_ones_own_carries_what_is_let_out_and_nothing_else(cell: Cell) -> None:
    heads: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        cell.network = {"allowedDomains": ["site.example"], "strictAllowlist": True, "httpProxyPort": port}
        text = await cell.run(
            f"curl -sS http://site.example/a; curl -sS http://evil.test/ -o /dev/null -w ' %{{http_code}} '; "
            f"curl -sS --noproxy '*' -m 2 http://127.0.0.1:{port}/ || echo alone"
        )
    assert heads == [b"GET http://site.example/a HTTP/1.1"]
    assert text.startswith("hello 403 ")
    assert "alone" in text
