"""Control requests of a program that drives us: each gets exactly one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolpost import MODES, ToolpostError

if TYPE_CHECKING:
    from toolpost import SessionDoor

    from .incoming import Control

SUPPORTED = ("interrupt", "set_model", "set_permission_mode")


def answer(control: Control, door: SessionDoor) -> dict[str, Any]:
    """Do what the request asks and return the control_response."""
    try:
        response = {"subtype": "success", "request_id": control.id, "response": _do(control, door)}
    except (ToolpostError, ValueError) as error:
        response = {"subtype": "error", "request_id": control.id, "error": str(error)}
    return {"type": "control_response", "response": response}


def _do(control: Control, door: SessionDoor) -> dict[str, Any]:
    if control.subtype == "interrupt":
        door.interrupt("user_cancel")
        return {"still_queued": []}
    if control.subtype == "set_model":
        model = control.request.get("model")
        if not isinstance(model, str) or not model:
            raise ValueError('set_model needs "model", the name of a model')
        door.set_model(model)
        return {}
    if control.subtype == "set_permission_mode":
        mode = next((mode for mode in MODES if mode == control.request.get("mode")), None)
        if mode is None:
            raise ValueError(f'set_permission_mode needs "mode", one of {", ".join(MODES)}')
        door.set_permission_mode(mode)
        return {"mode": mode}
    raise ValueError(f"Control request {control.subtype!r} is not supported; there are {', '.join(SUPPORTED)}")
