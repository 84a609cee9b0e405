"""Compares our reading of a line with tree-sitter's: what both read the same way can be vouched for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from .reader import Reader

# Node types that stand where one simple command of ours begins.
_COMMANDS = frozenset({"command", "declaration_command", "unset_command", "test_command"})


def disagreement(line: str, reader: Reader) -> str:
    """Return why the two readings differ; empty if every command begins at the same place in both."""
    import tree_sitter
    import tree_sitter_bash

    data = line.encode()
    root = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language())).parse(data).root_node
    if root.has_error:
        return "it has a shape that can't be vouched for"
    starts = (node.start_byte for node in _commands(root))
    seen = set(starts) if line.isascii() else {len(data[:start].decode(errors="replace")) for start in starts}
    ours = reader.starts
    if reader.shifted:
        # Text that was unescaped before it was read has no offsets: the outer commands must still agree.
        return "" if ours <= seen else "two ways to read it find different commands"
    return "" if seen == ours else "two ways to read it find different commands"


def _commands(node: Node) -> list[Node]:
    found, waiting = [], [node]
    while waiting:
        current = waiting.pop()
        if current.type in _COMMANDS and not current.text.startswith((b"[[", b"((")):  # type: ignore[union-attr]
            found.append(current)
        # What has no name is an operator or a keyword, and holds nothing.
        waiting.extend(current.named_children)
    return found
