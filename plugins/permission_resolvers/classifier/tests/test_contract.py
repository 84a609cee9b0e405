from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolpost import PermissionRequest
from toolpost.services import Models
from toolpost.testing import PermissionResolverContract, make_context, make_scope
from toolpost_permission_resolver_classifier import Classifier


class Judge:
    """A small model with one answer for commands that speak of `rm`, and another for the rest."""

    small = "small"

    async def ask(self, request: Any) -> str:
        verdict = "hard_deny" if "rm -rf" in request.last_text else "allow"
        return f'{{"verdict": "{verdict}", "reason": "as the test wants it"}}'


class TestClassifier(PermissionResolverContract):
    plugin = Classifier
    cases = (
        ("Bash", {"command": "make"}, "allow"),
        ("Bash", {"command": "rm -rf ~"}, "deny"),
        ("Mystery", {}, "ask"),
    )

    def request(self, folder: Path, tool_name: str, tool_input: Mapping[str, Any]) -> PermissionRequest:
        request = super().request(folder, tool_name, tool_input)
        scope = make_context(folder, mode="auto").scope
        session = make_scope(folder, services={Models: Judge()})
        return replace(request, scope=scope, session=session, described=str(tool_input.get("command", "")))
