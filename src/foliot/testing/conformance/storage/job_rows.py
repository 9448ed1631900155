"""The promises of a storage about jobs in lists: which are found, and the newest ticks and results of each."""

from collections.abc import Sequence

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import MINUTE
from foliot.domain.job.state import JobState
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.workflow.spec import PART_SOURCE
from foliot.errors import RowUnreadable
from foliot.ports.job_rows import JobRowDetails, JobRowFilter, JobRows
from foliot.testing.builders import NIGHTLY, REPORT, a_run, every, failed, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene

_RUNS_OF_A_JOB = 30
_SLOTS = 30


async def rows_of(scene: Scene, **fields: object) -> JobRows:
    return await scene.storage.queries.job_rows(JobRowFilter(**fields))  # type: ignore[arg-type]


async def found(scene: Scene, **fields: object) -> list[str]:
    return [id_of(row) for row in (await rows_of(scene, **fields)).rows]


def id_of(row: JobRowDetails) -> str:
    return row.job.name if isinstance(row.job, RowUnreadable) else row.job.id


def planned(rows: Sequence[JobRowDetails]) -> list[list[tuple[str, str, int]]]:
    """Return schedule, outcome and count of the ticks of each row."""
    return [[(tick.schedule_id, tick.row.record.outcome, tick.row.record.count) for tick in row.ticks] for row in rows]


class JobRowContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_jobs_are_listed_by_id_without_those_of_steps(self, scene: Scene) -> None:
        for name in ("b", "a", "c"):
            await scene.job(name)
        await scene.job("a.step", source=PART_SOURCE)

        first = await rows_of(scene, limit=2)

        assert ([id_of(row) for row in first.rows], first.next) == (["a", "b"], "b")
        rest = await rows_of(scene, limit=2, after=first.next)
        assert ([id_of(row) for row in rest.rows], rest.next) == (["c"], None)

    async def test_jobs_are_found_by_a_part_of_id_name_or_tag_in_any_case(self, scene: Scene) -> None:
        await scene.job("disk-check")
        await scene.job("report", name="Monthly DISK report")
        await scene.job("backup", tags=("Disks", "night"))
        await scene.job("mail")

        assert await found(scene, search="dISK") == ["backup", "disk-check", "report"]
        assert await found(scene, search="100%") == []

    async def test_jobs_are_found_by_tag_and_by_kind(self, scene: Scene) -> None:
        await scene.job("a", tags=("night",))
        await scene.job("b", tags=("nightly",), kind="http")

        assert await found(scene, tag="night") == ["a"]
        assert await found(scene, kind="http") == ["b"]
        assert await found(scene, kind="http", tag="night") == []

    async def test_jobs_are_found_by_their_state(self, scene: Scene) -> None:
        for name in ("fine", "failing", "running"):
            await scene.job(name)
        await scene.job("disabled", enabled=False)
        await scene.job("paused")
        await scene.storage.definitions.pause_job(JobId("paused"), paused=True, at=scene.now)
        for name in ("failing", "disabled"):
            await scene.finish(failed(await scene.start(a_run(job_id=name))))
        await scene.start(a_run(job_id="running"))

        assert await found(scene, state=JobState.ENABLED) == ["failing", "fine", "running"]
        assert await found(scene, state=JobState.DISABLED) == ["disabled"]
        assert await found(scene, state=JobState.PAUSED) == ["paused"]
        assert await found(scene, state=JobState.FAILING) == ["failing"]
        assert await found(scene, state=JobState.RUNNING) == ["running"]

    async def test_jobs_are_counted_by_state_kind_and_tag(self, scene: Scene) -> None:
        await scene.job("a", tags=("night", "disk"))
        await scene.job("b", tags=("night",), kind="http")
        await scene.job("c", enabled=False)
        await scene.job("a.step", source=PART_SOURCE)
        await scene.finish(failed(await scene.start(a_run(job_id="a"))))
        await scene.start(a_run(job_id="b"))

        facets = await scene.storage.queries.job_facets()

        assert facets.states == {
            JobState.ENABLED: 2,
            JobState.DISABLED: 1,
            JobState.PAUSED: 0,
            JobState.FAILING: 1,
            JobState.RUNNING: 1,
        }
        assert (facets.total, facets.kinds, facets.is_complete) == (3, {"shell": 2, "http": 1}, True)
        assert facets.tags == {"night": 2, "disk": 1}

    async def test_a_page_of_a_search_says_where_the_next_one_begins(self, scene: Scene) -> None:
        for name in ("a1", "a2", "b1", "a3"):
            await scene.job(name)

        first = await rows_of(scene, search="a", limit=2)
        rest = await rows_of(scene, search="a", limit=2, after=first.next)

        assert (first.next, [id_of(row) for row in rest.rows], rest.next) == ("a2", ["a3"], None)

    async def test_a_job_is_failing_until_a_newer_run_succeeds(self, scene: Scene) -> None:
        await scene.job()
        bad = await scene.start()
        await scene.finish(failed(bad))
        await scene.cancel(*await scene.create(a_run()))
        [row] = (await rows_of(scene)).rows
        assert row.failing == bad.run_id

        await scene.finish(succeeded(await scene.start()))

        [row] = (await rows_of(scene)).rows
        assert row.failing is None

    async def test_a_row_has_the_newest_run_and_the_newest_results(self, scene: Scene) -> None:
        await scene.job()
        done = await scene.start()
        scene.clock.advance(MINUTE)
        await scene.finish(succeeded(done, b'{"large": 1}'))
        [waiting] = await scene.create(a_run(payload=b'{"a": 1}'))

        page = await rows_of(scene)

        [row] = page.rows
        assert row.latest == waiting
        assert [(one.run_id, one.status) for one in row.results] == [(waiting, None), (done.run_id, Status.SUCCESS)]
        assert row.results[1].started_at == scene.now - MINUTE
        assert row.results[1].finished_at == scene.now
        shown = page.runs[waiting]
        assert (shown.status, shown.job_id, shown.payload, shown.unreadable) == (Status.QUEUED, REPORT, None, None)

    async def test_only_the_newest_results_are_read(self, scene: Scene) -> None:
        await scene.job()
        created = await scene.create(*[a_run() for _ in range(_RUNS_OF_A_JOB + 5)])

        [row] = (await rows_of(scene)).rows

        assert [one.run_id for one in row.results] == created[: -_RUNS_OF_A_JOB - 1 : -1]

    async def test_the_ticks_of_all_schedules_of_a_job_are_merged_by_time(self, scene: Scene) -> None:
        other = ScheduleId("other")
        await scene.schedule(every(60, overlap=Overlap.ALLOW))
        await scene.schedule(every(120, overlap=Overlap.ALLOW), schedule_id=other)
        await scene.schedule(every(120, overlap=Overlap.ALLOW, job_id="job2"), schedule_id="third")
        for _ in range(3):
            await scene.fire_after(MINUTE)

        page = await rows_of(scene)

        night = (NIGHTLY, "ran", 1)
        assert planned(page.rows) == [[("third", "ran", 1)], [night, night, (other, "ran", 1), night]]
        shown = [tick.row.record.run_id for row in page.rows for tick in row.ticks]
        assert {page.states[run_id].status for run_id in shown if run_id is not None} == {Status.QUEUED}

    async def test_a_range_fills_its_slots(self, scene: Scene) -> None:
        await scene.schedule(every(60, overlap=Overlap.ALLOW))
        await scene.fire_after(MINUTE)
        await scene.fire_after(100 * MINUTE)
        await scene.fire_after(MINUTE)

        page = await rows_of(scene)

        [ticks] = planned(page.rows)
        assert [count for _, _, count in ticks[-2:]] == [1, 99]
        assert ticks[-1] == (NIGHTLY, "missed", 99)

    async def test_of_many_schedules_those_with_the_newest_ticks_are_shown(self, scene: Scene) -> None:
        count = _SLOTS + 3
        for number in range(count):
            await scene.schedule(every(60, overlap=Overlap.ALLOW), schedule_id=f"s{number:02}")
        await scene.schedule(every(30, overlap=Overlap.ALLOW), schedule_id="z-last")
        await scene.fire_after(MINUTE)
        await scene.fire_after(MINUTE // 2)

        [row] = (await rows_of(scene)).rows

        assert row.ticks[0].schedule_id == "z-last"
        assert sum(tick.row.record.count for tick in row.ticks) >= _SLOTS
        assert len(row.schedules) == count + 1

    async def test_rows_of_named_jobs_are_in_the_order_of_the_names(self, scene: Scene) -> None:
        for name in ("a", "b", "c"):
            await scene.job(name)

        page = await scene.storage.queries.named_job_rows([JobId("c"), JobId("missing"), JobId("a")])

        assert [id_of(row) for row in page.rows] == ["c", "a"]
        assert (await scene.storage.queries.named_job_rows([])).rows == []
