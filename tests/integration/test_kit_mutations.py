"""Breaking one rule of the tool kit in a copy of a built-in makes that rule's test fail, and no other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from xml.etree import ElementTree

import pytest

from toolpost.testing import ToolContract

pytestmark = pytest.mark.timeout(300)
ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "builtin_tools/read/src/toolpost_tool_read"
HEAD = """

import asyncio, itertools, time
from pathlib import Path
from toolpost import Aborted, InvalidInput, ToolError, ToolResult, hookimpl

COUNT = itertools.count()

class Shape:
    def __init__(self, real, schema=None, parse=None):
        self.schema, self.parse = schema or real.schema, parse or real.parse

"""
KIT = """
from toolpost.testing import ToolContract
from {package} import Broken

class TestBroken(ToolContract):
    tool = Broken
    example = {{"file_path": "notes.txt"}}
    example_slow = {{"file_path": "slow.txt"}}
    examples_invalid = ({{"file_path": "missing.txt"}},)
    files = {{"notes.txt": "one", "slow.txt": "two"}}
    within = 0.4
"""
CALL = """
async def call(self, input, ctx, progress):
    {0}
    return await super().call(input, ctx, progress)
"""
SLOW = CALL.format('if input.file_path == "slow.txt": await self.wait(ctx)')
RULES: Mapping[str, str] = {
    "test_importing_it_is_quick": "pass\nbegan = time.process_time()\nwhile time.process_time() < began + 0.08: pass",
    "test_importing_it_loads_no_heavy_library": "import pygments",
    "test_it_registers_itself_as_a_tool": '@hookimpl(specname="tools")\ndef _tools(self): return ()',
    "test_its_names_are_legal": 'aliases = ("read a file",)',
    "test_its_input_schema_is_valid": (
        "def shape(self):\n    real = super().shape()\n    properties = {**real.schema['properties'], 'odd name': {}}\n"
        "    return Shape(real, {**real.schema, 'properties': properties})"
    ),
    "test_its_schema_survives_the_wire": (
        "def shape(self):\n    real = super().shape()\n    return Shape(real, {**real.schema, 'x-order': ('file_path',)})"
    ),
    "test_its_name_schema_and_prompt_are_the_same_bytes_in_every_process": (
        "def prompt(self, options): return super().prompt(options) + ' '.join({'one', 'two', 'three', 'four', 'five'})"
    ),
    "test_its_schema_and_prompt_are_the_same_bytes_each_time": (
        "def prompt(self, options): return super().prompt(options) + str(next(COUNT))"
    ),
    "test_its_prompt_says_something_and_not_too_much": "def prompt(self, options): return 'Reads.'",
    "test_an_input_of_the_wrong_shape_is_refused_by_the_name_of_the_parameter": (
        "def shape(self):\n    real = super().shape()\n    def parse(raw):\n"
        "        try:\n            return real.parse(raw)\n"
        "        except InvalidInput:\n            raise InvalidInput('That is wrong.')\n    return Shape(real, None, parse)"
    ),
    "test_invalid_examples_are_refused": (
        "async def call(self, input, ctx, progress):\n    try:\n        return await super().call(input, ctx, progress)\n"
        "    except ToolError:\n        return ToolResult({'type': 'file_unchanged', 'file': {'filePath': ''}})"
    ),
    "test_its_flags_agree_with_each_other": "def is_destructive(self, input): return True",
    "test_it_can_be_shown_to_a_person": "def activity(self, input): return ' '",
    "test_its_permission_questions_change_nothing": (
        "async def check_permissions(self, input, scope): (scope.cwd / 'asked.txt').write_text('once')"
    ),
    "test_a_call_gives_a_result_that_the_model_can_read": (
        "def to_result_block(self, data, tool_use_id): return {'type': 'text', 'text': str(data)}"
    ),
    "test_a_call_that_is_read_only_changes_nothing": CALL.format("(ctx.cwd / 'left.txt').write_text('here')"),
    "test_a_call_that_is_read_only_writes_nothing_elsewhere": CALL.format(
        "(Path.home() / 'left.txt').write_text('here')"
    ),
    "test_an_input_that_makes_no_sense_is_refused_not_crashed_on": (
        "def get_path(self, input): return bytes(input.file_path, 'ascii').decode()"
    ),
    "test_a_call_prints_nothing": CALL.format("print('reading')"),
    "test_a_call_leaves_no_task_running": CALL.format("type(ctx).left = asyncio.create_task(asyncio.sleep(60))"),
    "test_an_aborted_call_ends": SLOW + "async def wait(self, ctx): await asyncio.sleep(1.0)",
    "test_a_cancelled_call_ends": (
        SLOW + "async def wait(self, ctx):\n    try:\n        await ctx.abort.wait()\n"
        "    except asyncio.CancelledError:\n        await asyncio.sleep(1.0)\n        raise\n"
        "    raise Aborted('user_cancel')"
    ),
}
"""Each rule's test, and what the body of a subclass must be to break the rule."""
ENTAILS: Mapping[str, str] = {
    "test_the_example_is_a_legal_input": "async def validate_input(self, input, ctx): return 'Not today.'",
}
"""Rules that others rest on: without a legal example there is no call to look at."""


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, set[str]]:
    """For each rule (and "" for the unbroken copy), the kit's tests that fail where it is broken."""
    place = tmp_path_factory.mktemp("mutations").resolve()
    bodies = {"": "pass", **RULES, **ENTAILS}
    for number, body in enumerate(bodies.values()):
        package = f"copied_read_{number}"
        shutil.copytree(SOURCE, place / package, ignore=shutil.ignore_patterns("__pycache__"))
        with (place / package / "__init__.py").open("a", encoding="utf-8") as file:
            file.write(f"{HEAD}class Broken(Read):\n{indent(body, '    ')}\n\n    __doc__ = Read.__doc__\n")
        (place / f"test_{number}.py").write_text(KIT.format(package=package), encoding="utf-8")
    (place / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (place / "home").mkdir()
    command = [sys.executable, "-m", "pytest", "-q", "-c", "pytest.ini", "-p", "no:cacheprovider", "-p", "no:randomly"]
    env = {**os.environ, "PYTHONPATH": str(place), "HOME": str(place / "home"), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        [*command, "--junitxml=found.xml", f"--basetemp={place / 'base'}"],
        cwd=place,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout[-3000:]
    found: dict[str, set[str]] = {rule: set() for rule in bodies}
    for case in ElementTree.parse(place / "found.xml").iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            number = int(str(case.get("classname")).split(".")[0].removeprefix("test_"))
            found[list(bodies)[number]].add(str(case.get("name")))
    return found


def test_the_copy_that_nobody_broke_passes(failed: Mapping[str, set[str]]) -> None:
    assert failed[""] == set()


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_that_is_broken_is_the_one_that_fails(failed: Mapping[str, set[str]], rule: str) -> None:
    assert failed[rule] == {rule}


@pytest.mark.parametrize("rule", ENTAILS)
def test_a_rule_that_others_rest_on_fails_with_them(failed: Mapping[str, set[str]], rule: str) -> None:
    assert rule in failed[rule]


def test_every_rule_of_the_kit_is_broken_once() -> None:
    assert sorted([*RULES, *ENTAILS]) == sorted(name for name in dir(ToolContract) if name.startswith("test_"))
