"""The runner: posts the event, and reads the answer (compat.md 2.3)."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from toolpost import HookAnswer, HookJob, HookRunner, SessionScope

from .request import Call, RequestError, call_of

if TYPE_CHECKING:
    import httpx2

MOST_REDIRECTS = 5


class HttpRunner(HookRunner):
    """Posts the event's JSON to the hook's URL; the body of the answer is the hook's output.

    `max_output` is in bytes: a longer answer is a failure.
    """

    type: ClassVar[str] = "http"

    max_output: int = 1_000_000

    async def run(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        """Send the request within the hook's time; redirects are followed on the same host only."""
        import httpx2

        began = time.monotonic()
        try:
            call = call_of(job, scope)
            async with asyncio.timeout(job.timeout):
                answer = await self._sent(call, job)
        except TimeoutError:
            answer = HookAnswer(status="timed_out", reason=f"no answer after {job.timeout:g} s")
        except RequestError as error:
            answer = HookAnswer(status="failed", reason=str(error))
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            reason = f"{job.handler.get('url')} could not be reached: {error or type(error).__name__}"
            answer = HookAnswer(status="failed", reason=reason)
        return replace(answer, duration=time.monotonic() - began)

    async def _sent(self, call: Call, job: HookJob) -> HookAnswer:
        import httpx2

        body = json.dumps(job.payload, ensure_ascii=False).encode("utf-8", "replace")
        url = httpx2.URL(call.url)
        # What the environment says of proxies counts, as it does for the hooks of type command.
        async with httpx2.AsyncClient(follow_redirects=False, timeout=None) as client:
            for _ in range(MOST_REDIRECTS + 1):
                async with client.stream("POST", url, content=body, headers=call.headers) as response:
                    if not response.has_redirect_location:
                        return _answer(response.status_code, await self._body(response))
                    url = _next(url, response, call)
        raise RequestError(f"{call.url} redirects more than {MOST_REDIRECTS} times")

    async def _body(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > self.max_output:
                raise RequestError(f"{response.url} answered with more than {self.max_output:,} bytes")
        return bytes(body)


def _next(url: httpx2.URL, response: httpx2.Response, call: Call) -> httpx2.URL:
    """Return where a redirect leads. The event and the headers, which may hold secrets, go to no other host."""
    target = url.join(response.headers["location"])
    if (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port):
        raise RequestError(f"{call.url} redirects to {target}, which is another host; name that URL in the hook")
    if response.status_code not in (307, 308):
        raise RequestError(f"{call.url} answered {response.status_code}, which would drop the event on the way")
    if not call.allows(str(target)):
        raise RequestError(f"{call.url} redirects to {target}, which allowedHttpHookUrls does not list")
    return target


def _answer(status: int, body: bytes) -> HookAnswer:
    text = body.decode("utf-8", "replace").strip()
    if not 200 <= status < 300:
        return HookAnswer(status="failed", reason=f"it answered with status {status}: {text[:200]}")
    if not text:
        return HookAnswer(status="ok")
    try:
        output: Any = json.loads(text)
    except (ValueError, RecursionError):
        output = None
    if not isinstance(output, dict):
        return HookAnswer(status="failed", reason=f"its answer is no JSON object: {text[:200]!r}")
    if output.get("decision") == "block":
        return HookAnswer(status="blocked", reason=str(output.get("reason") or "it gave no reason"), output=output)
    return HookAnswer(status="ok", output=output)
