"""The promises of a storage about lists of ticks, and of runs by kind and age."""

from foliot.domain.ids import RunId, ScheduleId, first_id_at
from foliot.domain.instant import MINUTE, SECOND, Instant, later
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.schedule.tick import TickOutcome
from foliot.domain.tree.run_kind import RunKind
from foliot.ports.pages import RunFilter, RunListFilter
from foliot.ports.ticks import LedgerDetails, LedgerFilter, TickFilter, TickPage
from foliot.testing.builders import NIGHTLY, REPORT, a_run, every, failed, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import child_of, opened

OTHER = ScheduleId("other")


async def page_of(scene: Scene, **fields: object) -> TickPage:
    page = await scene.storage.queries.tick_page(TickFilter(**fields))  # type: ignore[arg-type]
    assert page is not None
    return page


def rows(page: TickPage) -> list[tuple[str, int, str]]:
    """Return the schedule, the count and the outcome of each row."""
    return [(tick.schedule_id, tick.row.record.count, tick.row.record.outcome) for tick in page.ticks]


def moments(page: TickPage) -> list[Instant]:
    return [tick.row.record.scheduled_for for tick in page.ticks]


class TickPageContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_the_newest_ticks_come_first_with_their_runs(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.ALLOW))
        created = [run_id for _ in range(3) for run_id in await scene.fire_after(MINUTE)]

        page = await page_of(scene, name=NIGHTLY, limit=2)

        assert [tick.row.record.run_id for tick in page.ticks] == created[:0:-1]
        assert {run_id: run.status for run_id, run in page.runs.items()} == dict.fromkeys(created[1:], Status.QUEUED)

    async def test_a_range_is_one_row(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60))
        await scene.fire_after(10 * MINUTE + 30 * SECOND)
        await scene.fire_after(30 * SECOND)

        assert rows(await page_of(scene, name=NIGHTLY)) == [(NIGHTLY, 1, "ran"), (NIGHTLY, 10, "missed")]
        inside = later(schedule.created_at, 5 * MINUTE)
        assert rows(await page_of(scene, name=NIGHTLY, since=inside, until=inside)) == [(NIGHTLY, 10, "missed")]

    async def test_ticks_are_listed_by_job_by_schedule_and_of_all(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.ALLOW))
        await scene.schedule(every(120, overlap=Overlap.ALLOW, job_id="job2"), schedule_id=OTHER)
        for _ in range(2):
            await scene.fire_after(MINUTE)

        night, other = (NIGHTLY, 1, "ran"), (OTHER, 1, "ran")
        assert rows(await page_of(scene)) == [night, other, night]
        assert rows(await page_of(scene, limit=1)) == [night]
        assert rows(await page_of(scene, name="job2")) == [other]
        assert rows(await page_of(scene, name=OTHER)) == [other]
        assert rows(await page_of(scene, name=REPORT)) == [night, night]

    async def test_a_name_without_job_and_schedule_has_no_page(self, scene: Scene) -> None:
        await scene.job()

        assert await scene.storage.queries.tick_page(TickFilter(name="neither")) is None
        assert rows(await page_of(scene, name=REPORT)) == []

    async def test_ticks_are_filtered_by_time(self, scene: Scene) -> None:
        schedule = await scene.schedule(every(60, overlap=Overlap.ALLOW))
        for _ in range(6):
            await scene.fire_after(MINUTE)
        planned = [later(schedule.created_at, number * MINUTE) for number in range(1, 7)]

        page = await page_of(scene, name=NIGHTLY, since=planned[1], until=planned[3])
        between = await page_of(scene, name=NIGHTLY, since=later(planned[1], SECOND), until=later(planned[2], SECOND))

        assert moments(page) == planned[3:0:-1]
        assert moments(between) == [planned[2]]

    async def test_ticks_are_filtered_by_outcome(self, scene: Scene) -> None:
        await scene.schedule(every(60))
        await scene.schedule(every(60, overlap=Overlap.ALLOW), schedule_id=OTHER)
        await scene.fire_after(3 * MINUTE + 30 * SECOND)
        for span in (30 * SECOND, MINUTE, MINUTE):
            await scene.fire_after(span)

        async def found(*outcomes: TickOutcome) -> list[tuple[str, int, str]]:
            return rows(await page_of(scene, outcomes=frozenset(outcomes)))

        assert await found(TickOutcome.SKIPPED) == [(NIGHTLY, 1, "skipped")] * 2
        assert await found(TickOutcome.MISSED) == [(NIGHTLY, 3, "missed"), (OTHER, 3, "missed")]
        assert len(await found(TickOutcome.RAN)) == 4
        assert len(await found(TickOutcome.RAN, TickOutcome.SKIPPED)) == 6
        assert await found(TickOutcome.CANCELLED) == []

    async def test_ticks_whose_runs_failed_are_found(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.ALLOW))
        created = [run_id for _ in range(3) for run_id in await scene.fire_after(MINUTE)]
        [first] = await scene.claim(only=created[:1])
        [second] = await scene.claim(only=created[1:2])
        await scene.finish(succeeded(first), failed(second))

        for name in (NIGHTLY, REPORT, None):
            page = await page_of(scene, name=name, has_failed_run=True)
            assert [tick.row.record.run_id for tick in page.ticks] == created[1:2]
        assert rows(await page_of(scene, has_failed_run=True, until=Instant(1))) == []

    async def test_a_job_page_has_the_newest_ticks_of_its_schedules(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.ALLOW))
        await scene.schedule(every(120, overlap=Overlap.ALLOW), schedule_id=OTHER)
        for _ in range(2):
            await scene.fire_after(MINUTE)

        details = await scene.storage.queries.job(REPORT)

        assert details is not None
        assert rows(details.ticks) == [(NIGHTLY, 1, "ran"), (OTHER, 1, "ran"), (NIGHTLY, 1, "ran")]


class LedgerPageContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def ledger(self, scene: Scene, **fields: object) -> LedgerDetails:
        known = {"schedule_id": NIGHTLY, "since": Instant(0), "until": scene.now, "limit": 100}
        found = await scene.storage.queries.ledger(LedgerFilter(**{**known, **fields}))  # type: ignore[arg-type]
        assert found is not None
        return found

    async def test_the_ledger_of_a_schedule_has_its_rows_and_counts(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.ALLOW))
        await scene.schedule(every(60), schedule_id=OTHER)
        created = [await scene.fire_after(MINUTE) for _ in range(3)]
        [claim] = await scene.claim(only=created[0][:1])
        await scene.finish(failed(claim))

        found = await self.ledger(scene)

        assert [tick.schedule_id for tick in found.ticks] == [NIGHTLY] * 3
        assert [run.status for run in found.states.values()].count(Status.FAILED) == 1
        assert found.account.outcomes[TickOutcome.RAN] == 3
        assert (found.account.failed_runs, found.account.is_complete, found.is_complete) == (1, True, True)
        assert found.schedule.id == NIGHTLY

    async def test_the_newest_rows_of_a_long_ledger_are_returned(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.ALLOW))
        for _ in range(4):
            await scene.fire_after(MINUTE)

        few = await self.ledger(scene, limit=2)
        early = await self.ledger(scene, until=Instant(scene.now - MINUTE))

        assert [tick.row.record.scheduled_for for tick in few.ticks] == [scene.now, scene.now - MINUTE]
        assert (few.is_complete, few.account.outcomes[TickOutcome.RAN]) == (False, 4)
        assert (len(early.ticks), early.account.outcomes[TickOutcome.RAN]) == (3, 3)

    async def test_a_schedule_that_does_not_exist_has_no_ledger(self, scene: Scene) -> None:
        only = LedgerFilter(NIGHTLY, Instant(0), scene.now, 10)
        assert await scene.storage.queries.ledger(only) is None


class RunListContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def listed(self, scene: Scene, only: RunFilter = RunFilter(), **fields: object) -> list[RunId]:  # noqa: B008 - immutable
        among = RunListFilter(**fields)  # type: ignore[arg-type]
        found = await scene.storage.queries.runs(only, among=among)
        assert isinstance(found, list)
        return [run.id for run in found]

    async def test_runs_are_listed_by_the_beginning_of_their_id(self, scene: Scene) -> None:
        old = RunId(first_id_at(scene.now))
        scene.clock.advance(10 * MINUTE)
        new = RunId(first_id_at(scene.now))
        await scene.create(a_run(id=old), a_run(id=new))

        assert await self.listed(scene, prefix=new[:10]) == [new]
        assert await self.listed(scene, prefix=old) == [old]
        assert await self.listed(scene, prefix=old[:3]) == [new, old]
        assert await self.listed(scene, RunFilter(before=new), prefix=old[:3]) == [old]
        assert await self.listed(scene, prefix="7ZZ") == []

    async def test_runs_are_listed_until_a_moment(self, scene: Scene) -> None:
        [old] = await scene.create(a_run(id=RunId(first_id_at(scene.now))))
        begin = scene.now
        scene.clock.advance(MINUTE)
        [new] = await scene.create(a_run(id=RunId(first_id_at(scene.now))))

        assert await self.listed(scene, until=begin) == [old]
        assert await self.listed(scene, until=scene.now) == [new, old]
        assert await self.listed(scene, until=Instant(begin - 1)) == []

    async def test_runs_are_listed_by_the_tag_of_their_job_and_by_several_statuses(self, scene: Scene) -> None:
        await scene.job("tagged", tags=("night",))
        await scene.job("other")
        good, bad = [await scene.start(a_run(job_id="tagged")) for _ in range(2)]
        await scene.finish(succeeded(good), failed(bad))
        [waiting] = await scene.create(a_run(job_id="tagged"))
        await scene.create(a_run(job_id="other"))

        assert await self.listed(scene, tag="night") == [waiting, bad.run_id, good.run_id]
        assert await self.listed(scene, RunFilter(limit=2), tag="night") == [waiting, bad.run_id]
        assert await self.listed(scene, tag="day") == []
        ended = (Status.SUCCESS, Status.FAILED)
        assert await self.listed(scene, tag="night", statuses=ended) == [bad.run_id, good.run_id]

    async def test_runs_are_listed_by_age(self, scene: Scene) -> None:
        await scene.create(a_run(id=RunId(first_id_at(scene.now))))
        scene.clock.advance(MINUTE)
        [new] = await scene.create(a_run(id=RunId(first_id_at(scene.now))))

        assert await self.listed(scene, since=scene.now) == [new]
        assert await self.listed(scene, since=scene.after(MINUTE)) == []

    async def test_runs_are_listed_by_several_statuses(self, scene: Scene) -> None:
        claims = [await scene.start() for _ in range(3)]
        await scene.finish(succeeded(claims[0]), failed(claims[1]))

        found = await self.listed(scene, statuses=(Status.FAILED, Status.RUNNING))

        assert found == sorted([claims[1].run_id, claims[2].run_id], reverse=True)

    async def test_runs_are_listed_by_kind(self, scene: Scene) -> None:
        tree = await opened(scene)  # in a queue of workers, to have a step
        step = await child_of(scene, tree)
        [execution] = await scene.create(a_run(queue=TREES_QUEUE))

        assert await self.listed(scene, kind=RunKind.STEP) == [step]
        assert await self.listed(scene, kind=RunKind.EXECUTION) == [execution]
        assert await self.listed(scene, kind=RunKind.JOB) == [tree.run_id]
