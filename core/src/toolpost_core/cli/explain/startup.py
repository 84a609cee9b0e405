"""The pseudo-tool `@startup`: may something that the repository brings be used as soon as the program starts?"""

from __future__ import annotations

from typing import Any, Final

from toolpost_core.cli.explain.case import Case
from toolpost_core.settings.keys import ESCALATING, PERSON_ONLY, POLICY_ONLY

TOOL: Final = "@startup"


def at_startup(case: Case) -> dict[str, Any]:
    """Decide: before the trust question nothing is used; some things are not a repository's to bring at all."""
    what = str(case.input.get("activate", "it"))
    never = _never(case)
    if never:
        return _answer("deny", never)
    if case.trusted:
        return _answer("allow", "this workspace is trusted")
    if case.interactive:
        return _answer("ask", f"the repository brings {what}; it is used after this workspace is trusted")
    return _answer("deny", f"the repository brings {what}, this workspace is not trusted, and there is nobody to ask")


def _never(case: Case) -> str:
    key, value = str(case.input.get("key", "")), case.input.get("value")
    if case.input.get("source") == "foreign":
        return "it is the configuration of another program"
    if case.input.get("file") == ".env":
        return "a .env file of the repository is not read"
    if key.removeprefix("permissions.") == "defaultMode" and value in ESCALATING:
        return f"a repository can't choose the mode {value}"
    return "a repository can't set this" if key in PERSON_ONLY | POLICY_ONLY else ""


def _answer(decision: str, reason: str) -> dict[str, Any]:
    who = {"rule": None, "source": None, "resolver": "trust"}
    return {"decision": decision, "reason": reason, **who, "subcommands": [], "trace": []}
