"""Requests of functions in this process to their chain: `current_run().chain`."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import wait
from threading import get_ident
from typing import Any, Final

from foliot.adapters.runners.function_output import Home
from foliot.domain.chain.message import ChainRequest
from foliot.errors import WrongLoop
from foliot.ports.runner import AskChain

_LOOK_EVERY: Final = 1.0
"""Seconds between two checks that the loop of the worker is still open."""


def ask_and_wait(home: Home, ask: AskChain, request: ChainRequest) -> Mapping[str, Any]:
    """Ask from a thread of a function, and wait for the answer. `home`: the event loop of the worker."""
    loop, thread = home
    if get_ident() == thread:
        raise WrongLoop(
            "current_run().chain would block the event loop of the worker",
            hint="In a coroutine function write: await current_run().async_chain.close()",
        )
    future = asyncio.run_coroutine_threadsafe(ask(request), loop)
    while not wait([future], _LOOK_EVERY).done:
        if loop.is_closed():
            raise WrongLoop("the worker was stopped", hint="The run is given back and starts again.")
    return future.result()
