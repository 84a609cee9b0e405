"""The watchdog: a tiny shell that outlives us and then ends what we started, also after a SIGKILL."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile

from .limit import LINE
from .tree import MARK

_SLOT = 9
# Reads until our end of the pipe closes; a word before that means that we ended everything ourselves. Descriptor 1 is
# the file of groups, because some shells know none above 9.
_SCRIPT = r"""
if read -r done; then exit; fi
groups=$(cat <&1)
find_all() {
  found=" $(echo $groups) "
  for file in $(grep -lsaF -- "$1" /proc/[0-9]*/environ; grep -ls -- "$2" /proc/[0-9]*/limits); do
    pid=${file#/proc/}; found="$found${pid%/*} "
  done
  before=
  while [ "$found" != "$before" ]; do
    before=$found
    for file in /proc/[0-9]*/stat; do
      read -r line 2>/dev/null <"$file" || continue
      pid=${file#/proc/}; pid=${pid%/stat}
      rest=${line##*) }; rest=${rest#* }
      case $found in *" $pid "*) continue ;; esac
      case $found in *" ${rest%% *} "*) found="$found$pid " ;; esac
    done
  done
}
for round in 1 2; do
  find_all "$1" "$2"
  for pid in $found; do [ "$pid" = $$ ] || kill -STOP "$pid"; done
  for group in $groups; do kill -KILL -"$group"; done
  for pid in $found; do [ "$pid" = $$ ] || kill -KILL "$pid"; done
done
"""


class Watchdog:
    """Knows the groups of running leaders through a shared file, so that noting one costs no switch of processes."""

    def __init__(self, mark: str) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        self._slots: dict[int, int] = {}
        self._free: list[int] = []
        reader, self._alive = os.pipe()
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "toolpost-watchdog", f"{MARK}={mark}", f"^{LINE.decode()} *{mark}"],
                stdin=reader,
                stdout=self._file,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": os.environ.get("PATH", os.defpath)},
                start_new_session=True,
            )
        except OSError:
            os.close(self._alive)
            self._file.close()
            raise
        finally:
            os.close(reader)

    def note(self, group: int) -> None:
        """Add a group that is to be ended with us."""
        slot = self._slots[group] = self._free.pop() if self._free else len(self._slots)
        os.pwrite(self._file.fileno(), f"{group:>{_SLOT - 1}}\n".encode(), slot * _SLOT)

    def forget(self, group: int) -> None:
        """Drop a group that has no process left: its number may soon be another's."""
        slot = self._slots.pop(group, None)
        if slot is not None:
            os.pwrite(self._file.fileno(), b" " * (_SLOT - 1) + b"\n", slot * _SLOT)
            self._free.append(slot)

    def close(self) -> None:
        """Send the watchdog away."""
        with contextlib.suppress(OSError):
            os.write(self._alive, b"done\n")
        os.close(self._alive)
        self._process.wait()
        self._file.close()
