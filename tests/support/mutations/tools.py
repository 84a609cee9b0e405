"""How the rules of tools are broken."""

from __future__ import annotations

from mutations.subject import Edit, Subject, swap, under
from toolpost.testing import ToolContract


def inside(code: str) -> Edit:
    """Add code to the class."""
    return under('    name = "Read"', code, depth=1)


def shaped(*, schema: str = "real.schema", parse: str = "real.parse") -> Edit:
    """Change what the tool takes."""
    return inside(
        "def shape(self):\n"
        "    from types import SimpleNamespace\n"
        "    real = super().shape()\n"
        f"    return SimpleNamespace(schema={schema}, parse={parse})"
    )


def first(code: str) -> Edit:
    """Add code to the beginning of each call."""
    return under('        """Read by what the file holds, whatever it is called."""', code)


TOOL = Subject(
    contract=ToolContract,
    project="builtin_tools/read",
    file="tool.py",
    opening="class Read(Tool[ReadInput]):",
    kit="TestSlowly",
    tests="""
class TestSlowly(TestRead):
    example_slow = {"file_path": "slow.txt"}
    files = {**TestRead.files, "slow.txt": "two"}
    within = 0.4
""",
    rules={
        "test_it_registers_itself_as_a_tool": inside("_tools = None"),
        "test_its_names_are_legal": inside('aliases = ("read a file",)'),
        "test_its_input_schema_is_valid": shaped(
            schema="{**real.schema, 'properties': {**real.schema['properties'], 'odd name': {}}}"
        ),
        "test_its_schema_survives_the_wire": shaped(schema="{**real.schema, 'x-order': ('file_path',)}"),
        "test_its_name_schema_and_prompt_are_the_same_bytes_in_every_process": inside(
            "def prompt(self, options): return f'Reads {set(ReadInput.__annotations__)}.'"
        ),
        "test_its_schema_and_prompt_are_the_same_bytes_each_time": inside(
            "import itertools\n"
            "def prompt(self, options, asked=itertools.count()): return f'Reads, {next(asked)} times now.'"
        ),
        "test_its_prompt_says_something_and_not_too_much": inside("def prompt(self, options): return 'Reads.'"),
        "test_an_input_of_the_wrong_shape_is_refused_by_the_name_of_the_parameter": shaped(
            parse="lambda input: real.parse({key: input[key] for key in real.schema['properties'] if key in input})"
        ),
        "test_invalid_examples_are_refused": first(
            "if input.file_path == 'missing.txt': return ToolResult({'type': 'file_unchanged', 'file': {'filePath': ''}})"
        ),
        "test_its_flags_agree_with_each_other": inside("def is_destructive(self, input): return True"),
        "test_it_can_be_shown_to_a_person": swap('f"Reading {input.file_path}"', '" "'),
        "test_its_permission_questions_change_nothing": inside(
            "async def check_permissions(self, input, scope): (scope.cwd / 'asked.txt').write_text('once')"
        ),
        "test_a_call_gives_a_result_that_the_model_can_read": swap(
            '"type": "tool_result", "tool_use_id": tool_use_id, "content": _content(data)',
            '"type": "tool_result", "tool_use_id": tool_use_id, "content": _content(data).encode()',
        ),
        "test_a_call_that_is_read_only_changes_nothing": first("(ctx.cwd / 'left.txt').write_text('here')"),
        "test_a_call_that_is_read_only_writes_nothing_elsewhere": first(
            "(pathlib.Path.home() / 'left.txt').write_text('here')"
        ),
        "test_an_input_that_makes_no_sense_is_refused_not_crashed_on": swap(
            "        return input.file_path\n", "        return str(input.file_path.encode(), 'ascii')\n"
        ),
        "test_a_call_keeps_nothing_in_the_tool": first("self.__dict__['last'] = input"),
        "test_a_call_prints_nothing": first("print('reading')"),
        "test_a_call_leaves_no_task_running": first("type(ctx).left = asyncio.create_task(asyncio.sleep(60))"),
        "test_an_aborted_call_ends": first("if input.file_path == 'slow.txt': await asyncio.sleep(0.6)"),
        "test_a_cancelled_call_ends": first(
            "if input.file_path == 'slow.txt':\n"
            "    try:\n"
            "        await ctx.abort.wait()\n"
            "    except asyncio.CancelledError:\n"
            "        await asyncio.sleep(0.6)\n"
            "        raise"
        ),
    },
    groundwork={
        "test_the_example_is_a_legal_input": swap(
            "        if not input.pages:\n",
            "        if input.pages is None:\n            return 'No pages.'\n        if not input.pages:\n",
        ),
    },
)
