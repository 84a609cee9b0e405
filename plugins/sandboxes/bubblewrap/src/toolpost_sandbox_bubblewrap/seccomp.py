"""The filter of system calls: what namespaces do not hold back. Classic BPF over `struct seccomp_data`."""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06  # BPF_LD|W|ABS, JMP|JEQ, JMP|JGE, ALU|AND, RET
_NUMBER, _MACHINE, _FIRST, _SECOND = 0, 4, 16, 24  # offsets; of arguments the lower half, on little-endian machines
_ALLOW: Final = 0x7FFF0000
_X32: Final = 0x40000000
_REFUSED: Final = 0x00050000 | errno.EPERM
_UNKNOWN: Final = 0x00050000 | errno.ENOSYS

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_DATAGRAM, _RAW = 2, 3
_KIND_OF_SOCKET = 0xF  # beside it stand flags
_ALL_BITS = 0xFFFFFFFF
_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: they type into the terminal that we were started from."""


_CALLS: Final = """
    socket               41 198
    socketpair           53 199
    ioctl                16  29
    add_key             248 217
    request_key         249 218
    keyctl              250 219
    bpf                 321 280
    perf_event_open     298 241
    userfaultfd         323 282
    mount               165  40
    umount2             166  39
    pivot_root          155  41
    setns               308 268
    open_by_handle_at   304 265
    kexec_load          246 104
    kexec_file_load     320 294
    init_module         175 105
    finit_module        313 273
    delete_module       176 106
    reboot              169 142
    swapon              167 224
    swapoff             168 225
    acct                163  89
    quotactl            179  60
    open_tree           428 428
    move_mount          429 429
    fsopen              430 430
    fsconfig            431 431
    fsmount             432 432
    fspick              433 433
    mount_setattr       442 442
    io_uring_setup      425 425
    io_uring_enter      426 426
    io_uring_register   427 427
"""
"""The calls that are looked at, with their numbers on x86_64 and aarch64. io_uring does what this filter does not see;
programs go on without it. Keys are in no namespace."""


class Machine(NamedTuple):
    """How a processor is called, and how its system calls are numbered."""

    audit: int
    numbers: Mapping[str, int]


def _numbers(column: int) -> dict[str, int]:
    return {row[0]: int(row[column]) for row in map(str.split, _CALLS.strip().splitlines())}


MACHINES: Final[Mapping[str, Machine]] = {
    "x86_64": Machine(0xC000003E, _numbers(1)),
    "aarch64": Machine(0xC00000B7, _numbers(2)),
}


@cache
def program(*, unix_sockets: bool, machine: str | None = None) -> bytes:
    """Return the filter as `bwrap --seccomp` reads it; raises KeyError for a processor that is not known.

    Programs of another architecture (32-bit ones) do not run: their calls are numbered differently.
    """
    of = MACHINES[machine or platform.machine()]
    families = (_INET, _INET6, _NETLINK, *((_UNIX,) if unix_sockets else ()))
    lines = [
        *((_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, of.audit), (_RETURN, 0, 0, _UNKNOWN)),
        *((_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _UNKNOWN)),
    ]
    for name, number in of.numbers.items():
        if name == "socket":
            lines += _argument(number, _FIRST, families, matching=_ALLOW, others=_REFUSED)
        elif name == "socketpair":
            # Half of a pair of datagram sockets sends to whatever address it is given, also to one of another program.
            free = () if unix_sockets else (_DATAGRAM, _RAW)
            lines += _argument(number, _SECOND, free, matching=_REFUSED, others=_ALLOW, mask=_KIND_OF_SOCKET)
        elif name == "ioctl":
            lines += _argument(number, _SECOND, _TERMINAL_INPUT, matching=_REFUSED, others=_ALLOW)
        else:
            lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _UNKNOWN if "uring" in name else _REFUSED)]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def _argument(
    number: int, offset: int, values: tuple[int, ...], *, matching: int, others: int, mask: int = _ALL_BITS
) -> list[tuple[int, int, int, int]]:
    """Return the part for one call that depends on the bits of `mask` in an argument; it ends in an answer."""
    tests = [line for value in values for line in ((_EQUAL, 0, 1, value), (_RETURN, 0, 0, matching))]
    body = [(_LOAD, 0, 0, offset), (_AND, 0, 0, mask), *tests, (_RETURN, 0, 0, others)]
    return [(_EQUAL, 0, len(body), number), *body]
