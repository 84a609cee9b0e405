"""How the rules of what takes part in a turn are broken: providers, compaction, context, permissions, listeners, hooks."""

from __future__ import annotations

from mutations.subject import Subject, swap, under
from toolpost.testing import (
    CompactionContract,
    ContextSourceContract,
    HookRunnerContract,
    LifecycleContract,
    PermissionResolverContract,
    ProviderContract,
)

EACH_EVENT = "            async for event in events:\n                yield event\n"
STREAM = '        """Ask the model; what fails before any of the answer was yielded is tried again, visibly."""'
PROVIDER = Subject(
    contract=ProviderContract,
    project="plugins/providers/anthropic",
    file="provider.py",
    opening="class Anthropic(Provider):",
    kit="TestQuickly",
    tests="class TestQuickly(TestWire):\n    within = 0.4\n",
    rules={
        "test_an_answer_ends_with_its_only_stop": under(
            EACH_EVENT.rstrip(), "yield toolpost.Stop('end_turn')", depth=3
        ),
        "test_an_answer_begins_before_it_goes_on": swap(
            EACH_EVENT,
            "            usage = toolpost.Usage()\n"
            f"{EACH_EVENT}"
            "                if isinstance(event, toolpost.TextDelta): yield toolpost.MessageStart('msg_2', 'm', usage)\n"
            "                usage = getattr(event, 'usage', usage)\n",
        ),
        "test_calls_are_complete_and_told_apart": swap(
            EACH_EVENT,
            "            async for event in events:\n"
            "                yield event._replace(id='') if isinstance(event, toolpost.ToolUse) else event\n",
        ),
        "test_usage_counts_the_whole_request": swap(
            EACH_EVENT,
            "            async for event in events:\n"
            "                yield event._replace(usage=toolpost.Usage()) if isinstance(event, toolpost.Stop) else event\n",
        ),
        "test_closing_an_answer_ends_it": swap(
            EACH_EVENT,
            "            async for event in events:\n"
            "                try:\n"
            "                    yield event\n"
            "                except GeneratorExit:\n"
            "                    await asyncio.sleep(0.6)\n"
            "                    raise\n",
        ),
        "test_cancelling_an_answer_ends_it": swap(
            EACH_EVENT,
            "            try:\n"
            "                async for event in events:\n"
            "                    yield event\n"
            "            except asyncio.CancelledError:\n"
            "                await asyncio.sleep(0.6)\n"
            "                raise\n",
        ),
        "test_an_answer_that_is_called_off_closes_its_connection": swap(
            "async with aclosing(with_mending(ask, request, model)) as events:",
            "kept = with_mending(ask, request, model)\n"
            "        request.stash[toolpost.StashKey('kept')] = kept\n"
            "        async with contextlib.nullcontext(kept) as events:",
        ),
        "test_an_answer_is_the_same_however_it_is_cut": swap(
            "reader.feed(chunk)", "reader.feed(chunk.decode('utf-8', 'replace').encode())", file="exchange.py"
        ),
        "test_a_failure_of_the_service_is_a_provider_error_of_its_kind": swap(
            '"rate_limit_error": _LIMIT', '"rate_limit_error": _SERVER', file="errors.py"
        ),
        "test_the_request_is_left_as_it_was": under(STREAM, "request.messages[0]['content'] = 'Say nothing.'"),
        "test_sessions_do_not_disturb_one_another": swap(
            EACH_EVENT,
            "            if vars(self).get('busy'): raise ProviderError('another session is being answered')\n"
            "            try:\n"
            "                vars(self)['busy'] = True\n"
            "                async for event in events: yield event\n"
            "            finally:\n"
            "                vars(self)['busy'] = False\n",
        ),
        "test_its_models_are_described": swap("return models.MODELS", "return (ModelInfo(id=''),)"),
        "test_it_says_what_is_missing_without_raising": swap(
            '        """Name the environment variable that the credential comes from."""\n',
            "        if not env: return ''\n",
        ),
    },
)

MADE = "context.result(with_cleared(context.messages, found))"
COMPACTION = Subject(
    contract=CompactionContract,
    project="plugins/compaction/micro",
    opening="class Micro(CompactionStrategy):",
    kit="TestMicro",
    rules={
        "test_it_does_nothing_where_nothing_is_to_do": swap(
            "return context.fill >= self.above or self._any_gain_counts(context)", "return 1.0"
        ),
        "test_it_makes_a_full_conversation_shorter": swap(
            MADE,
            "context.result([{'role': 'user', 'content': 'long ' * 10**6}, *with_cleared(context.messages, found)[1:]])",
        ),
        "test_what_it_makes_is_at_rest": swap(
            "least = 1 if self._any_gain_counts(context) else self.min_tokens",
            "least, found = 1, dict(list(found.items())[:1])",
        ),
        "test_every_call_keeps_its_result": swap(
            'return {**block, "content"', "return {**block, 'tool_use_id': 'another', \"content\"", file="clearing.py"
        ),
        "test_it_begins_with_the_person": swap(MADE, "context.result(with_cleared(context.messages, found)[1:])"),
        "test_the_roles_alternate": swap(
            MADE, "context.result([{'role': 'user', 'content': 'Begin.'}, *with_cleared(context.messages, found)])"
        ),
        "test_thoughts_stay_with_their_answer": swap(
            MADE,
            "context.result([\n"
            "            {**message, 'content': [{**block, 'thinking': ''} for block in message['content'][:1]]\n"
            "             + message['content'][1:]} if number == 1 else message\n"
            "            for number, message in enumerate(with_cleared(context.messages, found))\n"
            "        ])",
        ),
        "test_it_says_what_it_did": swap(
            MADE, "context.result(with_cleared(context.messages, found), 'Results are gone.')"
        ),
        "test_messages_that_stay_are_the_same_objects": swap(
            MADE, "context.result([dict(message) for message in with_cleared(context.messages, found)])"
        ),
        "test_the_conversation_that_it_got_is_left_as_it_was": under(
            '        """Return the conversation with old results cleared, or None where that is not worth it."""',
            "context.messages[-1]['content'] = 'Cleared.'",
        ),
        "test_the_same_conversation_gives_the_same_bytes": swap(
            "join((CLEARED, *", "join((f'{CLEARED} {next(COUNT)}', *", file="clearing.py"
        ),
    },
)

