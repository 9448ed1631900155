"""The event loop of a node, and signals before it starts."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from foliot.config.settings import EventLoop
from foliot.errors import DriverMissing
from foliot.interfaces.cli.server.event_loop import loop_factory, run_on
from foliot.interfaces.cli.server.signals import EARLY, EarlySignals


@pytest.mark.parametrize(("choice", "kind"), [("auto", uvloop.Loop), ("uvloop", uvloop.Loop)])
def test_auto_uses_uvloop_if_it_is_installed(choice: EventLoop, kind: type) -> None:
    seen: list[asyncio.AbstractEventLoop] = []

    async def look() -> None:
        seen.append(asyncio.get_running_loop())

    run_on(choice, look)

    assert isinstance(seen[0], kind)


async def _exit() -> None:
    sys.exit(3)


async def _interrupt() -> None:
    raise KeyboardInterrupt


async def _stop_the_loop() -> None:
    asyncio.get_running_loop().stop()


@pytest.mark.parametrize("choice", ["asyncio", "uvloop"])
@pytest.mark.parametrize("nuisance", [_exit, _interrupt, _stop_the_loop])
def test_a_task_of_a_job_that_stops_the_loop_does_not_end_the_node(
    choice: EventLoop, nuisance: Callable[[], Coroutine[Any, Any, None]], caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    async def main() -> None:
        task = asyncio.create_task(nuisance())
        await asyncio.wait([task])
        await asyncio.sleep(0)
        seen.append("went on")
        task.cancelled() or task.exception()

    run_on(choice, main)

    assert seen == ["went on"]
    assert [record.message for record in caplog.records] == ([] if nuisance is _stop_the_loop else ["exit_ignored"])


@pytest.mark.parametrize("choice", ["asyncio", "uvloop"])
def test_an_exception_of_the_node_is_raised_after_other_tasks_have_cleaned_up(choice: EventLoop) -> None:
    cleaned: list[str] = []

    async def other() -> None:
        try:
            await asyncio.sleep(600)
        finally:
            await asyncio.sleep(0.01)
            cleaned.append("up")

    async def main() -> None:
        task = asyncio.create_task(other())
        await asyncio.sleep(0)
        assert not task.done()
        sys.exit(3)

    with pytest.raises(SystemExit) as left:
        run_on(choice, main)

    assert (left.value.code, cleaned) == (3, ["up"])


def test_an_early_signal_to_stop_ends_the_process() -> None:
    async def main() -> None:
        asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGTERM)
        await asyncio.sleep(600)

    with EARLY.held(), pytest.raises(SystemExit) as left:
        run_on("asyncio", main)

    assert left.value.code == 0


def test_an_early_reload_request_is_taken_once() -> None:
    early = EarlySignals()

    with early.held():
        signal.raise_signal(signal.SIGHUP)

    assert (early.take_reload(), early.take_reload()) == (True, False)


def test_former_signal_handlers_are_restored() -> None:
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]

    with EarlySignals().held():
        pass

    assert [signal.getsignal(number) for number in numbers] == before


def test_loop_asyncio_uses_asyncio() -> None:
    assert loop_factory("asyncio") is None


@pytest.fixture
def without_uvloop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)


@pytest.mark.usefixtures("without_uvloop")
def test_auto_uses_asyncio_without_uvloop() -> None:
    assert loop_factory("auto") is None


@pytest.mark.usefixtures("without_uvloop")
def test_loop_uvloop_without_uvloop_is_refused_with_a_hint() -> None:
    with pytest.raises(DriverMissing) as refused:
        loop_factory("uvloop")

    assert refused.value.hint == "Install it with: pip install 'foliot[uvloop]'"
