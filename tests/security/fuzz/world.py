"""The files that the generated commands find, and the programs: real ones where they are harmless, else markers."""

from __future__ import annotations

import base64
import json
import os
import shutil
import stat
import subprocess
import zipfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from toolpost import PermissionScope

SECRET = "KEY-THAT-MUST-NOT-BE-SHOWN"
# As it looks backwards, in hexadecimal, and wherever it begins in base64.
_SHOWN = (
    SECRET,
    SECRET[::-1],
    SECRET.encode().hex(),
    *(base64.b64encode(b"x" * before + SECRET.encode())[4:-4].decode() for before in range(3)),
)
LOG = "/marks/log"
_MARKER = '#!/bin/sh\nprintf "%s\\0" "{name}" "$@" "\x1e" >>' + LOG + "\n"
# Writes itself down and goes on as the real one, so that what git itself would start is reached as well.
_GIT = _MARKER + 'exec /real/bin/git "$@"\n'
_REAL = frozenset((Path(__file__).parent / "real_programs.txt").read_text("utf-8").split())
_NEVER_THERE = ("curl", "evil", "okay", "npm", "rm", "wget", "python3", "node")


@dataclass(frozen=True)
class World:
    """Where things lie. The folders under `base` are the same inside of the sandbox as out here."""

    base: Path
    programs: Path

    @property
    def project(self) -> Path:
        """The working folder."""
        return self.base / "p" / "proj"

    @property
    def home(self) -> Path:
        """The home folder."""
        return self.base / "h" / "home"

    @property
    def scope(self) -> PermissionScope:
        """The circumstances of a decision, with somebody to ask."""
        return PermissionScope(
            cwd=self.project, home=self.home, project=self.project, directories=(self.project,), interactive=True
        )


def shows_secret(output: str) -> bool:
    """Whether the secret stands in an output, blanks aside."""
    text = "".join(output.split())
    return any(shown in text for shown in _SHOWN)


def make_world(folder: Path, *, real: Collection[str] = ()) -> World:
    """Lay out a world in an empty folder; `real` are programs that do there what they do elsewhere, beside the harmless."""
    top = Path(os.path.realpath(folder))
    world = World(top / "base", top / "bin")
    _files(world)
    _programs(world.programs, frozenset(real))
    return world


def make_file_world(folder: Path) -> World:
    """Lay out a world for what opens files: all programs are real, and what must not be opened is in the repository, too."""
    world = make_world(folder, real={path.name for path in Path("/usr/bin").iterdir()})
    project = world.project
    _write(project / "config/app.ini", "a\n")
    _write(world.home / ".ssh/id", SECRET + "\n")
    for link, target in (("ls", "secrets"), ("lc", "config")):
        (project / "to" / link).parent.mkdir(exist_ok=True)
        (project / "to" / link).symlink_to(f"../{target}")
    (world.home / ".s").symlink_to(".ssh")
    environment = _plain_environment(world.home)
    for arguments in (
        ["git", "add", "-f", ".env", "secrets", "config"],
        ["git", "-c", "user.name=a", "-c", "user.email=a@a.example", "commit", "-q", "-m", "second"],
        ["tar", "cf", "a.tar", "a.txt", "config"],
    ):
        subprocess.run(arguments, cwd=project, check=True, env=environment)
    with zipfile.ZipFile(project / "a.zip", "w") as archive:
        for name in ("a.txt", "config/app.ini"):
            archive.writestr(name, "b\n")
    for name in ("app.ini", "config/app.ini"):
        text = f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n"
        _write(project / ("p.diff" if name == "app.ini" else "q.diff"), text)
    for name in (".env", "secrets/k", "config/app.ini"):
        with (project / name).open("a", encoding="utf-8") as file:
            file.write("b\n")
    return world


def _files(world: World) -> None:
    project, outside = world.project, world.base / "o" / "outside"
    run = _MARKER.replace("{name}", "a file of the project")
    config = f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = {project}/run.sh\n"
    texts = {
        "x": "victim\n",
        "a.txt": "a\nb foo\nx\n",
        "b.txt": "b\n",
        "l1.txt": "rm -rf x\n",
        "f.json": '{"a": 1}\n',
        "package.json": '{"scripts": {"test": "true"}}\n',
        "notes.sh": "rm -rf x\nevil\n",
        "src/app.py": "print(1) # foo\n",
        "src/util.ts": "export {}\n",
        "build/old.log": "old\n",
        "secrets/k": SECRET + "\n",
        ".env": SECRET + "\n",
        "-oout": "a file that looks like an option\n",
        "t": "t\n",
        "vendor/HEAD": "ref: refs/heads/main\n",
        "vendor/config": config,
        "vendor/objects/keep": "",
        "vendor/refs/keep": "",
    }
    for name, text in texts.items():
        _write(project / name, text)
    for name in ("run.sh", "run.py", "ls", "bin/okay", "bin/ls"):
        _write(project / name, run, executable=True)
    _write(outside / "s.txt", "outside\n")
    _write(world.home / ".bashrc", "# nothing\n")
    _write(world.home / "n.txt", "note\n")
    (project / "l").symlink_to(outside)
    (project / "l.txt").symlink_to(".env")
    for arguments in (
        ["init", "-q", "--template=", "-b", "main"],
        ["add", "a.txt", "src"],
        ["-c", "user.name=a", "-c", "user.email=a@a.example", "commit", "-q", "-m", "first"],
    ):
        subprocess.run(["git", *arguments], cwd=project, check=True, env=_plain_environment(world.home))


def _plain_environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}


def _programs(folder: Path, real: Collection[str]) -> None:
    """A folder to stand in the place of /usr/bin."""
    folder.mkdir()
    there = {path.name for path in Path("/usr/bin").iterdir()}
    for name in sorted(there | set(_NEVER_THERE)):
        if name == "git":
            _write(folder / name, _GIT.replace("{name}", name), executable=True)
        elif name in _REAL or name in real:
            (folder / name).symlink_to(f"/real/bin/{name}")
        else:
            _write(folder / name, _MARKER.replace("{name}", name.replace('"', "")), executable=True)


def _write(path: Path, text: str, *, executable: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    if executable:
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def copy_of(world: World, folder: Path) -> Path:
    """A copy of the files, to lay out from."""
    shutil.copytree(world.base, folder, symlinks=True)
    return folder


def cases(file: Path) -> list[str]:
    """The commands of the permission cases, with their marks replaced by what does in any world."""
    found = []
    for line in file.read_text("utf-8").splitlines():
        case = json.loads(line)
        command = case["input"].get("command")
        if case["tool"] == "Bash" and isinstance(command, str) and 0 < len(command) < 400:
            found.append(command.replace("@PROJECT@", "$PWD").replace("@HOME@", "$HOME"))
    return sorted(set(found))
