"""`toolpost plugins check`: the contract kit's verdict on the plugin in a folder."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from toolpost_core.cli.output import print_json, print_wrapped

if TYPE_CHECKING:
    from toolpost_core.plugins.check import Rule

SIGNS: Final = {"passed": "ok", "failed": "FAIL", "skipped": "skip"}


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--all", "all_tests", is_flag=True, help="Run the folder's other tests too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(path: Path, all_tests: bool, as_json: bool) -> int:
    """Run the contract kit's tests of the plugin in PATH, rule by rule; exits 1 where one is broken.

    The plugin need not be installed. Runs the code in PATH.
    """
    from toolpost_core.plugins import check as checking

    found = checking.check(path.absolute(), all_tests=all_tests)
    failed = [rule for rule in found.rules if rule.outcome == "failed"]
    is_fine = not failed and not found.trouble
    if as_json:
        told = [rule._asdict() for rule in found.rules]
        print_json({"path": str(path.absolute()), "passed": is_fine, "rules": told, "trouble": found.trouble})
        return 0 if is_fine else 1
    for (place, kit), rules in groupby(found.rules, lambda rule: (rule.test.rpartition("::")[0], rule.kit)):
        print(f"{place} ({kit})" if kit else place)
        for rule in rules:
            _print(rule)
    if found.trouble:
        print(found.trouble)
    passed = sum(rule.outcome == "passed" for rule in found.rules)
    print(f"{passed} of {len(found.rules)} rules kept, {len(failed)} broken.")
    return 0 if is_fine else 1


def _print(rule: Rule) -> None:
    print_wrapped(f"{SIGNS.get(rule.outcome, rule.outcome)} {rule.rule}", indent=2)
    if rule.outcome == "failed":
        print_wrapped(f"what happened: {rule.why}", indent=7)
        print_wrapped(rule.mend.replace("If this fails:", "to mend it:"), indent=7)
    elif rule.outcome == "skipped":
        print_wrapped(f"because: {rule.why}", indent=7)
