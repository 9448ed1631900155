"""The event loop of a node: that of asyncio, or that of uvloop, which needs less processor time."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

from foliot.config.settings import EventLoop
from foliot.errors import DriverMissing
from foliot.interfaces.cli.server.signals import EarlyStop

log = logging.getLogger("foliot")

_HINT: Final = "Code of a job raised it in a task of its own. To stop the server, send it SIGTERM."


def run_on(choice: EventLoop, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `main` to its end, also if code of a job stops the loop.

    The function of a job may start tasks of its own. If one of these calls `sys.exit` or `loop.stop`, asyncio ends the
    loop; the loop is started again, so that all other runs continue.
    """
    with asyncio.Runner(loop_factory=loop_factory(choice)) as runner:
        loop = runner.get_loop()
        task = loop.create_task(main())
        task.add_done_callback(_stop_loop)
        while not task.done():
            _run_once(loop, task)
        task.result()


def _run_once(loop: asyncio.AbstractEventLoop, main: asyncio.Task[None]) -> None:
    """Run until the loop is stopped, by `main` or by other code."""
    try:
        loop.run_forever()
    except EarlyStop:
        raise
    except (SystemExit, KeyboardInterrupt) as error:
        if not main.done():
            log.error("exit_ignored", extra={"error": repr(error), "hint": _HINT})


def _stop_loop(main: asyncio.Task[None]) -> None:
    """Stop the loop, unless `main` raised an exit: that stops it already, and a second stop would end the clean-up."""
    if main.cancelled() or not isinstance(main.exception(), (SystemExit, KeyboardInterrupt)):
        main.get_loop().stop()


def loop_factory(choice: EventLoop) -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return the factory of the loop, None for asyncio. `auto` uses uvloop if it is installed."""
    if choice == "asyncio":
        return None
    try:
        import uvloop
    except ImportError:
        if choice == "auto":
            return None
        raise DriverMissing('loop = "uvloop"', "uvloop", "uvloop") from None
    return uvloop.new_event_loop
