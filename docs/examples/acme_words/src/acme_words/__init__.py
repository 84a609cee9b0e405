"""A tool that counts words."""

from pathlib import Path

from toolpost import ToolContext, tool


@tool(read_only=True, concurrency_safe=True)
async def word_count(path: Path, ctx: ToolContext) -> str:
    """Count the words of a text file."""
    return f"{len((await ctx.files.read_text(ctx.resolve(path))).split())} words"
