from __future__ import annotations

from toolpost.testing import PermissionResolverContract
from toolpost_permission_resolver_rules import Rules


class TestRules(PermissionResolverContract):
    plugin = Rules
    cases = (
        ("Read", {"file_path": "notes.txt"}, "allow"),
        ("Read", {"file_path": "/etc/passwd"}, None),
        ("Write", {"file_path": "notes.txt", "content": ""}, None),
        ("Write", {"file_path": ".git/hooks/pre-commit", "content": ""}, "ask"),
        ("WebFetch", {"url": "https://example.com"}, None),
        ("AskUserQuestion", {"questions": []}, "ask"),
    )
