"""The client of the run channel by HTTP, for processes that cannot reach the socket of their worker."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from foliot.channel.protocol import HTTP_PATH, MAX_ANSWER, URL_VARIABLE
from foliot.errors import ChannelRefused, ChannelUnavailable, InvalidInput

_INVALID = 422


class HttpChannelClient:
    """Sends requests to the server, each with a connection of its own."""

    def __init__(self, url: str, token: str, *, timeout: float) -> None:
        self._url = url.rstrip("/") + HTTP_PATH
        self._token = token
        self._timeout = timeout

    def ask(self, kind: str, **fields: object) -> Mapping[str, Any]:
        """Send a request and return the answer. Raises InvalidInput, ChannelRefused or ChannelUnavailable."""
        if not self._url.startswith(("http://", "https://")):
            raise _unavailable("its address is not an http URL")
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._token}"}
        body = json.dumps({"type": kind, **fields}, allow_nan=False).encode()
        try:
            with urlopen(Request(self._url, body, headers), timeout=self._timeout) as answer:  # noqa: S310 - checked
                return _read(answer.read(MAX_ANSWER))
        except HTTPError as error:
            raise _refused(error.code, error.read(MAX_ANSWER)) from None
        except URLError as error:
            raise _unavailable(str(error.reason)) from None
        except OSError as error:
            raise _unavailable(error.strerror or str(error)) from None

    def close(self) -> None:
        """Does nothing: no connection is kept."""


def _read(content: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise _unavailable("the answer is not JSON")
    return found


def _refused(status: int, content: bytes) -> Exception:
    try:
        error = _read(content)["error"]
        message, hint = str(error["message"]), str(error["hint"])
    except (ChannelUnavailable, KeyError, TypeError):
        return _unavailable(f"it answered {status}")
    return InvalidInput(message, hint=hint) if status == _INVALID else ChannelRefused(message, hint=hint)


def _unavailable(why: str) -> ChannelUnavailable:
    return ChannelUnavailable(
        f"could not reach the server of this run: {why.lower()}",
        hint=f"Has the run ended? Otherwise make the address in {URL_VARIABLE} reachable for this process.",
    )
