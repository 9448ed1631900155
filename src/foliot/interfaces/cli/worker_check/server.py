"""Sends the requests of `foliot worker-check`: messages of a worker, and requests of the person who checks."""

import json
import secrets
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from foliot.domain.access.signature import (
    NONCE_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    WORKER_HEADER,
    SignedRequest,
    signature_of,
)
from foliot.domain.work.message import PROTOCOL, PROTOCOL_HEADER
from foliot.errors import InvalidInput, ServerUnavailable

_TIMEOUT: Final = 40


class Answered(NamedTuple):
    status: int
    body: Any

    @property
    def code(self) -> str:
        return str(self.body["error"]["code"]) if isinstance(self.body, dict) and "error" in self.body else ""

    def __str__(self) -> str:
        return f"{self.status} {self.code}".rstrip()


class CheckedServer:
    """The server to check. `worker_id` and `secret` sign messages; `token` is that of a person, or of a worker."""

    def __init__(self, url: str, *, worker_id: str, secret: str, token: str, worker_token: str) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise InvalidInput(
                "the address of the server is not a URL", hint="Write http://127.0.0.1:7070.", field="url"
            )
        self._url = url.rstrip("/")
        self._worker_id = worker_id
        self._secret = secret
        self._token = token
        self._worker_token = worker_token

    @property
    def signs(self) -> bool:
        """Whether messages are signed."""
        return bool(self._secret)

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Answered:
        """Send a request of the person."""
        return self._send(method, path, json.dumps(body or {}).encode(), _bearer(self._token))

    def post(self, name: str, message: Mapping[str, Any], **headers: str) -> Answered:
        """Send a message of the worker."""
        body = json.dumps(message).encode()
        return self.send_signed(name, body, {**self.credentials(name, body), **headers})

    def send_signed(self, name: str, body: bytes, headers: Mapping[str, str]) -> Answered:
        return self._send("POST", f"/api/workers/{name}", body, headers)

    def credentials(self, name: str, body: bytes, *, ahead: int = 0) -> dict[str, str]:
        """Return the headers that prove who sends a message. `ahead`: seconds by which the clock is wrong."""
        if not self._secret:
            return _bearer(self._worker_token)
        moment, nonce = int(time.time()) + ahead, secrets.token_hex(16)
        path = f"{urlsplit(self._url).path}/api/workers/{name}"
        signature = signature_of(SignedRequest("POST", path, "", body, moment, nonce), self._secret)
        facts = {WORKER_HEADER: self._worker_id, TIMESTAMP_HEADER: str(moment), NONCE_HEADER: nonce}
        return {**facts, SIGNATURE_HEADER: signature}

    def _send(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answered:
        sent = {"Content-Type": "application/json", PROTOCOL_HEADER: str(PROTOCOL), **headers}
        # The scheme was checked: it is http or https.
        request = Request(self._url + path, body, sent, method=method)  # noqa: S310
        try:
            answer: Any = urlopen(request, timeout=_TIMEOUT)  # noqa: S310
        except HTTPError as error:
            answer = error
        except (URLError, OSError) as error:
            fact = str(getattr(error, "reason", error))[:200]
            raise ServerUnavailable(f"the server could not be reached: {fact}", hint="Check the address.") from None
        with answer:
            content = answer.read()
        try:
            return Answered(answer.status, json.loads(content) if content else None)
        except ValueError:
            return Answered(answer.status, None)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}
