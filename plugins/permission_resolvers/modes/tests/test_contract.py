from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from toolpost import PermissionMode, PermissionRequest
from toolpost.testing import PermissionResolverContract
from toolpost_permission_resolver_modes import Modes


class InMode(PermissionResolverContract):
    plugin = Modes
    mode: ClassVar[PermissionMode]

    def request(self, folder: Path, tool_name: str, tool_input: Mapping[str, Any]) -> PermissionRequest:
        request = super().request(folder, tool_name, tool_input)
        return replace(request, scope=replace(request.scope, mode=self.mode))


class TestDefault(InMode):
    mode = "default"
    cases = (("Edit", {"file_path": "notes.txt"}, None),)


class TestPlan(InMode):
    mode = "plan"
    cases = (("Edit", {"file_path": "notes.txt"}, "ask"), ("ExitPlanMode", {}, None))


class TestAcceptEdits(InMode):
    mode = "acceptEdits"
    cases = (("Edit", {"file_path": "notes.txt"}, "allow"), ("Edit", {"file_path": "../notes.txt"}, None))


class TestBypassPermissions(InMode):
    mode = "bypassPermissions"
    cases = (("Bash", {"command": "make"}, "allow"),)
