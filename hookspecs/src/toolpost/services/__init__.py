"""Services: what one plugin offers another, asked for by Protocol.

    ctx.files                       the same as ctx.service(Files)
    ctx.service(MyProtocol)         any service that an enabled plugin offers

A plugin offers one by implementing the registration hook `services`.
"""

from toolpost._lazy import attach

__getattr__, __all__ = attach(
    __name__,
    {
        "commands": ("Command", "CommandEnd", "Commands"),
        "confinement": ("Confinement",),
        "files": ("Files", "TextFile"),
        "history": ("FileHistory", "FileRewind", "Rewound", "TurnChanges"),
        "http": ("Http", "HttpResponse"),
        "journal": ("Journal", "SentPrompt"),
        "kernel": (
            "Emitter",
            "HookLog",
            "HookRunners",
            "Inbox",
            "Models",
            "PermissionState",
            "Permissions",
            "Sandboxes",
            "SessionHooks",
        ),
        "memory": ("MemoryFile", "MemoryFiles"),
        "notes": ("SessionNotes",),
        "offers": ("ServiceOffer", "Services"),
        "processes": ("Finished", "Process", "Processes"),
        "work": ("AgentRequest", "AgentResult", "Agents", "Mcp", "Skills", "TaskEnd", "TaskInfo", "TaskWork", "Tasks"),
        "world": ("CallEnd", "EventEnd", "Recorder", "Replay", "World"),
    },
)


def __dir__() -> list[str]:
    return __all__
