"""Requests to the chain of this run: `foliot chain`, and `current_run().chain` in isolated functions."""

import os
from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final

import msgspec

from foliot.channel.client import from_environment
from foliot.domain.chain.message import ChainRequest
from foliot.errors import ChannelUnavailable

_TIMEOUT: Final = 60.0
"""Seconds. The worker asks the database, which may be busy."""


def ask_chain(request: ChainRequest, environ: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    """Send a request to the worker of this run and return the answer: facts, or a refusal with its `code`."""
    client = from_environment(os.environ if environ is None else environ, timeout=_TIMEOUT)
    with closing(client):
        answer = client.ask("chain", request=msgspec.to_builtins(request)).get("answer")
    if not isinstance(answer, dict):
        raise ChannelUnavailable("the answer of the worker has no facts", hint="Is the worker of another version?")
    return answer
