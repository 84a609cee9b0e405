import json

from acme_policy import Policy
from toolpost.testing import PermissionResolverContract

RULES = [
    {"tool": "Bash", "input": "*curl*", "answer": "deny", "why": "Downloads go through the proxy tool."},
    {"tool": "sql_*", "answer": "ask", "why": "The database is shared."},
]


class TestPolicy(PermissionResolverContract):
    plugin = Policy
    files = {".policy.json": json.dumps(RULES)}
    cases = (
        ("Bash", {"command": "curl example.org"}, "deny"),
        ("Bash", {"command": "ls"}, None),
        ("sql_query", {"sql": "select 1"}, "ask"),
        ("Read", {"file_path": "a.txt"}, None),
    )


class TestPolicyThatIsNotThere(PermissionResolverContract):
    plugin = Policy(file="none.json")
    cases = (("Read", {"file_path": "a.txt"}, "deny"),)


class TestPolicyThatIsBroken(PermissionResolverContract):
    plugin = Policy
    files = {".policy.json": '[{"answer": "allow"}]'}
    cases = (("Read", {"file_path": "a.txt"}, "deny"),)
