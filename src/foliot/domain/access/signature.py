"""Signed requests of remote workers.

    FOLIOT-HMAC-SHA256
    POST
    /api/workers/lease
    (the query, as it was sent, without the question mark)
    (the SHA-256 of the body, as hexadecimal digits)
    1767225600
    b1c2d3e4f5a69788

A signature is the HMAC-SHA256 of these seven lines, joined with line breaks, with the text of the secret as the key. A
request is accepted once: within `MAX_SKEW` of the clock of the server, and with a nonce that was not used before.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from foliot.domain.instant import MINUTE, SECOND, Instant, Millis

ALGORITHM: Final = "FOLIOT-HMAC-SHA256"
WORKER_HEADER: Final = "X-Foliot-Worker"
TIMESTAMP_HEADER: Final = "X-Foliot-Timestamp"
NONCE_HEADER: Final = "X-Foliot-Nonce"
SIGNATURE_HEADER: Final = "X-Foliot-Signature"
MAX_SKEW: Final = Millis(5 * MINUTE)
"""How far the timestamp of a request may differ from the clock of the server."""
_NONCE: Final = re.compile(r"[A-Za-z0-9_-]{16,64}")
_SECONDS: Final = re.compile(r"[0-9]{1,12}")


class SignedRequest(NamedTuple):
    """What a signature covers."""

    method: str
    path: str
    """The whole path, with the base path of the server."""
    query: str
    body: bytes
    timestamp: int
    """Seconds since 1970."""
    nonce: str


class SignatureHeaders(NamedTuple):
    """The headers of a signed request."""

    worker: str
    timestamp: int
    nonce: str
    signature: str


def read_signature_headers(headers: Mapping[str, str]) -> SignatureHeaders | None:
    """Return the headers of a signed request. None: one is missing, or has another form."""
    worker, timestamp, nonce = (headers.get(name, "") for name in (WORKER_HEADER, TIMESTAMP_HEADER, NONCE_HEADER))
    if not (worker and _SECONDS.fullmatch(timestamp) and _NONCE.fullmatch(nonce)):
        return None
    return SignatureHeaders(worker, int(timestamp), nonce, headers.get(SIGNATURE_HEADER, ""))


def signature_of(request: SignedRequest, secret: str) -> str:
    """Return the signature as hexadecimal digits."""
    digest = hashlib.sha256(request.body).hexdigest()
    lines = (ALGORITHM, request.method, request.path, request.query, digest, str(request.timestamp), request.nonce)
    return hmac.new(secret.encode(), "\n".join(lines).encode(), hashlib.sha256).hexdigest()


def is_signature(given: str, request: SignedRequest, secret: str) -> bool:
    return hmac.compare_digest(given.encode(), signature_of(request, secret).encode())


def skew_problem(timestamp: int, now: Instant) -> str | None:
    """Return why a timestamp is refused, or None."""
    ahead = timestamp - now // SECOND
    if abs(ahead) * SECOND <= MAX_SKEW:
        return None
    return f"your clock is {abs(ahead)} s {'ahead of' if ahead > 0 else 'behind'} the server's"


def nonce_expiry(timestamp: int) -> Instant:
    """Return the moment from which a request with this timestamp is refused for its timestamp."""
    return Instant(timestamp * SECOND + MAX_SKEW + SECOND)
