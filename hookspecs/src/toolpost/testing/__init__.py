"""What a plugin is tested with: doubles of the session's parts, and a contract kit for each kind of plugin.

A test class that names the plugin gets the suite that the plugins of the standard set pass:

    class TestWordCount(ToolContract):
        tool = word_count
        example = {"path": "notes.txt"}
        files = {"notes.txt": "one two"}

The kits need pytest (`pip install "toolpost-hookspecs[testing]"`), the doubles need nothing.
"""

from toolpost._lazy import attach

__getattr__, __all__ = attach(
    __name__,
    {
        "_contract": ("PluginContract", "exempt", "finish"),
        "agents": ("AgentLoaderContract",),
        "compaction": ("CompactionContract", "conversation"),
        "commands": ("PlainCommands",),
        "context": ("call_tool", "make_context", "make_scope"),
        "doubles": ("AbortSwitch", "ProgressLog", "ServiceMap"),
        "executors": ("ExecutorContract",),
        "files": ("PlainFiles",),
        "frontends": ("FakeHost", "FakeSession", "FrontendContract"),
        "harness": ("SessionHarness", "SessionRecord", "record"),
        "hook_runners": ("HookRunnerContract",),
        "journal": ("MemoryJournal",),
        "lifecycle": ("LifecycleContract",),
        "mcp": ("McpTransportContract",),
        "model": ("FakeModel",),
        "permissions": ("PermissionResolverContract",),
        "processes": ("PlainProcesses",),
        "prompt": ("ContextSourceContract",),
        "providers": ("ProviderContract",),
        "recordings": ("replays",),
        "sandboxes": ("SandboxContract",),
        "search": ("FakeHttp", "SearchBackendContract"),
        "services": ("ServiceContract",),
        "settings": ("SettingsSourceContract",),
        "skills": ("SkillLoaderContract",),
        "tasks": ("InboxLog", "PlainTasks"),
        "tools": ("ToolContract",),
    },
)


def __dir__() -> list[str]:
    return __all__
