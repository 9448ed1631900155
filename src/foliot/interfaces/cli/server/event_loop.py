"""The event loop a node runs on: asyncio's own, or uvloop's, which does the same with less processor time."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

from foliot.config.settings import EventLoop
from foliot.errors import DriverMissing
from foliot.interfaces.cli.server.signals import EarlyStop

log = logging.getLogger("foliot")

_HINT: Final = "A job raised it in a task of its own. To end the server, send it SIGTERM."


def run_on(choice: EventLoop, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run it to its end, whatever else happens on its loop.

    The function of a job may start tasks of its own. Where one of these calls `sys.exit`, asyncio ends the loop; where
    one calls `loop.stop`, it was told to. Neither is a reason to leave all other runs alone.
    """
    with asyncio.Runner(loop_factory=loop_factory(choice)) as runner:
        loop = runner.get_loop()
        task = loop.create_task(main())
        task.add_done_callback(_stop_loop)
        while not task.done():
            _run_until_it_ends(loop, task)
        task.result()


def _run_until_it_ends(loop: asyncio.AbstractEventLoop, main: asyncio.Task[None]) -> None:
    """Run until somebody ends the loop."""
    try:
        loop.run_forever()
    except EarlyStop:
        raise
    except (SystemExit, KeyboardInterrupt) as error:
        if not main.done():
            log.error("exit_ignored", extra={"error": repr(error), "hint": _HINT})


def _stop_loop(main: asyncio.Task[None]) -> None:
    """Where it ended the loop itself, a second stop would hit whoever runs the loop next, to clean up."""
    if main.cancelled() or not isinstance(main.exception(), (SystemExit, KeyboardInterrupt)):
        main.get_loop().stop()


def loop_factory(choice: EventLoop) -> Callable[[], asyncio.AbstractEventLoop] | None:
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
