"""From a kind's templates to the texts of a project."""

from __future__ import annotations

import json
import time
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template
from typing import Final, NamedTuple

from toolpost import HOOKSPEC_VERSION, PluginError
from toolpost_core.plugins.scaffold.kinds import KINDS
from toolpost_core.plugins.scaffold.names import Names

_PARTS: Final = (
    (".github/workflows/test.yml", "test.yml"),
    (".gitignore", "gitignore"),
    ("README.md", "README.md"),
    ("quality.toml", "quality.toml"),
    ("src/{package}/__init__.py", "{kind}/package.py"),
    ("src/{package}/py.typed", "py.typed"),
    ("src/{package}/toolpost.toml", "{kind}/toolpost.toml"),
    ("tests/test_{package}.py", "{kind}/test.py"),
    ("tests/test_contract.py", "{kind}/contract.py"),
    ("pyproject.toml", "pyproject.toml"),
)
"""Each file of a project and the template that it is from, below `templates` and without its .txt."""


class Author(NamedTuple):
    """Who a project is by; either may be empty."""

    name: str = ""
    email: str = ""

    @classmethod
    def parse(cls, text: str) -> Author:
        """Read `Name <address>`, or a name. Raises PluginError."""
        if not text.isprintable():
            raise PluginError(f"{text!r} can't be an author. Give one as 'Name <address>'.")
        name, _, rest = text.partition("<")
        return cls(name.strip(), rest.strip().removesuffix(">").strip())


NOBODY: Final = Author()


def render(kind: str, names: Names, *, license: str = "Apache-2.0", author: Author = NOBODY) -> dict[str, str]:
    """Return the text of each file of a new project by its path; pyproject.toml, which makes it one, is the last."""
    chosen = KINDS[kind]
    value = {
        "kind": kind,
        "name": names.distribution,
        "package": names.package,
        "entry": names.package,
        "title": names.title,
        "group": chosen.group,
        "value": f"{names.package}:{names.package if chosen.is_function else names.title}",
        "description": summary(kind),
        "hookspecs": _range(HOOKSPEC_VERSION),
        "license": "" if license == "none" else f'license = "{license}"\nlicense-files = ["LICENSE"]\n',
        "authors": _authors(author),
        "year": str(time.localtime().tm_year),
        "holder": author.name or f"the authors of {names.distribution}",
    }
    requires = (f"toolpost-hookspecs{value['hookspecs']}", *chosen.requires)
    value["dependencies"] = "".join(f'  "{requirement}",\n' for requirement in requires)
    value["about"] = _template(f"{kind}/about.md").substitute(value).strip()
    texts = {} if license == "none" else {"LICENSE": _template(f"licenses/{license}").substitute(value)}
    for path, template in _PARTS:
        texts[path.format_map(value)] = _template(template.format_map(value)).substitute(value)
    return texts


def summary(kind: str) -> str:
    """Return the sentence that says what a new plugin of a kind does until it is changed."""
    return _template(f"{kind}/package.py").template.partition('"""')[2].partition('"""')[0]


def _template(name: str) -> Template:
    folder: Traversable = files("toolpost_core.plugins.scaffold") / "templates"
    return Template(folder.joinpath(*f"{name}.txt".split("/")).read_text(encoding="utf-8"))


def _range(version: str) -> str:
    major = int(version.partition(".")[0])
    return f">={major},<{major + 1}"


def _authors(author: Author) -> str:
    said = [
        f"{key} = {json.dumps(text, ensure_ascii=False)}"
        for key, text in zip(("name", "email"), author, strict=True)
        if text
    ]
    return f"authors = [{{ {', '.join(said)} }}]\n" if said else ""
