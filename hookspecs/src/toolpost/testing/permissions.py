"""The contract kit of permission resolvers."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from toolpost.permissions import Allow, Ask, Behavior, Decision, Deny, PermissionRequest
from toolpost.testing._contract import PluginContract, finish
from toolpost.testing._folders import snapshot
from toolpost.testing.context import make_context

_HOSTILE: tuple[Mapping[str, Any], ...] = (
    {},
    {"file_path": 7, "command": ["not", "a", "string"], "path": None, "url": {}},
    {"command": "x" * 100_000, "file_path": "/" * 5_000},
    {"file_path": "\0", "command": "\0", "url": "\0"},
    {"file_path": "~" * 10 + "/../../..", "command": "$(", "pattern": "["},
)


class PermissionResolverContract(PluginContract):
    """The suite for a permission resolver.

    `cases` are calls with the answer that is expected: (tool name, input, "allow" | "ask" | "deny" | None).
    """

    group = "permission_resolvers"
    cases: ClassVar[Sequence[tuple[str, Mapping[str, Any], Behavior | None]]]

    def request(self, folder: Path, tool_name: str, tool_input: Mapping[str, Any]) -> PermissionRequest:
        """Return the request for a call; override it to add rules, a mode or a matcher."""
        path = tool_input.get("file_path")
        return PermissionRequest(
            tool_name=tool_name,
            tool_input=tool_input,
            scope=make_context(folder).scope,
            path=path if isinstance(path, str) else None,
        )

    def test_it_answers_the_cases_as_expected(self, folder: Path) -> None:
        """If this fails: mend resolve() or the case; the message has call, expected and given answer."""
        for tool_name, tool_input, expected in self.cases:
            answer = self._resolve(self.request(folder, tool_name, tool_input))
            given = None if answer is None else answer.behavior
            assert given == expected, f"{tool_name} {tool_input!r}: expected {expected}, got {given} ({answer!r:.200})"

    def test_a_refusal_and_a_question_say_why(self, folder: Path) -> None:
        """If this fails: give Ask and Deny a reason: a person decides by it, and the model goes on from it."""
        for tool_name, tool_input, _ in self.cases:
            answer = self._resolve(self.request(folder, tool_name, tool_input))
            assert not isinstance(answer, Ask | Deny) or answer.reason.strip()

    def test_the_same_call_gets_the_same_answer(self, folder: Path) -> None:
        """If this fails: decide by the request and the settings alone; nobody can rely on an answer that changes."""
        for tool_name, tool_input, _ in self.cases:
            request = self.request(folder, tool_name, tool_input)
            assert self._resolve(request) == self._resolve(request)

    def test_an_input_that_makes_no_sense_does_not_make_it_raise(self, folder: Path) -> None:
        """If this fails: the model writes the input; read it with care and have no opinion where it is no input of yours.

        One that raises counts as a question, which stops a run that nobody watches.
        """
        for tool_name in ("Bash", "Edit", "Read", "WebFetch", "mcp__server__tool", "NoSuchTool"):
            for tool_input in _HOSTILE:
                answer = self._resolve(self.request(folder, tool_name, tool_input))
                assert answer is None or isinstance(answer, Allow | Ask | Deny)

    def test_it_leaves_the_input_and_the_folder_alone(self, folder: Path) -> None:
        """If this fails: answer with `updated_input`, and act on nothing while deciding: the call may still be refused."""
        before = snapshot(folder)
        for tool_name, tool_input, _ in self.cases:
            kept = copy.deepcopy(dict(tool_input))
            self._resolve(self.request(folder, tool_name, tool_input))
            assert dict(tool_input) == kept
        assert snapshot(folder) == before

    def _resolve(self, request: PermissionRequest) -> Decision | None:
        answer: Decision | None = finish(self.make().resolve(request))
        return answer
