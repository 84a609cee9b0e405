"""Compares our reading of a line with tree-sitter's: what both read the same way can be vouched for."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

    from .reader import Reader

# Node types that stand where one simple command of ours begins.
_COMMANDS = "[(command) (declaration_command) (unset_command) (test_command)] @command"


def disagreement(line: str, reader: Reader) -> str:
    """Return why the two readings differ; empty if every command begins at the same place in both."""
    from tree_sitter import Parser

    language, commands = _grammar()
    data = line.encode()
    root = Parser(language).parse(data).root_node
    if root.has_error:
        return "it has a shape that can't be vouched for"
    starts = [
        node.start_byte for node in _found(commands, root) if not data.startswith((b"[[", b"(("), node.start_byte)
    ]
    seen = set(starts) if line.isascii() else {len(data[:start].decode(errors="replace")) for start in starts}
    ours = reader.starts
    if reader.shifted:
        # Text that was unescaped before it was read has no offsets: the outer commands must still agree.
        return "" if ours <= seen else "two ways to read it find different commands"
    return "" if seen == ours else "two ways to read it find different commands"


@cache
def _grammar() -> tuple[Language, Query]:
    import tree_sitter
    import tree_sitter_bash

    language = tree_sitter.Language(tree_sitter_bash.language())
    return language, tree_sitter.Query(language, _COMMANDS)


def _found(query: Query, root: Node) -> list[Node]:
    from tree_sitter import QueryCursor

    return QueryCursor(query).captures(root).get("command", [])
