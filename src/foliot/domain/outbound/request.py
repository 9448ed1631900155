"""An HTTP request, and the request that follows from a redirect."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from foliot.domain.outbound.url import Url

MAX_REDIRECTS: Final = 5
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

_HARMLESS: Final = frozenset({"accept", "accept-encoding", "accept-language", "content-type", "content-language"})
_SET_BY_FOLIOT: Final = frozenset({"user-agent", "idempotency-key", "foliot-run-id", "foliot-attempt"})


@dataclass(frozen=True, slots=True)
class Request:
    """A request to send."""

    method: str
    url: Url
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


def defaulted(headers: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    """Return the headers, with defaults for those that are not given."""
    given = {name.lower() for name in headers}
    return {name: value for name, value in defaults.items() if name.lower() not in given} | dict(headers)


def redirected(request: Request, status: int, url: Url) -> Request:
    """Return the request that follows from a redirect with this status to `url`.

    Another origin gets only headers that are known to contain no secrets. Headers that were removed stay removed in
    further redirects. Credentials in the new URL are not used, since they do not come from the job.
    """
    following = replace(request, url=replace(url, credentials=None))
    if url.origin != request.url.origin:
        following = replace(following, headers=_only(request.headers, _HARMLESS | _SET_BY_FOLIOT))
    elif request.url.credentials is not None:
        following = replace(following, url=replace(url, credentials=request.url.credentials))
    return _as_get(following) if _becomes_get(request.method, status) else following


def _becomes_get(method: str, status: int) -> bool:
    """Return whether a redirect changes the method to GET: 303 does, and by convention 301 and 302 do for a POST."""
    return (status == 303 and method not in ("GET", "HEAD")) or (status in (301, 302) and method == "POST")


def _as_get(request: Request) -> Request:
    kept = {name: value for name, value in request.headers.items() if not name.lower().startswith("content-")}
    return replace(request, method="GET", headers=kept, body=None)


def _only(headers: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() in names}
