"""Holds every call against a policy file of the organisation.

The file is JSON: a list of rules, the first that fits counts.

    [ { "tool": "Bash", "input": "*curl*", "answer": "deny", "why": "Downloads go through the proxy tool." },
      { "tool": "sql_*", "answer": "ask", "why": "The database is shared." } ]
"""

import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from toolpost import Ask, Decision, Deny, PermissionRequest, PermissionResolver

ANSWERS = {"ask": Ask, "deny": Deny}


class Policy(PermissionResolver):
    file: str = ".policy.json"

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        path = request.scope.project / self.file
        try:
            rules = read_policy(path)
        except (OSError, ValueError) as error:
            return Deny(f"The policy {path} can't be read, so nothing is allowed until it is mended: {error}")
        return next((found for rule in rules if (found := answer(rule, request)) is not None), None)


def read_policy(path: Path) -> Sequence[Mapping[str, Any]]:
    """Return the rules. Raises OSError, ValueError."""
    rules = json.loads(path.read_bytes())
    if not isinstance(rules, list):
        raise ValueError("it must be a list of rules")
    for number, rule in enumerate(rules, 1):
        if not isinstance(rule, dict) or rule.get("answer") not in ANSWERS or not rule.get("why"):
            raise ValueError(f'rule {number} needs "answer" ("ask" or "deny") and "why"')
    return rules


def answer(rule: Mapping[str, Any], request: PermissionRequest) -> Decision | None:
    """Return what a rule says to a call, if it fits."""
    if not fnmatchcase(request.tool_name, str(rule.get("tool", "*"))):
        return None
    given = json.dumps(dict(request.tool_input), ensure_ascii=False, default=str)
    if not fnmatchcase(given, str(rule.get("input", "*"))):
        return None
    return ANSWERS[rule["answer"]](str(rule["why"]))
