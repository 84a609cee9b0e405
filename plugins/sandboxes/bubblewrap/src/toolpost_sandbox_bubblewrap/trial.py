"""Whether bubblewrap works on this machine: something is started with all that commands are started with."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from typing import Final

from .environment import BARE
from .mounts import OWN_PROC, PROC_OF_OUTSIDE
from .programs import found
from .seccomp import MACHINES

ISOLATED: Final = (
    *("--unshare-user", "--disable-userns", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL", "--die-with-parent", "--new-session"),
)
"""The options that every command gets."""
_SECONDS: Final = 5


def missing(program: str | None, *, own_proc: bool = True) -> str | None:
    """Say what is missing and how to get it; None if nothing. With `own_proc` it has to be possible to mount a `/proc`."""
    if platform.machine() not in MACHINES:
        return f"the filter of system calls knows {' and '.join(MACHINES)}, this is {platform.machine()}"
    if program is None:
        return "bwrap is not installed: apt install bubblewrap (or dnf, pacman, apk, zypper)"
    if found("nsenter") is None:
        return "nsenter is not installed: apt install util-linux (or dnf, pacman, apk, zypper)"
    said = _said(program, OWN_PROC if own_proc else PROC_OF_OUTSIDE)
    return None if said is None else _explained(program, said)


def _said(program: str, proc: Sequence[str]) -> str | None:
    """Return what a trial that failed says; commands start in the user namespace of their network, as this does."""
    root = os.open("/", os.O_PATH | os.O_DIRECTORY)
    network = (program, "--dev-bind", "/", "/", "--unshare-user", "--unshare-net", "--")
    command = (program, *ISOLATED, "--ro-bind-fd", str(root), "/", *proc, "--unshare-pid", "--", "true")
    try:
        done = subprocess.run(
            (*network, *command), env=BARE, capture_output=True, timeout=_SECONDS, check=False, pass_fds=(root,)
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    finally:
        os.close(root)
    return done.stderr.decode(errors="replace").strip() if done.returncode else None


def _explained(program: str, said: str) -> str:
    last = said.splitlines()[-1] if said else "it said nothing"
    if "nknown option" in last:
        return (
            f"{program} is too old ({last}); it has to know --bind-fd, as version 0.10 and many patched older ones do"
        )
    if "mount proc" in last:
        return (
            f"{program} can mount no /proc here ({last}), as in most containers; sandbox.enableWeakerNestedSandbox does "
            "without one of its own: commands then see which programs run, and what these were started with"
        )
    return (
        f"{program} can't make namespaces here ({last}). Ubuntu: allow it with an AppArmor profile, or "
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0. Containers: run them with --security-opt "
        "seccomp=unconfined, or use the container itself as the sandbox"
    )
