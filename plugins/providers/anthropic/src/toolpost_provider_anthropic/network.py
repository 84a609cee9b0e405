"""From a failure of the network to a ProviderError that a reader can act on."""

from __future__ import annotations

from toolpost import ProviderError


def from_transport(error: Exception, url: str) -> ProviderError:
    """Explain an httpx2 error."""
    import httpx2

    reason = str(error) or type(error).__name__
    if isinstance(error, httpx2.ConnectTimeout):
        return ProviderError(f"{url} did not take the connection in time.", kind="timeout", retriable=True)
    if isinstance(error, httpx2.TimeoutException):
        return ProviderError(
            f"{url} sent nothing for too long ({reason}). API_TIMEOUT_MS sets how long to wait.",
            kind="timeout",
            retriable=True,
        )
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        # A certificate is not better the next time.
        return ProviderError(
            f"No connection to {url}: {reason}. Check the network, ANTHROPIC_BASE_URL and the proxy variables.",
            kind="connection",
            retriable="CERTIFICATE_VERIFY_FAILED" not in reason,
        )
    return ProviderError(f"The connection to {url} broke off: {reason}.", kind="connection", retriable=True)
