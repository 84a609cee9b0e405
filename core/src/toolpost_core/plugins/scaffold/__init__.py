"""New plugins: complete distributions, written from templates."""

from __future__ import annotations

from toolpost_core.plugins.scaffold.kinds import KINDS, LICENSES
from toolpost_core.plugins.scaffold.names import Names, names_for
from toolpost_core.plugins.scaffold.render import Author, render, summary
from toolpost_core.plugins.scaffold.write import write

__all__ = ["KINDS", "LICENSES", "Author", "Names", "names_for", "render", "summary", "write"]
