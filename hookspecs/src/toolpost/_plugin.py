"""`Plugin`: fields are settings, methods are behaviour."""

from __future__ import annotations

from typing import Any, ClassVar, dataclass_transform

from toolpost._frozen import frozen


@dataclass_transform(frozen_default=True, kw_only_default=True, eq_default=False)
class Plugin:
    """A plugin's fields are its settings, its methods its behaviour; an instance never changes.

    Core makes the instance from the class that an entry point names and from the plugin's `config` in settings.json.
    Instances are shared by sessions: what must live for a session belongs in a `Stash`.
    """

    # Read by pydantic when settings are validated; nothing here imports it.
    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if _adds_fields(cls):
            frozen(kw_only=True, eq=False)(cls)


def _adds_fields(cls: type) -> bool:
    """Whether the class body declares a setting: making a dataclass costs most of a millisecond, so only then."""
    own = vars(cls).get("__annotations__", {})
    return any("ClassVar" not in str(annotation) for annotation in own.values())
