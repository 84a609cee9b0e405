"""The lifecycle events, each a decorator for its listeners: `@on.post_tool_use`."""

from toolpost._lazy import attach

__getattr__, __all__ = attach(
    __name__,
    {
        "agent": (
            "subagent_start",
            "subagent_stop",
            "task_completed",
            "task_created",
            "teammate_idle",
            "worktree_create",
            "worktree_remove",
        ),
        "compaction": (
            "post_compact",
            "pre_compact",
        ),
        "files": ("file_changed",),
        "messages": (
            "elicitation",
            "elicitation_result",
        ),
        "permission": (
            "permission_denied",
            "permission_request",
        ),
        "session": (
            "config_change",
            "cwd_changed",
            "directory_added",
            "instructions_loaded",
            "session_end",
            "session_start",
            "setup",
        ),
        "tool": (
            "post_tool_batch",
            "post_tool_use",
            "post_tool_use_failure",
            "pre_skill_shell_command",
            "pre_tool_use",
        ),
        "turn": (
            "after_model",
            "before_model",
            "message_display",
            "notification",
            "post_model_switch",
            "pre_model_switch",
            "stop",
            "stop_failure",
            "user_prompt_expansion",
            "user_prompt_submit",
        ),
    },
    base="toolpost.events",
)


def __dir__() -> list[str]:
    return __all__
