"""Where requests go and what goes with them: address, credential and headers, from the environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from toolpost import ProviderError

from .patience import Patience, milliseconds
from .patience import from_environment as patience

DEFAULT_URL: Final = "https://api.anthropic.com"
VERSION: Final = "2026-10-21"
TIMEOUT_MS: Final = 600_000
Credential: TypeAlias = Literal["key", "token", "other"]
BETA: Final = "anthropic-beta"
_SECRETS: Final[Mapping[str, Credential]] = {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_AUTH_TOKEN": "token"}
_FEDERATION: Final = ("ANTHROPIC_FEDERATION_RULE_ID", "ANTHROPIC_ORGANIZATION_ID")
_TOKENS: Final = ("ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_IDENTITY_TOKEN_FILE")


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An address of the Messages API. `timeout` is in seconds; `secret` is empty for a credential of kind "other"."""

    url: str
    credential: Credential
    secret: str = field(default="", repr=False)
    extra: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = TIMEOUT_MS / 1000
    patience: Patience = field(default_factory=Patience)
    plain: bool = False
    """Whether no TLS is spoken on the way, so that no certificates are needed."""

    def headers(self, betas: Sequence[str] = ()) -> dict[str, str]:
        """Return the headers of a request, credential and all."""
        # The API itself takes keys and tokens as a bearer's; of other addresses most know keys as x-api-key only.
        as_key = self.credential == "key" and self.url != DEFAULT_URL
        own = {"x-api-key": self.secret} if as_key else {"authorization": f"Bearer {self.secret}"}
        return {
            "content-type": "application/json",
            "accept-encoding": "identity",
            "anthropic-version": VERSION,
            "user-agent": "toolpost",
            **own,
            **self.more(betas),
        }

    def more(self, betas: Sequence[str] = ()) -> dict[str, str]:
        """Return the headers that go beside those of any client: the environment's, and betas that the request needs."""
        asked = [name.strip() for name in self.extra.get(BETA, "").split(",") if name.strip()]
        named = ",".join(dict.fromkeys((*asked, *betas)))
        return {**self.extra, BETA: named} if named else dict(self.extra)


def from_environment(env: Mapping[str, str], base_url: str | None = None) -> Endpoint:
    """Read the environment. Raises ProviderError where a variable can't be used."""
    url, said = (base_url, "base_url") if base_url else (env.get("ANTHROPIC_BASE_URL"), "ANTHROPIC_BASE_URL")
    url = _checked_url((url or "").strip() or DEFAULT_URL, said)
    source = credential_source(env)
    extra = _custom_headers(env.get("ANTHROPIC_CUSTOM_HEADERS", ""))
    if betas := env.get("ANTHROPIC_BETAS", "").strip():
        extra = {BETA: betas, **extra}
    return Endpoint(
        url=url,
        credential=_SECRETS.get(source, "other"),
        secret=_printable(env[source], source) if source in _SECRETS else "",
        extra=extra,
        timeout=milliseconds(env, "API_TIMEOUT_MS", TIMEOUT_MS),
        patience=patience(env),
        plain=url.startswith("http://") and not any(name.lower().endswith("_proxy") for name in env),
    )


def credential_source(env: Mapping[str, str], *, keys_only: bool = False) -> str:
    """Name the variable that the credential comes from, in the order of the official client; "none" without one."""
    names = list(_SECRETS)
    if not keys_only:
        names.append("ANTHROPIC_PROFILE")
        if all(env.get(name, "").strip() for name in _FEDERATION):
            names += _TOKENS
    return next((name for name in names if env.get(name, "").strip()), "none")


def _checked_url(url: str, said: str) -> str:
    wrong = ProviderError(
        f"{said} is {url!r}, which is no address. It must begin with http:// or https:// and name a host, "
        f"such as {DEFAULT_URL}.",
        kind="invalid_request",
    )
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise wrong from None
    if not usable or not _is_header_text(url) or " " in url:
        raise wrong
    return url.rstrip("/")


def _custom_headers(text: str) -> Mapping[str, str]:
    headers = {}
    for line in filter(str.strip, text.splitlines()):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not name or not _is_header_text(name + value) or " " in name:
            raise ProviderError(
                f"ANTHROPIC_CUSTOM_HEADERS has a line that is no header: {name!r}. Write one 'Name: value' a line.",
                kind="invalid_request",
            )
        headers[name.lower()] = value
    return headers


def _printable(secret: str, source: str) -> str:
    secret = secret.strip()
    if not _is_header_text(secret):
        raise ProviderError(
            f"{source} holds characters that no key has, such as a line break. Set it again.",
            kind="authentication_failed",
        )
    return secret


def _is_header_text(text: str) -> bool:
    return text.isascii() and text.isprintable()
