"""A remote worker that a test drives message by message, with signed requests."""

import secrets
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from foliot.domain.access.signature import SignedRequest, signature_of
from foliot.service.services import Services
from tests.interfaces.api.serving import Answer, Client


class Signer:
    """Signs requests as an enrolled worker does. Each argument of `headers` replaces what is signed by what is sent."""

    def __init__(self, worker_id: str, secret: str) -> None:
        self.worker_id = worker_id
        self.secret = secret

    def headers(
        self, path: str, body: bytes, *, method: str = "POST", query: str = "", ahead: int = 0, nonce: str = ""
    ) -> dict[str, str]:
        moment, chosen = int(time.time()) + ahead, nonce or secrets.token_hex(16)
        signed = SignedRequest(method, path, query, body, moment, chosen)
        return {
            "X-Foliot-Worker": self.worker_id,
            "X-Foliot-Timestamp": str(moment),
            "X-Foliot-Nonce": chosen,
            "X-Foliot-Signature": signature_of(signed, self.secret),
        }


class Remote:
    """A worker with a signer, or with other headers, such as those of a token."""

    def __init__(self, client: Client, signer: Signer | None = None, **headers: str) -> None:
        self._client = client
        self._signer = signer
        self._headers = headers
        self.worker = ""

    async def post(self, name: str, body: Mapping[str, Any] | None = None, **headers: str) -> Answer:
        """Send a message of the registered worker."""
        named = {"worker": self.worker} if self.worker and name != "register" else {}
        return await self.send(f"/api/workers/{name}", msgspec.json.encode({**named, **(body or {})}), **headers)

    async def send(self, path: str, content: bytes, **headers: str) -> Answer:
        whole = urlsplit(self._client.base).path + path
        signed = {} if self._signer is None else self._signer.headers(whole, content)
        return await self._client.send("POST", path, content, **{**signed, **self._headers, **headers})

    async def register(self, **fields: Any) -> "Remote":
        answer = await self.post("register", fields)
        assert answer.status == 201, answer.json
        self.worker = answer.json["worker"]
        return self

    async def lease(self, **fields: Any) -> dict[str, Any]:
        """Lease one run, and return it as the lease that further messages name."""
        answer = await self.post("lease", fields)
        assert answer.status == 200, answer.json
        [run] = answer.json["runs"]
        return {"run_id": run["run_id"], "token": run["token"]}


async def enrolled(services: Services, client: Client, name: str = "gpu-1", **fields: Any) -> Remote:
    view, secret = await services.enrolments.register(name, **fields)
    return Remote(client, Signer(view.id, secret))
