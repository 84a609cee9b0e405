"""Which rules are about a tool at all: names, old names, globs, MCP servers, and single parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from toolpost.permissions import Rule

RENAMED: Final = {
    "Task": "Agent",
    "KillShell": "TaskStop",
    "KillBash": "TaskStop",
    "ListPeers": "ListAgents",
    "Brief": "SendUserMessage",
    "ListMcpResources": "ListMcpResourcesTool",
    "ReadMcpResource": "ReadMcpResourceTool",
    "ReadMcpResourceDir": "ReadMcpResourceDirTool",
    "ProposeGoal": "SetGoal",
    "MultiEdit": "Edit",
}
"""Old tool names that rules may still use."""

READERS: Final = frozenset({"Read", "Grep", "Glob", "LSP"})
EDITORS: Final = frozenset({"Edit", "Write", "NotebookEdit"})
_PRIMARY: Final = frozenset({"command", "file_path", "notebook_path", "url"})
_PARAMETER = re.compile(r"(\w+):(.*)", re.DOTALL)


def is_about(rule: Rule, tool: str) -> bool:
    """Whether the rule's name part covers the tool; `Read` covers what reads files, `Edit` what changes them."""
    name = RENAMED.get(rule.tool, rule.tool)
    if name == tool or (name == "Read" and tool in READERS) or (name == "Edit" and tool in EDITORS):
        return True
    if tool.startswith("mcp__") and name.startswith("mcp__") and "*" not in name:
        return name.count("__") == 1 and tool.startswith(name + "__")
    if "*" not in name:
        return False
    # An allow rule may only leave open which tool of a named server it is.
    if rule.behavior == "allow" and not re.match(r"mcp__[^*]+?__", name):
        return False
    return re.fullmatch(".*".join(re.escape(piece) for piece in name.split("*")), tool, re.DOTALL) is not None


def parameter_of(rule: Rule) -> str:
    """The parameter that `Tool(parameter:value)` is about, empty where the specifier is not of that form or allows."""
    match = _PARAMETER.fullmatch(rule.specifier or "")
    if rule.behavior == "allow" or not match or match[1] in _PRIMARY:
        return ""
    return "" if match[1] == "path" and rule.tool in READERS else match[1]


def parameter_matches(rule: Rule, tool_input: Mapping[str, Any]) -> bool:
    """Hold a rule about a parameter against the input, which has that parameter."""
    name, _, wanted = (rule.specifier or "").partition(":")
    value = tool_input[name]
    if isinstance(value, (dict, list)) or value is None:
        return False
    text = value if isinstance(value, str) else json.dumps(value)
    return re.fullmatch(".*".join(re.escape(piece) for piece in wanted.split("*")), text, re.DOTALL) is not None
