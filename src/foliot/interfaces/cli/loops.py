"""The event loop a node runs on: asyncio's own, or uvloop's, which does the same with less processor time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from foliot.config.settings import EventLoop
from foliot.errors import DriverMissing


def run_on(choice: EventLoop, main: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=factory_of(choice)) as runner:
        runner.run(main)


def factory_of(choice: EventLoop) -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes the loop; None is asyncio. `auto` takes uvloop where it is installed."""
    if choice == "asyncio":
        return None
    try:
        import uvloop
    except ImportError:
        if choice == "auto":
            return None
        raise DriverMissing('loop = "uvloop"', "uvloop", "uvloop") from None
    return uvloop.new_event_loop
