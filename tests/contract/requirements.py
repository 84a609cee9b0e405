"""What must hold, whatever is built: an id, where it is from, and a sentence.

A test claims one with `@pytest.mark.requirement("pipeline.steps_in_order")`. `test_requirements.py` fails for an id that no
test claims, unless it stands in `UNCLAIMED`, and for a claim of an id that is not here.
"""

from __future__ import annotations

from typing import Final, NamedTuple

_SECTION_1: Final = "architecture, 1 layout"
_TRUST: Final = "docs/explanation/trust.md"
_SECTION_3: Final = "architecture, 3 discovery"
_SECTION_4: Final = "architecture, 4 the public API"
_PIPELINE: Final = "architecture, 6 pipeline of one call"
_EXECUTOR: Final = "architecture, 6 executor"
_ABORT: Final = "architecture, 6 abort tree"
_PERMISSIONS: Final = "architecture, 6 permission invariants"
_RESULTS: Final = "architecture, 6 results"
_LOOP: Final = "architecture, 6 loop"
_BUDGET: Final = "architecture, 6 budget"
_TRANSCRIPT: Final = "architecture, 6 transcript"
_PROCESSES: Final = "architecture, 6 processes"
_PERFORMANCE: Final = "architecture, 7 performance"


class Requirement(NamedTuple):
    """One invariant."""

    id: str
    source: str
    sentence: str


