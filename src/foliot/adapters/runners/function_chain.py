"""Requests of functions in this process to their chain: `current_run().chain`."""

import asyncio
from collections.abc import Coroutine, Mapping
from concurrent.futures import wait
from threading import get_ident
from typing import Any, Final

from foliot.adapters.runners.function_output import Home
from foliot.domain.chain.message import ChainRequest
from foliot.errors import WrongLoop
from foliot.ports.runner import AskChain

_LOOK_EVERY: Final = 1.0
"""Seconds between two checks that the loop of the worker is still open."""


class FunctionChain:
    """Asks from a thread of a function, and waits for the answer."""

    def __init__(self, ask: AskChain, home: Home) -> None:
        self._ask = ask
        self._loop, self._thread = home

    def __call__(self, request: ChainRequest) -> Mapping[str, Any]:
        if get_ident() == self._thread:
            raise WrongLoop(
                "current_run().chain would block the event loop of the worker",
                hint="In a coroutine function write: await current_run().async_chain.close()",
            )
        asking: Coroutine[Any, Any, Mapping[str, Any]] = self._ask(request)
        future = asyncio.run_coroutine_threadsafe(asking, self._loop)
        while not wait([future], _LOOK_EVERY).done:
            if self._loop.is_closed():
                raise WrongLoop("the worker was stopped", hint="The run is given back and starts again.")
        return future.result()
