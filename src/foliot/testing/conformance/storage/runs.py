"""The promises of a storage about creating, releasing and listing runs."""

import pytest
from msgspec.structs import replace

from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.job.job import DEFAULT_PROJECT
from foliot.domain.run.run import Status
from foliot.ports.admission import Released
from foliot.ports.orders import Created
from foliot.ports.pages import RunFilter
from foliot.testing.builders import REPORT, a_run, a_run_id, every, failed, some_runs, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene

OUT_OF_RANGE = 1 << 70
"""A time that no database column can hold."""
HOSTILE = [
    "' OR '1'='1",
    "'; DELETE FROM runs; --",
    '"; DROP TABLE runs; --',
    "a' || (SELECT 1) || '",
    "%",
    "_",
    "$1 ?1 :a",
]
"""Names that would change a statement if they were part of its text."""


class RunContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("R1-18", "R1-37", "R1-38")
    async def test_a_run_is_read_as_it_was_created(self, scene: Scene) -> None:
        due_at = scene.after(MINUTE)
        new = a_run(due_at=due_at, payload=b'{"day":[1,null,"\\u0000"]}', queue="slow", priority=7, trigger="cli")

        await scene.create(new)

        run = await scene.run(new.id)
        assert (run.id, run.project, run.job_id, run.trigger) == (new.id, DEFAULT_PROJECT, REPORT, "cli")
        assert (run.queue, run.priority, run.payload) == ("slow", 7, {"day": [1, None, "\0"]})
        assert (run.due_at, run.created_at, run.attempt, run.lost) == (due_at, scene.now, 0, 0)
        assert {run.started_at, run.finished_at, run.worker_id, run.token, run.tick, run.output} == {None}

    async def test_a_planned_time_given_by_a_launcher_is_stored(self, scene: Scene) -> None:
        await scene.worker()
        plain = a_run(scheduled_for=scene.after(-MINUTE))
        keyed = a_run(scheduled_for=scene.after(-MINUTE), dedupe_key="key")

        await scene.create(plain)
        await scene.create(keyed)

        for run_id in (plain.id, keyed.id):
            run = await scene.run(run_id)
            assert (run.scheduled_for, run.tick) == (scene.after(-MINUTE), None)
        claims = await scene.claim(limit=2)
        assert [(claim.scheduled_for, claim.tick) for claim in claims] == [(scene.after(-MINUTE), None)] * 2

    @pytest.mark.proves("R1-39")
    async def test_a_due_run_is_queued_immediately(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(due_at=scene.now))

        assert await scene.status(run_id) is Status.QUEUED
        assert await scene.ready() == [run_id]

    @pytest.mark.proves("R1-26", "R1-40", "R1-27")
    async def test_a_run_that_is_due_later_is_scheduled_and_not_ready(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(due_at=scene.after(1)))

        assert await scene.status(run_id) is Status.SCHEDULED
        assert await scene.ready() == []
        assert await scene.claim() == []

    async def test_created_runs_are_returned_in_order(self, scene: Scene) -> None:
        runs = [a_run(due_at=scene.after(span)) for span in (5, 0, 9, 0)]

        created = await scene.storage.orders.create(runs, at=scene.now)

        assert created == [Created(run.id, is_new=True) for run in runs]

    async def test_a_run_is_created_if_its_job_has_the_revision_it_was_made_from(self, scene: Scene) -> None:
        job = await scene.job()
        run = a_run(job_revision=job.revision)

        assert await scene.storage.orders.create([run], at=scene.now) == [Created(run.id, is_new=True)]

    @pytest.mark.parametrize("key", [None, "key"])
    @pytest.mark.parametrize("change", ["changed", "deleted", "created again"])
    async def test_a_run_made_from_a_former_revision_of_its_job_is_not_created(
        self, scene: Scene, change: str, key: str | None
    ) -> None:
        job = await scene.job()
        outdated = a_run(job_revision=job.revision, dedupe_key=key)
        if change != "changed":
            await scene.storage.definitions.delete_jobs([REPORT])
        if change != "deleted":
            await scene.job(description="new")

        created = await scene.storage.orders.create([outdated], at=scene.now)

        assert created == [Created(outdated.id, is_new=False, is_outdated=True)]
        assert await scene.storage.queries.get_runs([outdated.id]) == {}
        assert await scene.claim() == []
        kinds = [event.kind for event in await scene.storage.queries.events(after=0, limit=100)]
        assert EventKind.RUNS_CREATED not in kinds
        again = a_run(dedupe_key=key)
        assert await scene.storage.orders.create([again], at=scene.now) == [Created(again.id, is_new=True)]

    async def test_an_outdated_run_does_not_affect_other_runs_of_its_batch(self, scene: Scene) -> None:
        former, other = await scene.job(), await scene.job("other")
        current = await scene.job(description="new")
        runs = [
            a_run(job_revision=former.revision),
            a_run(job_revision=current.revision),
            a_run(job_id="other", job_revision=other.revision),
            a_run(),
        ]

        created = await scene.storage.orders.create(runs, at=scene.now)

        assert [(answer.is_new, answer.is_outdated) for answer in created] == [
            (False, True),
            (True, False),
            (True, False),
            (True, False),
        ]
        assert len(await scene.claim()) == 3

    async def test_creating_no_runs_is_a_no_op(self, scene: Scene) -> None:
        assert await scene.storage.orders.create([], at=scene.now) == []

    @pytest.mark.proves("M4")
    async def test_creating_the_same_run_again_keeps_the_first(self, scene: Scene) -> None:
        first = a_run(payload=b"1")
        await scene.create(first)

        again = await scene.storage.orders.create([replace(first, payload=b"2"), a_run()], at=scene.now)

        assert [answer.is_new for answer in again] == [False, True]
        assert (await scene.run(first.id)).payload == 1
        assert len(await scene.claim()) == 2

    async def test_an_unstorable_run_does_not_fail_its_batch(self, scene: Scene) -> None:
        good, bad, fine = a_run(), a_run(due_at=OUT_OF_RANGE), a_run()

        created = await scene.storage.orders.create([good, bad, fine], at=scene.now)

        assert {answer.run_id for answer in created if answer.is_new} == {good.id, fine.id}
        assert set(await scene.storage.queries.get_runs([good.id, bad.id, fine.id])) == {good.id, fine.id}

    @pytest.mark.proves("R1-28", "R1-43", "R1-45")
    async def test_a_scheduled_run_is_released_when_it_is_due(self, scene: Scene) -> None:
        due_at = scene.after(MINUTE)
        [run_id] = await scene.create(a_run(due_at=due_at))

        scene.clock.advance(MINUTE - 1)
        assert await scene.release() == Released(0, due_at)

        scene.clock.advance(1)
        assert await scene.release() == Released(1, None)
        assert await scene.status(run_id) is Status.QUEUED
        assert await scene.ready() == [run_id]

    async def test_releasing_stops_at_its_limit_and_returns_the_next_due_time(self, scene: Scene) -> None:
        due = [scene.after(span) for span in (3 * SECOND, SECOND, 2 * SECOND)]
        last, first, second = await scene.create(*(a_run(due_at=moment) for moment in due))
        scene.clock.advance(MINUTE)

        released = await scene.release(limit=2)

        assert released == Released(2, due[0])
        assert await scene.statuses(first, second, last) == [Status.QUEUED, Status.QUEUED, Status.SCHEDULED]

    async def test_releasing_twice_is_a_no_op(self, scene: Scene) -> None:
        await scene.create(a_run(due_at=scene.after(SECOND)))
        scene.clock.advance(SECOND)

        assert (await scene.release(), await scene.release()) == (Released(1, None), Released(0, None))
        assert len(await scene.claim()) == 1

    async def test_ready_runs_are_read_in_rank_order_and_not_claimed(self, scene: Scene) -> None:
        now = scene.now
        low, high, early = a_run(due_at=now, priority=-1), a_run(due_at=now, priority=1), a_run(due_at=now - SECOND)
        await scene.create(low, high, early)

        ready = await scene.storage.admission.ready("default", 100)

        assert ready == [high.id, early.id, low.id]
        assert await scene.storage.admission.ready("default", 2) == ready[:2]
        assert await scene.storage.admission.ready("default", 100) == ready

    async def test_ready_runs_are_read_by_queue(self, scene: Scene) -> None:
        fast, slow = await scene.create(a_run(queue="fast"), a_run(queue="slow"))

        assert await scene.ready("fast") == [fast]
        assert await scene.ready("slow") == [slow]
        assert await scene.ready("other") == []

    async def test_only_runs_that_exist_are_found(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run())

        assert set(await scene.storage.queries.get_runs([run_id, a_run_id()])) == {run_id}
        assert await scene.storage.queries.get_runs([]) == {}

    @pytest.mark.proves("A5")
    async def test_runs_are_listed_newest_first_page_by_page(self, scene: Scene) -> None:
        oldest, middle, newest = await scene.create(*some_runs(3))

        first = await scene.storage.queries.page_runs(RunFilter(limit=2))
        second = await scene.storage.queries.page_runs(RunFilter(limit=2, before=first[-1].id))

        assert [run.id for run in first] == [newest, middle]
        assert [run.id for run in second] == [oldest]

    async def test_runs_are_listed_by_job(self, scene: Scene) -> None:
        _, wanted = await scene.create(a_run(), a_run(job_id=JobId("other")))

        assert await listed(scene, RunFilter(job_id=JobId("other"))) == [wanted]

    @pytest.mark.proves("Z18")
    @pytest.mark.parametrize("text", HOSTILE)
    async def test_text_with_sql_is_a_value_in_every_column_and_filter(self, scene: Scene, text: str) -> None:
        [other] = await scene.create(a_run())
        new = a_run(job_id=JobId(text), queue=text, trigger=text, dedupe_key=text, concurrency_key=text)
        claim = await scene.start(new)
        await scene.finish(failed(claim, text))

        run = await scene.run(claim.run_id)
        assert (run.job_id, run.queue, run.trigger, run.error) == (text, text, text, text)
        assert await scene.create(a_run(job_id=JobId(text), dedupe_key=text)) == [run.id]
        assert await listed(scene, RunFilter(job_id=JobId(text))) == [run.id]
        assert await listed(scene, RunFilter(schedule_id=ScheduleId(text))) == []
        assert await listed(scene, RunFilter(root_id=RunId(text))) == []
        assert await scene.storage.queries.get_runs([RunId(text)]) == {}
        assert await scene.storage.definitions.page_schedules(job_id=JobId(text)) == []
        assert await scene.claim(queues=[text]) == []
        assert await scene.ready() == [other]

    @pytest.mark.proves("R1-17")
    async def test_runs_are_listed_by_schedule(self, scene: Scene) -> None:
        await scene.schedule(every(60), schedule_id="a")
        wanted = await scene.schedule(every(120), schedule_id="b")
        await scene.fire_after(2 * MINUTE)
        await scene.create(a_run())

        [run] = await scene.storage.queries.page_runs(RunFilter(schedule_id=wanted.id))

        assert run.tick is not None
        assert (run.tick.uid, run.tick.schedule_id) == (wanted.uid, wanted.id)

    @pytest.mark.proves("R1-25")
    async def test_runs_are_listed_by_status(self, scene: Scene) -> None:
        runs = await one_run_in_each_status(scene)

        for status, run_id in runs.items():
            assert await listed(scene, RunFilter(status=status)) == [run_id]
        assert await listed(scene, RunFilter(status=Status.TIMEOUT)) == []

    async def test_run_filters_are_combined(self, scene: Scene) -> None:
        running = await scene.start()
        await scene.start(a_run(job_id=JobId("other")))
        await scene.create(a_run())

        only = RunFilter(job_id=REPORT, status=Status.RUNNING)

        assert await listed(scene, only) == [running.run_id]
        assert await listed(scene, only._replace(before=running.run_id)) == []


async def listed(scene: Scene, only: RunFilter) -> list[RunId]:
    return [run.id for run in await scene.storage.queries.page_runs(only)]


async def one_run_in_each_status(scene: Scene) -> dict[Status, RunId]:
    running, cancelling, done = [await scene.start() for _ in range(3)]
    await scene.finish(succeeded(done))
    [dropped] = await scene.create(a_run())
    await scene.cancel(cancelling.run_id, dropped)
    [queued, scheduled] = await scene.create(a_run(), a_run(due_at=scene.after(MINUTE)))
    return {
        Status.RUNNING: running.run_id,
        Status.CANCELLING: cancelling.run_id,
        Status.SUCCESS: done.run_id,
        Status.CANCELLED: dropped,
        Status.QUEUED: queued,
        Status.SCHEDULED: scheduled,
    }
