"""Looking into another version of a distribution without installing it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from contextlib import contextmanager
from email.parser import Parser
from functools import cached_property
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from packaging.version import InvalidVersion, Version

from toolpost import PluginError
from toolpost._frozen import frozen
from toolpost_core.plugins.discover import canonical, requirements
from toolpost_core.plugins.groups import PREFIX

SECONDS: Final = 120.0
"""How long an installer may take to fetch a wheel."""


@frozen()
class Unpacked:
    """The files of a distribution, in a wheel or in a folder; nothing of it is run."""

    root: Traversable

    @cached_property
    def info(self) -> Traversable:
        """The folder with its metadata. Raises PluginError."""
        found = [item for item in self.root.iterdir() if item.name.endswith(".dist-info")]
        if len(found) != 1:
            raise PluginError(f"{self.root} is no wheel: it has {len(found)} folders *.dist-info.")
        return found[0]

    @cached_property
    def metadata(self) -> Mapping[str, list[str]]:
        """The values of each field of METADATA."""
        told = Parser().parsestr((self.info / "METADATA").read_text(encoding="utf-8"), headersonly=True)
        return {key: told.get_all(key, []) for key in told}

    def entries(self) -> dict[tuple[str, str], str]:
        """Return the values of its entry points of our groups, by group (without its prefix) and name."""
        file = self.info / "entry_points.txt"
        parser = ConfigParser(delimiters=("=",), interpolation=None)
        parser.optionxform = str  # type: ignore[assignment, method-assign]
        try:
            parser.read_string(file.read_text(encoding="utf-8") if file.is_file() else "")
        except ConfigError as error:
            raise PluginError(f"{file} can't be read: {error.message}") from error
        groups = [name for name in parser.sections() if name.startswith(PREFIX)]
        return {(group.removeprefix(PREFIX), name): value for group in groups for name, value in parser[group].items()}

    def requires(self, distribution: str) -> str:
        """Return the range in which it allows another distribution; empty where it states none."""
        return requirements(self.metadata.get("Requires-Dist")).get(distribution, "")


@contextmanager
def unpacked(distribution: str, version: str, wheel: Path | None = None) -> Iterator[Unpacked]:
    """Lend the files of a version: those of a wheel that is given, or of one that an installer fetches.

    Raises PluginError where there is none, or where it is of another distribution or version.
    """
    with tempfile.TemporaryDirectory(prefix="toolpost-upgrade-") as scratch:
        root = Path(scratch) if wheel is None else wheel
        if wheel is None:
            root = _fetch(f"{distribution}=={version}", Path(scratch))
        try:
            found = Unpacked(root if root.is_dir() else zipfile.Path(root))
            _check(found, distribution, version)
            yield found
        except (OSError, zipfile.BadZipFile, UnicodeDecodeError) as error:
            raise PluginError(f"{root} can't be read as a wheel: {error}") from error


def _check(found: Unpacked, distribution: str, version: str) -> None:
    name, its = (next(iter(found.metadata.get(key, ())), "") for key in ("Name", "Version"))
    try:
        same = canonical(name) == canonical(distribution) and Version(its) == Version(version)
    except InvalidVersion:
        same = False
    if not same:
        raise PluginError(f"{found.root} is {name} {its}, and not {distribution} {version}.")


def _fetch(wanted: str, folder: Path) -> Path:
    """Have pip or uv put a wheel into a folder, from where they are set up to look. Raises PluginError."""
    common = ["--no-deps", "--only-binary", ":all:", "--quiet", wanted]
    if find_spec("pip") is not None:
        command = [sys.executable, "-m", "pip", "download", "--retries", "1", "--dest", str(folder), *common]
    elif (uv := shutil.which("uv")) is not None:
        command = [uv, "pip", "install", "--python", sys.executable, "--target", str(folder), *common]
    else:
        raise PluginError("there is neither pip nor uv to fetch its wheel with; download it and name it: --wheel FILE")
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PluginError(f"its wheel could not be fetched: {error}") from error
    if done.returncode:
        raise PluginError(
            f"{command[-1]} was not found where pip and uv look here, or that could not be reached; download its wheel and "
            "name it: --wheel FILE"
        )
    return next(folder.glob("*.whl"), folder)
