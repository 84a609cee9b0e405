"""The models that a prompt may go over to when the one in use is overloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolpost_core.loop.state import NewModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost_core.session.inner import Inner

RECORD: Final = "model-fallback"
"""The type of a record that says that another model went on with a prompt."""


class FallingBack:
    """Takes one after the other. The next prompt asks the chosen model again: an overload passes."""

    def __init__(self, session: Inner) -> None:
        self._session = session
        self._left = list(_chain(session))

    @property
    def possible(self) -> bool:
        """Whether there is a model left."""
        return bool(self._left)

    def __call__(self) -> NewModel | None:
        """Use the next model from the next request on; None where none is left."""
        session, in_use = self._session, self._session.model_in_use
        while self._left:
            name = self._left.pop(0)
            old, new = in_use.info, in_use.named(in_use.provider.default_model if name == "default" else name)
            if new.id == old.id:
                continue
            in_use.stand_in(new)
            session.transcript.side(RECORD, fromModel=old.id, toModel=new.id, promptId=session.prompt_id)
            return NewModel(new.id, old.id)
        return None


def _chain(session: Inner) -> Sequence[str]:
    """Return the names of --fallback-model, separated by commas, or those of the settings."""
    given = session.parts.options.fallback_model
    named = given.split(",") if given is not None else session.parts.settings.get("fallbackModel") or ()
    names = [named] if isinstance(named, str) else named
    return [name.strip() for name in names if name.strip()]
