"""Whose thoughts a conversation holds: a model takes its own, and those of another are left out once it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolpost_core.loop.messages import THOUGHTS, without_thoughts
from toolpost_core.transcripts.kinds import THINKER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolpost_core.loop.state import State
    from toolpost_core.transcripts.history import History
    from toolpost_core.transcripts.transcript import Transcript


class Thinker:
    """The model that the conversation's thoughts are of."""

    def __init__(self, history: History | None = None) -> None:
        recorded = history.states.get(THINKER, {}).get("model") if history is not None else None
        self._model: str | None = recorded if isinstance(recorded, str) else None
        self._reported = history.answered_by if history is not None else None

    def goes_on(self, state: State, model: str, transcript: Transcript) -> State:
        """Return the state that is sent to a model. Where another one thought so far, a record says so for who resumes.

        What was left out once stays left out, so that the bytes of later requests begin with those of earlier ones.
        """
        foreign = self._is_foreign(model)
        self._model, self._reported = model, None
        if not foreign:
            return state
        self.left_out(model, transcript)
        return replace(state, messages=without_thoughts(state.messages))

    def left_out(self, model: str, transcript: Transcript) -> None:
        """Keep for who resumes that no thought of before is sent to the model."""
        transcript.state(THINKER, model=model, leafUuid=transcript.parent)

    def _is_foreign(self, model: str) -> bool:
        if self._model is not None:
            return self._model != model
        # The service may report a name with a date behind.
        reported = self._reported
        return reported is not None and reported != model and not reported.startswith(f"{model}-")


def sent_on(chain: Sequence[Mapping[str, Any]], records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the records of a chain without thoughts of models that another one went on for; `records` are the file's."""
    before = _before_the_last(records)
    return [_without(record) if str(record.get("uuid")) in before else record for record in chain]


def _before_the_last(records: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the ids of all records up to where another model went on last."""
    seen: list[str] = []
    leaf = None
    for record in records:
        if "uuid" in record:
            seen.append(str(record["uuid"]))
        elif record.get("type") == THINKER:
            leaf = record.get("leafUuid")
    return set(seen[: seen.index(leaf) + 1]) if leaf in seen else set()


def _without(record: Mapping[str, Any]) -> Mapping[str, Any]:
    message = record.get("message")
    if not isinstance(message, Mapping):
        return record
    content = message.get("content")
    if not isinstance(content, list) or not any(map(_is_thought, content)):
        return record
    return {**record, "message": {**message, "content": [block for block in content if not _is_thought(block)]}}


def _is_thought(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") in THOUGHTS
