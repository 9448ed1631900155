"""Progress of attempts is collected in memory and saved at most once a second."""

import asyncio
from collections.abc import Callable, Sequence
from threading import Thread
from typing import cast

import pytest

from foliot.domain.ids import RunId, Token
from foliot.domain.instant import SECOND
from foliot.domain.run.outcome import Failure, Reason
from foliot.domain.run.progress import ProgressReport, RunProgress, SavedProgress
from foliot.engine.loop import Loop
from foliot.engine.worker.attempt import Ending
from foliot.engine.worker.progress import ProgressCollector
from foliot.errors import InvalidInput
from foliot.ports.storage import Storage
from foliot.ports.work import Work
from foliot.testing.builders import a_claim
from foliot.testing.clock import VirtualClock
from tests.engine.ease import ease
from tests.engine.rig import Rig


class Store:
    """A work port that keeps reports, and can be unavailable."""

    def __init__(self) -> None:
        self.saves: list[list[tuple[RunId, float]]] = []
        self.is_away = False
        self.during_save: Callable[[], None] = lambda: None

    async def save_progress(self, reports: Sequence[ProgressReport]) -> list[Token]:
        self.during_save()
        if self.is_away:
            raise OSError("away")
        self.saves.append([(report.run_id, report.fraction) for report in reports])
        return []


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def collector(store: Store, clock: VirtualClock) -> ProgressCollector:
    return ProgressCollector(cast(Work, store), clock)


async def test_nothing_is_saved_without_a_report(collector: ProgressCollector, store: Store) -> None:
    collector.open(a_claim())

    assert await collector.round() is None
    assert store.saves == []


async def test_the_latest_report_of_each_run_is_saved_with_one_call(collector: ProgressCollector, store: Store) -> None:
    first, second = a_claim(), a_claim()
    one, other = collector.open(first), collector.open(second)
    for step in range(10):
        one.report(RunProgress(step / 10))
    other.report(RunProgress(0.5))

    assert await collector.round() is None
    assert store.saves == [[(first.run_id, 0.9), (second.run_id, 0.5)]]


async def test_a_thousand_reports_a_second_make_one_save_a_second(
    collector: ProgressCollector, store: Store, clock: VirtualClock
) -> None:
    claim = a_claim()
    progress = collector.open(claim)
    running = asyncio.create_task(Loop(collector, clock).run())
    for step in range(3_000):
        progress.report(RunProgress(step / 3_000))
        clock.advance(1)
        await ease() if step % 100 == 0 else await asyncio.sleep(0)
    clock.advance(SECOND)
    await ease()

    assert len(store.saves) in (3, 4, 5)
    assert store.saves[-1] == [(claim.run_id, 2_999 / 3_000)]
    running.cancel()


async def test_a_report_during_a_save_is_saved_with_the_next(
    collector: ProgressCollector, store: Store, clock: VirtualClock
) -> None:
    claim = a_claim()
    progress = collector.open(claim)
    progress.report(RunProgress(0.1))
    store.during_save = lambda: progress.report(RunProgress(0.2))

    assert await collector.round() == SECOND
    store.during_save = lambda: None
    clock.advance(SECOND)
    await collector.round()

    assert store.saves == [[(claim.run_id, 0.1)], [(claim.run_id, 0.2)]]


async def test_a_report_that_could_not_be_saved_is_saved_later(
    collector: ProgressCollector, store: Store, clock: VirtualClock
) -> None:
    claim = a_claim()
    collector.open(claim).report(RunProgress(0.1))
    store.is_away = True
    with pytest.raises(OSError, match="away"):
        await collector.round()
    store.is_away = False
    clock.advance(SECOND)

    await collector.round()

    assert store.saves == [[(claim.run_id, 0.1)]]


async def test_reports_of_another_thread_are_saved(collector: ProgressCollector, store: Store) -> None:
    claim = a_claim()
    progress = collector.open(claim)

    def report_often() -> None:
        for step in range(100):
            progress.report(RunProgress(step / 100))

    thread = Thread(target=report_often)
    thread.start()
    await asyncio.to_thread(thread.join)

    assert collector.wake.is_set()
    await collector.round()

    assert store.saves == [[(claim.run_id, 0.99)]]


async def test_an_ended_attempt_reports_nothing(collector: ProgressCollector, store: Store) -> None:
    progress = collector.open(a_claim())
    progress.report(RunProgress(0.1))
    progress.close()
    progress.report(RunProgress(0.2))

    assert await collector.round() is None
    assert store.saves == []


async def test_a_request_of_a_job_is_checked(collector: ProgressCollector) -> None:
    progress = collector.open(a_claim())

    assert await progress.handle({"fraction": 0.5, "text": "half"}) == {}
    with pytest.raises(InvalidInput, match="not between 0 and 1"):
        await progress.handle({"fraction": 2})

    assert progress.latest == RunProgress(0.5, "half")


# -- attempts


@pytest.fixture
def rig(storage: Storage, clock: VirtualClock) -> Rig:
    return Rig(storage, clock)


async def test_the_progress_of_a_running_attempt_is_stored_until_it_ends(rig: Rig) -> None:
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await rig.claim()
    rig.stage.attempts[0].report(RunProgress(0.4, "page 12"))

    await rig.worker.progress.round()
    assert (await rig.run(run_id)).progress == SavedProgress(0.4, "page 12", rig.clock.now())
    rig.stage.end(run_id)
    await ease()
    await rig.save()

    assert (await rig.run(run_id)).progress is None
    assert await rig.storage.queries.read_log(run_id) == []


async def test_the_log_of_a_failed_attempt_has_its_last_progress(rig: Rig) -> None:
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await rig.claim()
    rig.stage.attempts[0].report(RunProgress(0.4, "page 12"))

    rig.stage.end(run_id, Failure("exit code 1", Reason.EXIT_CODE, exit_code=1))
    await ease()
    await rig.save()

    lines = [(chunk.stream, chunk.data) for chunk in await rig.storage.queries.read_log(run_id)]
    assert lines == [("meta", b"last progress: 40%, page 12\n"), ("meta", b"end of log: complete\n")]


async def test_an_attempt_that_lost_its_lease_logs_no_progress(rig: Rig) -> None:
    rig.stage.answer = None
    run_id = await rig.enqueue()
    await rig.claim()
    rig.stage.attempts[0].report(RunProgress(0.4))

    rig.consumer.end(list(rig.consumer.held), Ending.LEASE_LOST)
    await ease()
    await rig.save()

    assert await rig.storage.queries.read_log(run_id) == []
