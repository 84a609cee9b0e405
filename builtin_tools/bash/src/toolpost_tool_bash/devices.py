"""Programs that change disks and what is kept on them, and how they are told only to look."""

from __future__ import annotations

import re
from typing import Final

from .arguments import Argument
from .record import Effects
from .syntax import words

PROGRAMS: Final = words("""
    fdisk sfdisk cfdisk gdisk sgdisk cgdisk parted pvcreate pvremove vgremove vgreduce lvremove lvreduce cryptsetup hdparm
    nvme zpool mdadm badblocks scrub dcfldd dc3dd ddrescue diskutil nwipe tune2fs resize2fs fsfreeze sg_format
""")

_LOOKS = words("""
    -l --list -p --print print list info status isLuks luksDump luksUUID id-ctrl id-ns smart-log list-subsys -I -i --detail
    --examine -E -D -V --version -h --help -d --dump --dump-header
""")
_DISK = re.compile(r"r?disk\d+(?:s\d+)?")


def disks(name: str, _positional: list[Argument], args: list[Argument], effects: Effects) -> None:
    """Note the devices that such a program is given."""
    looks = any(arg.text in _LOOKS for arg in args)
    for arg in args:
        text = arg.text.rpartition("=")[2]
        text = f"/dev/{text}" if _DISK.fullmatch(text) else text
        if not text.startswith("-"):
            effects.files.append(("mention" if looks or "/" not in text else "write", arg._replace(text=text)))
    effects.refuse(f"{name} may change what is on a disk")
