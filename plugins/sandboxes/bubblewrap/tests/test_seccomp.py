from __future__ import annotations

import errno
import os
import platform
import struct

import pytest

from toolpost_sandbox_bubblewrap.seccomp import MACHINES, program

ALLOWED, REFUSED, UNKNOWN = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS


def answer(filter: bytes, audit: int, number: int, *arguments: int) -> int:
    """Run the filter over a call, as the kernel does."""
    data = struct.pack("=iIQ6Q", number, audit, 0, *arguments, *([0] * (6 - len(arguments))))
    at, held = 0, 0
    while True:
        code, true, false, value = struct.unpack_from("=HBBI", filter, at * 8)
        at += 1
        if code == 0x20:
            held = struct.unpack_from("=I", data, value)[0]
        elif code == 0x54:
            held &= value
        elif code == 0x06:
            return int(value)
        else:
            at += true if (held == value if code == 0x15 else held >= value) else false


machines = pytest.mark.parametrize("machine", MACHINES)


@machines
def test_ordinary_calls_are_allowed(machine: str) -> None:
    filter, of = program(unix_sockets=False, machine=machine), MACHINES[machine]
    for number in (0, 1, 2, 56, 59, 257, 435):
        if number not in of.numbers.values():
            assert answer(filter, of.audit, number) == ALLOWED


@machines
def test_calls_that_lead_out_are_refused(machine: str) -> None:
    filter, of = program(unix_sockets=False, machine=machine), MACHINES[machine]
    listed = {name: number for name, number in of.numbers.items() if name not in ("socket", "socketpair", "ioctl")}
    assert len(listed) == 31
    for name, number in listed.items():
        assert answer(filter, of.audit, number) == (UNKNOWN if name.startswith("io_uring") else REFUSED), name


@machines
@pytest.mark.parametrize(
    ("family", "plain", "with_unix"),
    [(1, REFUSED, ALLOWED), (2, ALLOWED, ALLOWED), (10, ALLOWED, ALLOWED), (16, ALLOWED, ALLOWED)]
    + [(family, REFUSED, REFUSED) for family in (0, 17, 31, 38, 40, 44)],
)
def test_sockets_are_of_the_internet_or_if_so_set_of_this_machine(
    machine: str, family: int, plain: int, with_unix: int
) -> None:
    of = MACHINES[machine]
    for unix_sockets, expected in ((False, plain), (True, with_unix)):
        filter = program(unix_sockets=unix_sockets, machine=machine)
        assert answer(filter, of.audit, of.numbers["socket"], family, 1, 0) == expected
        # The kernel takes the lower half for the family, whatever stands in the upper one.
        assert answer(filter, of.audit, of.numbers["socket"], (7 << 32) | family, 1, 0) == expected


@machines
@pytest.mark.parametrize(("kind", "plain"), [(1, ALLOWED), (2, REFUSED), (3, REFUSED), (5, ALLOWED)])
@pytest.mark.parametrize("flags", [0, 0o2000000, 0o4000, 1 << 32])
def test_pairs_of_sockets_that_can_send_to_others_are_refused(machine: str, kind: int, plain: int, flags: int) -> None:
    of = MACHINES[machine]
    for unix_sockets, expected in ((False, plain), (True, ALLOWED)):
        filter = program(unix_sockets=unix_sockets, machine=machine)
        assert answer(filter, of.audit, of.numbers["socketpair"], 1, kind | flags, 0) == expected


@machines
def test_nothing_is_typed_into_a_terminal(machine: str) -> None:
    filter, of = program(unix_sockets=False, machine=machine), MACHINES[machine]
    assert answer(filter, of.audit, of.numbers["ioctl"], 0, 0x5412) == REFUSED
    assert answer(filter, of.audit, of.numbers["ioctl"], 0, (1 << 32) | 0x5412) == REFUSED
    assert answer(filter, of.audit, of.numbers["ioctl"], 0, 0x5413) == ALLOWED


@machines
def test_calls_of_another_architecture_are_unknown(machine: str) -> None:
    filter, of = program(unix_sockets=False, machine=machine), MACHINES[machine]
    assert answer(filter, 0x40000003, 102) == UNKNOWN
    assert answer(filter, of.audit, 0x40000000 | of.numbers["socket"], 1) == UNKNOWN


@pytest.mark.skipif(platform.machine() not in MACHINES, reason="no numbers of this processor to compare with")
def test_the_numbers_are_those_of_this_machines_headers() -> None:
    names = {"x86_64": "asm/unistd_64.h", "aarch64": "asm-generic/unistd.h"}
    roots = ("/usr/include", f"/usr/include/{platform.machine()}-linux-gnu")
    files = [f"{root}/{names[platform.machine()]}" for root in roots]
    file = next((file for file in files if os.path.exists(file)), None)  # noqa: PTH110 - texts
    if file is None:
        pytest.skip("the kernel's headers are not installed")
    with open(file, encoding="utf-8") as lines:  # noqa: PTH123 - texts
        words = [line.split() for line in lines if line.startswith("#define __NR_")]
    here = {parts[1].removeprefix("__NR_"): parts[2] for parts in words}
    assert {name: str(number) for name, number in MACHINES[platform.machine()].numbers.items()}.items() <= here.items()
