"""Rings the terminal's bell when a tool took over a minute."""

from toolpost import PostToolUse, on


@on.post_tool_use
def ring_when_slow(event: PostToolUse) -> None:
    if event.duration > 60:
        print("\a", end="", flush=True)