SECTIONS = '        """Return a section for each file, in the order in which they are to be read."""'
REMINDERS = (
    '        """Return what files that were used since the last request bring along, unless it was told already."""'
)
CONTEXT = Subject(
    contract=ContextSourceContract,
    project="plugins/context/instructions",
    opening="class Instructions(ContextSource):",
    kit="TestInstructions",
    rules={
        "test_its_sections_are_named_and_bounded": swap(
            'name=f"instructions.{number:03}",\n', 'name="instructions",\n'
        ),
        "test_its_sections_are_the_same_bytes_each_time": swap("if number else f", "if number else f'{next(COUNT)}' f"),
        "test_static_sections_do_not_depend_on_the_session": swap("user=True", "user=True, static=True"),
        "test_text_of_the_workspace_is_not_put_among_the_systems": swap("user=True", "user=False"),
        "test_it_reminds_of_nothing_where_nothing_happened": under(REMINDERS, "return ('Work on.',)"),
        "test_asking_it_changes_nothing": under(SECTIONS, "(scope.cwd / 'asked.txt').touch()"),
    },
)

PERMISSION_RESOLVER = Subject(
    contract=PermissionResolverContract,
    project="plugins/permission_resolvers/rules",
    file="resolver.py",
    opening="class Rules(PermissionResolver):",
    kit="TestRules",
    rules={
        "test_it_answers_the_cases_as_expected": swap('{"AskUserQuestion", "ExitPlanMode"}', '{"ExitPlanMode"}'),
        "test_a_refusal_and_a_question_say_why": swap(
            'Ask(f"{request.tool_name} is a question to the person")', 'Ask("")'
        ),
        "test_the_same_call_gets_the_same_answer": swap(
            'Ask(f"{request.tool_name} is a question to the person")', "Ask(f'It is {time.monotonic_ns()}')"
        ),
        "test_an_input_that_makes_no_sense_does_not_make_it_raise": under(
            '        """Answer from the rules alone; nothing is started and nothing is read but directory entries."""',
            "request.tool_input.get('file_path', '').strip()",
        ),
        "test_it_leaves_the_input_and_the_folder_alone": under(
            '        """Answer from the rules alone; nothing is started and nothing is read but directory entries."""',
            "(request.scope.cwd / 'asked.txt').touch()",
        ),
    },
)

LIFECYCLE = Subject(
    contract=LifecycleContract,
    project="plugins/lifecycle/settings_hooks",
    opening="class SettingsHooks(Plugin):",
    kit="TestSettingsHooks",
    rules={
        "test_it_hears_events_that_exist_with_their_argument": swap("if not configured:", "if configured:"),
        "test_its_answers_fit_their_events": swap("if outcomes else None", "if outcomes else value", file="bridge.py"),
        "test_the_events_are_left_as_they_were": under(
            '        """Run the hooks that an event is for, all on the same input, and merge what they say."""',
            "if hasattr(value, 'tool_input'): value.tool_input['asked'] = True",
            file="bridge.py",
        ),
    },
)

HOOK_RUNNER = Subject(
    contract=HookRunnerContract,
    project="plugins/hook_runners/command",
    opening="class CommandRunner(HookRunner):",
    kit="TestQuickly",
    tests="class TestQuickly(TestCommandRunner):\n    within = 0.4\n",
    rules={
        "test_it_says_which_type_it_runs": swap('type: ClassVar[str] = "command"', 'type: ClassVar[str] = "program"'),
        "test_a_hook_that_works_is_ok": swap('return answer("ok")', 'return answer("failed")', file="answer.py"),
        "test_a_hook_that_blocks_says_why": swap(
            '_block_reason(output or {}) or errors or "the hook gave no reason"', '""', file="answer.py"
        ),
        "test_a_hook_that_takes_too_long_is_ended": swap('answer("timed_out"', 'answer("failed"', file="answer.py"),
        "test_a_hook_that_is_cancelled_is_ended": swap(
            "        except (OSError, ValueError) as error:",
            "        except asyncio.CancelledError:\n"
            "            await asyncio.sleep(0.6)\n"
            "            raise\n"
            "        except (OSError, ValueError) as error:",
        ),
        "test_a_hook_that_can_not_work_is_a_failure_and_no_exception": swap(
            'return answer("failed", _failure(ended.returncode, errors))', "raise OSError(errors)", file="answer.py"
        ),
    },
)
