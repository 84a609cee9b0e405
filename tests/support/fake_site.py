"""A folder on sys.path that a test installs real, if small, distributions into."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent


class Site:
    """Installs by writing what an installer would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(
        self,
        name: str,
        version: str = "1.0",
        *,
        entries: Mapping[str, Mapping[str, str]] | None = None,
        requires: Sequence[str] = ("toolpost-hookspecs>=1,<2",),
        **modules: str,
    ) -> Path:
        """Write a distribution's metadata and modules; `entries` are by group without its prefix."""
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {requirement}" for requirement in requires]
        (info / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")
        text = ""
        for group, points in (entries or {}).items():
            text += f"[toolpost.{group}]\n" + "".join(f"{key} = {value}\n" for key, value in points.items())
        (info / "entry_points.txt").write_text(text, encoding="utf-8")
        for module, code in modules.items():
            (self.folder / f"{module}.py").write_text(dedent(code), encoding="utf-8")
        return info

    def package(self, name: str, code: str, declares: str | None = None) -> Path:
        """Write a package and, where something is given, the `toolpost.toml` in it; return its folder."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").write_text(dedent(code), encoding="utf-8")
        if declares is not None:
            (folder / "toolpost.toml").write_text(dedent(declares), encoding="utf-8")
        return folder


@contextmanager
def fresh_site(folder: Path) -> Iterator[Site]:
    """Put a site on sys.path; its modules are forgotten afterwards."""
    folder.mkdir()
    before, path = set(sys.modules), list(sys.path)
    sys.path.insert(0, str(folder))
    try:
        yield Site(folder)
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]