REQUIREMENTS: Final = (
    # The pipeline of one call.
    Requirement("pipeline.steps_in_order", _PIPELINE, "A call passes its gates in the order of the thirteen steps."),
    Requirement("pipeline.unknown_tool", _PIPELINE, 'An unknown tool gets an error result that says "No such tool".'),
    Requirement("pipeline.alias", _PIPELINE, "A tool is found by its aliases too."),
    Requirement("pipeline.aborted_before", _PIPELINE, "A call whose turn was aborted does not start."),
    Requirement(
        "pipeline.schema_error_mends", _PIPELINE, "An input of the wrong shape tells the model how to mend it."
    ),
    Requirement(
        "pipeline.deferred_names_tool_search",
        _PIPELINE,
        "A wrong input for a deferred tool whose schema was not sent says so and names ToolSearch.",
    ),
    Requirement(
        "pipeline.validate_input", _PIPELINE, "What validate_input refuses is not run, and the model reads why."
    ),
    Requirement(
        "pipeline.backfill_on_a_copy",
        _PIPELINE,
        "Hooks and rules see the backfilled input; the transcript keeps its own.",
    ),
    Requirement("pipeline.every_gate_answers_first", _PIPELINE, "No call starts before every gate has answered."),
    Requirement("pipeline.never_raises", _PIPELINE, "Whatever a tool or plugin raises becomes a result."),
    Requirement(
        "pipeline.refusals_told_apart",
        _PIPELINE,
        "The model can tell a person's refusal, a hook's denial, a hook's failure and a time-out apart.",
    ),
    Requirement(
        "pipeline.empty_result_has_text", _PIPELINE, "An empty result says that the tool completed with no output."
    ),
    Requirement(
        "pipeline.error_is_reported_to_hooks",
        _PIPELINE,
        "A failed call raises PostToolUseFailure and has is_error set.",
    ),
    Requirement("pipeline.progress_at_once", _PIPELINE, "Progress of a running call is shown before its result."),
    # The executor.
    Requirement(
        "executor.starts_while_streaming",
        _EXECUTOR,
        "A call starts once its block is complete, while the model streams on.",
    ),
    Requirement("executor.safe_calls_together", _EXECUTOR, "Concurrency-safe calls run at the same time."),
    Requirement(
        "executor.unsafe_call_alone", _EXECUTOR, "An unsafe call runs with no other beside it, and none overtakes it."
    ),
    Requirement("executor.results_in_order", _EXECUTOR, "Results stand in the order of the calls."),
    Requirement("executor.limit", _EXECUTOR, "At most TOOLPOST_MAX_TOOL_USE_CONCURRENCY calls (10) run at once."),
    Requirement("executor.batches", _EXECUTOR, "The batch executor partitions consecutive safe calls."),
    Requirement(
        "executor.modifiers_after_the_batch",
        _EXECUTOR,
        "Context modifiers of a concurrent batch apply after it, in order; of a serial call at once.",
    ),
    Requirement(
        "executor.failing_bash_aborts_siblings",
        _EXECUTOR,
        "A failing Bash call aborts its sibling Bash calls and nobody else.",
    ),
    Requirement(
        "executor.one_result_a_call", _EXECUTOR, "Every tool_use gets exactly one tool_result, whatever happens."
    ),
    # The abort tree.
    Requirement("abort.parent_to_children", _ABORT, "A parent aborts its children, with its reason."),
    Requirement(
        "abort.child_to_parent_only_on_stop",
        _ABORT,
        'A child aborts its parent only where a person refused with "stop".',
    ),
    Requirement("abort.children_held_weakly", _ABORT, "A parent does not keep a finished child alive."),
    Requirement(
        "abort.interrupt_spares_blocking_tools", _ABORT, "An interrupt stops only tools whose behaviour is cancel."
    ),
    Requirement(
        "abort.to_idle", _ABORT, "An abort ends a turn within 200 ms, with every call answered and no process left."
    ),
    # Permissions.
    Requirement(
        "permissions.precedence",
        _PERMISSIONS,
        "deny (settings) > deny (hook) > ask (hook or settings) > allow, from whatever source.",
    ),
    Requirement(
        "permissions.hook_allow_passes_no_rule", _PERMISSIONS, "A hook's allow passes neither a deny nor an ask rule."
    ),
    Requirement(
        "permissions.rewritten_input_is_checked_again",
        _PERMISSIONS,
        "Rewritten input goes through schema, validation and rules again, and is what is asked about and run.",
    ),
    Requirement("permissions.bypass_obeys_rules", _PERMISSIONS, "bypassPermissions obeys deny and ask rules."),
    Requirement("permissions.managed_wins", _PERMISSIONS, "Managed settings can't be overridden."),
    Requirement(
        "permissions.links_are_held",
        "docs/design/decisions.md, where a path leads",
        "A path leads the call to where it led when the call was decided on, or nowhere.",
    ),
    Requirement("permissions.unparsed_is_not_allowed", _PERMISSIONS, "What can't be parsed is not allowed."),
    Requirement(
        "permissions.ask_without_a_person_is_deny",
        _PERMISSIONS,
        "Where nobody can be asked, ask becomes deny and says so.",
    ),
    Requirement(
        "permissions.third_party_only_tightens",
        _PERMISSIONS,
        "A third-party resolver may only tighten unless the user granted it `decide`.",
    ),
    Requirement(
        "permissions.broken_file_keeps_last_rules",
        _PERMISSIONS,
        "A settings file broken in mid-edit keeps the last good rules.",
    ),
    Requirement(
        "permissions.failing_resolver_is_ask",
        _PERMISSIONS,
        "A resolver that raises or times out counts as an ask, never an allow.",
    ),
    Requirement(
        "permissions.every_decision_recorded",
        _PERMISSIONS,
        "Every decision has a record: verdict, what was asked, each answer with its source, requested and effective input.",
    ),
    # Results.
    Requirement(
        "results.large_goes_to_a_file",
        _RESULTS,
        "A result over max_result_chars is kept whole in a file; the model gets a preview cut at a line, and the path.",
    ),
    Requirement(
        "results.message_cap", _RESULTS, "Over 200,000 characters a message, the largest results go to files first."
    ),
    Requirement("results.replaced_once_stays", _RESULTS, "What was replaced once stays replaced with the same bytes."),
    # The loop.
    Requirement("loop.named_ends", _LOOP, "The loop ends only by a named reason."),
    Requirement("loop.named_transitions", _LOOP, "The loop goes on only by a named transition, within its bounds."),
    Requirement("loop.one_final_event", _LOOP, "There is exactly one final event, and the exit code agrees with it."),
    Requirement("loop.no_call_twice", _LOOP, "Whatever is tried again, no call runs twice."),
    Requirement("loop.stop_hook_bound", _LOOP, "Stop hooks keep the loop going at most eight times in a row."),
    # The budget.
    Requirement(
        "budget.stops_the_run", _BUDGET, "A run over its turns or dollars ends with the reason that names the limit."
    ),
    Requirement("budget.one_for_plugins", _BUDGET, "Plugins' own model calls use the session's budget."),
    Requirement("budget.one_for_all", _BUDGET, "Sub-agents and background work use the session's budget."),
    # The transcript.
    Requirement(
        "transcript.append_only",
        _TRANSCRIPT,
        "Records are appended, one a line, and flushed before the next request.",
    ),
    Requirement(
        "transcript.survives_a_kill",
        _TRANSCRIPT,
        "A kill at any byte leaves a session that resumes with every completed result and its pairs intact.",
    ),
    Requirement("transcript.one_writer", _TRANSCRIPT, "Two processes can't write one session."),
    # Processes.
    Requirement("processes.group_is_ended", _PROCESSES, "Ending a process ends all that it started."),
    Requirement(
        "processes.reaped_after_sigkill", _PROCESSES, "What we started ends even where we are killed with SIGKILL."
    ),
    # Events.
    Requirement("events.strictest_wins", _SECTION_4, "Of several decisions on one event the strictest wins."),
    Requirement(
        "events.isolated", _SECTION_4, "A listener that raises keeps no other from being called, and is named."
    ),
    Requirement("events.decide_fails_closed", _SECTION_4, "A decide listener that raises or times out blocks."),
    Requirement(
        "events.observe_fails_open", _SECTION_4, "An observe listener that raises or times out changes nothing."
    ),
    Requirement(
        "events.rewrites_chain", _SECTION_4, "Rewriting listeners see the last one's input, in declared order."
    ),
    # Plugins.
    Requirement(
        "plugins.third_party_is_off",
        _SECTION_3,
        "A third-party plugin is off until a trusted settings file turns it on.",
    ),
    Requirement(
        "plugins.project_turns_off_only", _SECTION_3, "An untrusted project's settings may turn plugins off, not on."
    ),
    Requirement(
        "plugins.failure_is_isolated",
        _SECTION_3,
        "A plugin that can't be loaded is named once, and the session goes on.",
    ),
    Requirement(
        "plugins.config_mistake_is_named",
        _SECTION_3,
        "A mistake in a plugin's config names plugin, key, file and what is allowed; the session goes on without it.",
    ),
    Requirement(
        "plugins.version_range", _SECTION_3, "A plugin made for other hookspecs is refused with both versions named."
    ),
    Requirement(
        "plugins.same_tool_name",
        _SECTION_3,
        "Of two tools with one name the winner is deterministic and both are named.",
    ),
    Requirement(
        "plugins.undeclared_is_dropped",
        _TRUST,
        "What a listener's package does not declare is dropped from its answers.",
    ),
    Requirement(
        "plugins.undeclared_services_are_withheld",
        _TRUST,
        "A plugin of any kind gets the services that its package declares.",
    ),
    Requirement(
        "plugins.undeclared_prompt_and_secrets",
        _TRUST,
        "A source of the prompt and the secrets of the environment are for plugins that declare them.",
    ),
    Requirement(
        "plugins.grants_are_settings",
        _TRUST,
        "What a plugin is granted comes from settings, which can give it to anybody and take it away from anybody.",
    ),
    Requirement("plugins.loading_has_a_limit", _TRUST, "A plugin that hangs as it is loaded is given up and named."),
    Requirement(
        "plugins.lock_refuses_changes", _TRUST, "A plugin that is not as the project's lock has it is refused."
    ),
    Requirement(
        "plugins.gates_are_never_missing",
        _TRUST,
        "A gate that failed often or that the lock refuses does not let pass what it would have been asked about.",
    ),
    Requirement("plugins.printing_stays_out", _TRUST, "What a plugin prints does not come into a document of ours."),
    Requirement(
        "plugins.core_without_plugins",
        _SECTION_1,
        "With every plugin uninstalled the core starts and says what to install.",
    ),
    Requirement(
        "layout.names_follow_folders",
        _SECTION_1,
        "Distribution, import name, group and entry follow from the folder.",
    ),
    Requirement(
        "layout.plugins_import_the_api_only", _SECTION_1, "A plugin imports the API, itself and third parties only."
    ),
    Requirement("layout.core_names_no_plugin", _SECTION_1, "The core imports no plugin and names none."),
    Requirement("layout.layers", _SECTION_1, "Inside the core, imports go down the layers only."),
    # Start-up.
    Requirement(
        "startup.api_is_light",
        _PERFORMANCE,
        "`import toolpost` imports neither pydantic, asyncio nor importlib.metadata.",
    ),
    Requirement(
        "startup.plugins_are_light",
        _PERFORMANCE,
        "Importing a plugin imports none of the heavy libraries that it uses.",
    ),
    Requirement(
        "startup.version_is_light", _PERFORMANCE, "`toolpost --version` imports no plugin and no heavy library."
    ),
    Requirement(
        "startup.unused_plugins_stay_unloaded",
        _PERFORMANCE,
        "`toolpost -p hi` imports no module of an unused plugin.",
    ),
)

UNCLAIMED: Final[frozenset[str]] = frozenset()
"""Requirements whose tests are still to be written, each with the reason; the set only ever gets smaller."""
