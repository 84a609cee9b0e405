"""Changing the model of a session, with the listeners that have a say in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from toolpost import ModelRequest, SessionError, on

if TYPE_CHECKING:
    from toolpost import ModelInfo
    from toolpost.events.turn import ModelSwitch
    from toolpost_core.session.inner import Inner

CACHE_LIFE: Final = 300.0
"""Seconds that the service keeps a prompt in its cache."""


async def switch(session: Inner, name: str, source: Literal["command", "picker", "sdk"]) -> ModelInfo:
    """Use another model from the next request on: the conversation stays, windows and limits are the new one's.

    Raises SessionError where a listener refuses, and ProviderError where there is no such model.
    """
    model = session.model_in_use
    new = model.named(name)
    if new.id == model.name:
        return model.switch(name)
    await model.provider.check_model(_word_to(new, session))
    await _asked(session, name, new, source)
    if 0 < new.window < session.conversation.used:
        session.warn(
            f"The conversation has about {session.conversation.used:,} tokens and the window of {new.id} {new.window:,}: "
            "it will be shortened before the next request."
        )
    return new


async def _asked(session: Inner, name: str, new: ModelInfo, source: Literal["command", "picker", "sdk"]) -> None:
    """Ask listeners and switch."""
    model, events = session.model_in_use, session.events
    if not (events.hears("pre_model_switch") or events.hears("post_model_switch")):
        model.switch(name)
        return
    value = _event(session, name, new, source)
    emission = await events.emit(on.pre_model_switch, value)
    refused = emission.failure
    if refused is None and emission.outcome is not None and (emission.outcome.block or emission.outcome.stop):
        refused = emission.outcome.reason or emission.outcome.stop_reason or "a PreModelSwitch hook said no"
    if refused is not None:
        raise SessionError(f"The model stays {value.from_model}: {refused}")
    model.switch(name)
    outcome = (await events.emit(on.post_model_switch, value)).outcome
    if outcome is not None and outcome.additional_context:
        session.queue.put(outcome.additional_context)


def _word_to(model: ModelInfo, session: Inner) -> ModelRequest:
    return ModelRequest(
        model=model.id,
        messages=({"role": "user", "content": "Hi"},),
        purpose="model_check",
        env=session.parts.env,
        stash=session.stash,
    )


def _event(session: Inner, name: str, new: ModelInfo, source: Literal["command", "picker", "sdk"]) -> ModelSwitch:
    from toolpost.events.turn import ModelSwitch

    tokens = session.conversation.used
    return ModelSwitch(
        from_model=session.model_in_use.name,
        to_model=new.id,
        requested_model=name,
        source=source,
        context_tokens=tokens,
        prompt_cache_warm=bool(tokens) and session.conversation.idle < CACHE_LIFE,
        estimated_cache_write_usd=new.price.cache_write * tokens / 1_000_000 if new.price is not None else 0.0,
        pricing="catalog" if new.price is not None else "default",
    )
