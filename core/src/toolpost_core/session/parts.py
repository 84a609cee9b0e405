"""What a session is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolpost import ProviderError
from toolpost._frozen import frozen
from toolpost_core.events.outside import Outside
from toolpost_core.loop.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from toolpost import Asker, LaunchOptions, ModelInfo, Provider, Sandbox
    from toolpost_core.plugins.registry import Registry
    from toolpost_core.settings import Settings
    from toolpost_core.transcripts.history import History
    from toolpost_core.transcripts.store import Store


@frozen(kw_only=True)
class Places:
    """A session's folders, absolute and real."""

    project: Path
    home: Path
    config_dir: Path


@frozen(kw_only=True)
class Parts:
    """Everything that a session is handed.

    `choose` returns the provider and its plugin's name, and may raise. `reread` reads the settings anew and returns them
    with the plugins that they turn on.
    """

    places: Places
    options: LaunchOptions
    settings: Settings
    registry: Registry
    choose: Callable[[], tuple[Provider, str]]
    reread: Callable[[], tuple[Settings, Registry]]
    store: Store
    env: Mapping[str, str]
    version: str
    session_id: str
    trusted: bool
    ask: Asker | None = None
    sandbox: Sandbox | None = None
    history: History | None = None
    forked_from: str | None = None
    budget: Budget = field(default_factory=Budget)
    outside: Outside = field(default_factory=Outside)
    notices: list[str] = field(default_factory=list)

    @property
    def confinement(self) -> Mapping[str, Any] | None:
        """The settings of the sandbox; None where commands run without one."""
        return self.settings.get("sandbox") if self.sandbox is not None else None


@dataclass
class Model:
    """The model in use; made when the first request needs it, changed by the person.

    `adjust` changes what a provider knows of a model to what the environment and the settings say.
    """

    choose: Callable[[], tuple[Provider, str]]
    wanted: str | None
    adjust: Callable[[ModelInfo], ModelInfo] = lambda info: info
    _provider: Provider | None = None
    _info: ModelInfo | None = None
    _stand_in: ModelInfo | None = None

    @property
    def provider(self) -> Provider:
        """The provider; raises ProviderError where none can be used."""
        if self._provider is None:
            self._provider, _ = self.choose()
        return self._provider

    @property
    def info(self) -> ModelInfo:
        """The model in use."""
        if self._info is None:
            self._info = self.named(self.wanted or self.provider.default_model)
        return self._stand_in or self._info

    @property
    def known(self) -> bool:
        """Whether it was made."""
        return self._info is not None

    @property
    def name(self) -> str:
        """The model's id; of one that can't be used, what it was asked for by, and empty without a provider."""
        try:
            return self.info.id
        except ProviderError:
            return self.wanted or ""

    def switch(self, name: str) -> ModelInfo:
        """Use another model."""
        self.wanted, self._info, self._stand_in = name, self.named(name), None
        return self._info

    def named(self, name: str) -> ModelInfo:
        """Return the model of a name, as it counts in this session."""
        return self.adjust(self.provider.model(name))

    def stand_in(self, model: ModelInfo | None) -> None:
        """Use another model without its being the one that is wanted; None ends that."""
        self._stand_in = model
