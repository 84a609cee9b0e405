"""Control requests of a program that drives us: each gets exactly one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolpost import MODES, Notice, ToolpostError

from .lines import ANSWER

if TYPE_CHECKING:
    from toolpost import FileRewind, SessionDoor

    from .incoming import Control

SUPPORTED = (
    "interrupt",
    "cancel_async_message",
    "set_model",
    "set_max_thinking_tokens",
    "set_permission_mode",
    "rewind_files",
)


async def answer(control: Control, door: SessionDoor) -> Notice:
    """Do what the request asks and return the control_response, as a notice that `StreamLines` makes the line of."""
    try:
        response = {"subtype": "success", "request_id": control.id, "response": await _do(control, door)}
    except (ToolpostError, ValueError) as error:
        response = {"subtype": "error", "request_id": control.id, "error": str(error)}
    return Notice("", kind=ANSWER, data={"response": response})


async def _do(control: Control, door: SessionDoor) -> dict[str, Any]:
    if control.subtype == "interrupt":
        door.interrupt("user_cancel")
        waiting = [queued.id for queued in door.queued() if queued.kind == "prompt"]
        if control.request.get("cancel_queued") is not True:
            return {"still_queued": waiting}
        return {"still_queued": [], "cancelled": [id for id in waiting if door.withdraw(id) is not None]}
    if control.subtype == "cancel_async_message":
        message_id = control.request.get("message_uuid")
        if not isinstance(message_id, str) or not message_id:
            raise ValueError('cancel_async_message needs "message_uuid", the uuid of a message that waits')
        return {"cancelled": door.withdraw(message_id) is not None}
    if control.subtype == "set_model":
        model = control.request.get("model")
        if not isinstance(model, str) or not model:
            raise ValueError('set_model needs "model", the name of a model')
        await door.set_model(model, source="sdk")
        return {}
    if control.subtype == "set_max_thinking_tokens":
        tokens = control.request.get("max_thinking_tokens")
        if tokens is not None and (not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0):
            raise ValueError('set_max_thinking_tokens needs "max_thinking_tokens", a number of tokens, 0 or null')
        door.set_thinking("disabled" if tokens == 0 else tokens)
        return {}
    if control.subtype == "set_permission_mode":
        mode = next((mode for mode in MODES if mode == control.request.get("mode")), None)
        if mode is None:
            raise ValueError(f'set_permission_mode needs "mode", one of {", ".join(MODES)}')
        door.set_permission_mode(mode)
        return {"mode": mode}
    if control.subtype == "rewind_files":
        return await _rewind_files(control.request, door)
    raise ValueError(f"Control request {control.subtype!r} is not supported; there are {', '.join(SUPPORTED)}")


async def _rewind_files(request: Mapping[str, Any], door: SessionDoor) -> dict[str, Any]:
    """Rewind, or with `dry_run` say what would be done; `force` goes over changes that were made by hand."""
    message_id = request.get("user_message_id")
    if not isinstance(message_id, str) or not message_id:
        raise ValueError('rewind_files needs "user_message_id", the uuid of a message')
    try:
        planned = await door.plan_rewind(message_id)
        if request.get("dry_run"):
            by_hand = [f"{file.path}: {file.by_hand}" for file in planned if file.by_hand]
            error = {"error": "Changed by hand: " + "; ".join(by_hand)} if by_hand else {}
            return {"canRewind": not by_hand, **error, **_counted(planned)}
        rewound = await door.rewind_files(message_id, force=request.get("force") is True)
    except ToolpostError as error:
        return {"canRewind": False, "error": str(error)}
    left = [f"{file.path}: {file.problem}" for file in rewound.left]
    return {"canRewind": True, **({"error": "Left: " + "; ".join(left)} if left else {}), **_counted(rewound.files)}


def _counted(files: Sequence[FileRewind]) -> dict[str, Any]:
    done = [file for file in files if not file.problem]
    return {
        "filesChanged": [str(file.path) for file in done],
        "insertions": sum(file.added or 0 for file in done),
        "deletions": sum(file.removed or 0 for file in done),
    }
