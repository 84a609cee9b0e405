"""The least that an agent can be: ask, run a real `bash -c` for each call, ask again until there is none.

    python bare_loop.py httpx2 | anthropic

Where to ask comes from ANTHROPIC_BASE_URL. Nothing is checked, kept on disk or shown: it is what the interpreter, the
client and the processes cost, which no agent with that client can beat by much.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

Blocks: TypeAlias = list[dict[str, Any]]
Ask: TypeAlias = Callable[[Blocks], Awaitable[Blocks]]

_SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
_REQUEST: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 1024,
    "system": "You are a coding agent.",
    "tools": [{"name": "Bash", "description": "Runs a command.", "input_schema": _SCHEMA}],
}


async def main(client: str) -> None:
    """Run the loop to its end."""
    ask = _httpx2() if client == "httpx2" else _anthropic()
    messages: Blocks = [{"role": "user", "content": "hi"}]
    while True:
        blocks = await ask(messages)
        messages.append({"role": "assistant", "content": blocks})
        calls = [block for block in blocks if block["type"] == "tool_use"]
        if not calls:
            return
        outputs = await asyncio.gather(*(_bash(call["input"]["command"]) for call in calls))
        results = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": output}
            for call, output in zip(calls, outputs, strict=True)
        ]
        messages.append({"role": "user", "content": results})


async def _bash(command: str) -> str:
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    return output.decode() or "(no output)"


def _httpx2() -> Ask:
    import httpx2

    client = httpx2.AsyncClient(base_url=os.environ["ANTHROPIC_BASE_URL"], timeout=None, trust_env=False)
    headers = {"content-type": "application/json"}

    async def ask(messages: Blocks) -> Blocks:
        body = json.dumps({**_REQUEST, "stream": True, "messages": messages}).encode()
        blocks: Blocks = []
        async with client.stream("POST", "/v1/messages", content=body, headers=headers) as response:
            async for line in response.aiter_lines():
                if line.startswith("data:"):
                    _take(json.loads(line[5:]), blocks)
        return blocks

    return ask


def _take(event: dict[str, Any], blocks: Blocks) -> None:
    match event["type"]:
        case "content_block_start":
            blocks.append({**event["content_block"], "json": ""})
        case "content_block_delta" if "text" in event["delta"]:
            blocks[-1]["text"] += event["delta"]["text"]
        case "content_block_delta":
            blocks[-1]["json"] += event["delta"]["partial_json"]
        case "content_block_stop":
            if given := blocks[-1].pop("json"):
                blocks[-1]["input"] = json.loads(given)


def _anthropic() -> Ask:
    from anthropic import AsyncAnthropic

    client = AsyncAnthropic()
    kept = {"type", "text", "id", "name", "input"}

    async def ask(messages: Blocks) -> Blocks:
        given: Any = messages
        async with client.messages.stream(**_REQUEST, messages=given) as stream:
            message = await stream.get_final_message()
        return [block.model_dump(include=kept, exclude_none=True) for block in message.content]

    return ask


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
