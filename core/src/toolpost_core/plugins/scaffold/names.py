"""The names of a new plugin, and whether they are free."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from typing import Final, NamedTuple

from toolpost import PluginError
from toolpost_core.plugins.discover import canonical, discover
from toolpost_core.settings.plugins import same_name

LONGEST: Final = 50
"""Characters of a name: a tool's own is made of it, and the model's service takes 64."""

_LEGAL: Final = re.compile(r"[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]")


class Names(NamedTuple):
    """What a plugin is called as a distribution, as a package and entry point, and as a class."""

    distribution: str
    package: str
    title: str


def names_for(name: str, group: str) -> Names:
    """Return the names that follow from the one that was asked for. Raises PluginError where one can't be used."""
    if not _LEGAL.fullmatch(name) or len(name) > LONGEST:
        raise PluginError(
            f"{name!r} can't be the name of a distribution. Use 1 to {LONGEST} ASCII letters, digits, '-', '_' and '.', "
            "beginning and ending with a letter or digit, such as acme-sql."
        )
    distribution = canonical(name)
    names = Names(
        distribution, distribution.replace("-", "_"), "".join(part.capitalize() for part in distribution.split("-"))
    )
    problem = next(_problems(names, group), None)
    if problem is not None:
        raise PluginError(f"{name!r} can't be used: {problem}. Choose another name, such as acme-{distribution}.")
    return names


def _problems(names: Names, group: str) -> Iterator[str]:
    if not names.package.isidentifier() or keyword.iskeyword(names.package):
        yield f"its package would be {names.package!r}, which Python can't import"
    if names.package in sys.stdlib_module_names:
        yield f"its package would hide the module {names.package!r} of Python's standard library"
    if names.package in ("src", "tests"):
        yield f"its package would be {names.package!r}, like a folder of every project"
    installed = next((d for d in metadata.distributions() if canonical(d.name or "") == names.distribution), None)
    if installed is not None:
        yield f"a distribution {installed.name} ({installed.version}) is installed"
    if _is_installed(names.package):
        yield f"its package would hide {names.package!r}, which is installed"
    entries = discover()[0]
    taken = next((e for e in entries if e.group == group and same_name(e.name) == names.distribution), None)
    if taken is not None:
        yield f"{taken.distribution} has a plugin of that kind and name"


def _is_installed(package: str) -> bool:
    """Whether a package or module of the name can be imported; a folder that merely has the name is no package."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return True
    return spec is not None and spec.origin is not None
