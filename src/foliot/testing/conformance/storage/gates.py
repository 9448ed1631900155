"""Runs that wait for their gate, and the ends that gates look at: what a storage promises about them."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
import pytest

from foliot.domain.events import EventKind
from foliot.domain.gate.decision import Decision, End, Gated, Passed, Postponed, Sight, Verdict
from foliot.domain.gate.spec import Action
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant
from foliot.domain.lease import CancelAnswer
from foliot.domain.outcome import Reason
from foliot.domain.run import Ended, Status
from foliot.domain.schedule import Overlap
from foliot.ports.runs import RunFilter
from foliot.ports.storage import Storage, Topic
from foliot.testing.builders import REPORT, a_run, a_run_id, every, failed, succeeded, to_retry
from foliot.testing.conformance.storage.passages import ETL, a_part, an_opening, opened, settle, the_end
from foliot.testing.conformance.storage.scene import Contract, Scene

Another = Callable[[], Awaitable[Storage]]

LET = Decision(action=Action.RUN)
SKIP = Decision(action=Action.SKIP, reason=Reason.DEP_MISSING, verdicts={JobId("a"): Verdict.MISSING})
FAIL = Decision(action=Action.FAIL, reason=Reason.DEP_FAILED, verdicts={JobId("a"): Verdict.FAILED})


async def gated(scene: Scene, limit: int = 100) -> list[Gated]:
    now, runs = await scene.storage.runs.gated(limit, at=scene.now)
    assert now == scene.now
    return runs


async def decide(scene: Scene, run_id: RunId, decision: Decision = LET) -> list[RunId]:
    return await scene.storage.runs.pass_gates([Passed(run_id, decision)], [], at=scene.now)


async def postpone(scene: Scene, run_id: RunId, until: Instant) -> list[RunId]:
    return await scene.storage.runs.pass_gates([], [Postponed(run_id, until)], at=scene.now)


class GateContract(Contract):
    """Every storage passes these, unchanged."""

    @pytest.mark.proves("S1")
    async def test_a_gated_run_stays_scheduled_when_it_is_due(self, scene: Scene) -> None:
        free, run_id = await scene.create(a_run(), a_run(is_gated=True))

        assert await scene.release() == (0, None)
        assert [claim.run_id for claim in await scene.claim()] == [free]

        assert await scene.status(run_id) is Status.SCHEDULED
        found = await scene.storage.runs.page(RunFilter(status=Status.SCHEDULED))
        assert [run.id for run in found] == [run_id]
        assert (await scene.storage.runs.depth(10)).scheduled == 1

    async def test_gates_are_asked_about_due_runs_oldest_first(self, scene: Scene) -> None:
        second, first, later = await scene.create(
            a_run(is_gated=True, due_at=scene.after(SECOND)),
            a_run(is_gated=True),
            a_run(is_gated=True, due_at=scene.after(MINUTE)),
        )
        assert [run.run_id for run in await gated(scene)] == [first]
        scene.clock.advance(SECOND)

        assert [run.run_id for run in await gated(scene)] == [first, second]
        assert [run.run_id for run in await gated(scene, limit=1)] == [first]
        assert await scene.status(later) is Status.SCHEDULED

    async def test_the_planned_moment_is_when_it_was_first_due(self, scene: Scene) -> None:
        planned = scene.now
        [run_id] = await scene.create(a_run(is_gated=True, due_at=planned))
        scene.clock.advance(SECOND)

        assert await postpone(scene, run_id, scene.after(SECOND)) == [run_id]
        assert await gated(scene) == []
        scene.clock.advance(SECOND)

        assert await gated(scene) == [Gated(run_id, REPORT, planned, scene.now)]

    async def test_a_step_that_waits_for_its_gate_says_whose_step_it_is(self, scene: Scene) -> None:
        root = await scene.start(a_run(job_id=ETL))
        part = a_part(root.run_id, "extract", is_gated=True)

        await scene.storage.executions.open([an_opening(root, runs={"extract": part})], at=scene.now)

        [run] = await gated(scene)
        assert (run.run_id, run.root, run.item) == (part.id, root.run_id, "extract")

    async def test_a_step_is_due_when_it_could_start_whenever_its_execution_was_planned_for(self, scene: Scene) -> None:
        root = await scene.start(a_run(job_id=ETL))
        part = a_part(root.run_id, "extract", is_gated=True, due_at=scene.now, scheduled_for=scene.after(-HOUR))

        await scene.storage.executions.open([an_opening(root, runs={"extract": part})], at=scene.now)

        [run] = await gated(scene)
        assert (run.planned, (await scene.run(part.id)).scheduled_for) == (scene.now, scene.after(-HOUR))

    @pytest.mark.proves("D10")
    async def test_the_planned_moment_of_a_tick_is_its_own(self, scene: Scene) -> None:
        run_id, moment = await a_gated_tick(scene)
        scene.clock.advance(SECOND)

        [run] = await gated(scene)

        assert (run.run_id, run.planned) == (run_id, moment)

    async def test_one_that_may_run_is_ready(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(is_gated=True))

        assert await decide(scene, run_id) == [run_id]

        assert await scene.ready() == [run_id]
        assert await gated(scene) == []

    async def test_one_that_may_run_waits_for_its_limits(self, scene: Scene) -> None:
        claim = await scene.start(a_run(max_concurrent=1))
        [run_id] = await scene.create(a_run(is_gated=True, max_concurrent=1))
        await decide(scene, run_id)
        assert (await scene.status(run_id), await scene.ready()) == (Status.QUEUED, [])

        await scene.finish(succeeded(claim))

        assert await scene.ready() == [run_id]

    @pytest.mark.proves("D10", "S1")
    @pytest.mark.parametrize(("decision", "status"), [(SKIP, Status.SKIPPED), (FAIL, Status.FAILED)])
    async def test_one_that_is_declined_ends_without_a_start(
        self, scene: Scene, decision: Decision, status: Status
    ) -> None:
        [run_id] = await scene.create(a_run(is_gated=True))
        scene.clock.advance(SECOND)

        assert await decide(scene, run_id, decision) == [run_id]

        run = await scene.run(run_id)
        assert (run.status, run.reason, run.error) == (status, decision.reason, decision.explanation)
        assert (run.started_at, run.finished_at, run.attempt) == (None, scene.now, 0)
        assert await scene.items(EventKind.RUNS_ENDED) == [[run_id, status, 0]]
        assert await scene.claim() == []

    @pytest.mark.proves("D10")
    async def test_the_decision_is_kept_with_the_run(self, scene: Scene) -> None:
        let, skip, open_still = await scene.create(*(a_run(is_gated=True) for _ in range(3)))
        await scene.storage.runs.pass_gates([Passed(let, LET), Passed(skip, SKIP)], [], at=scene.now)

        found = await scene.storage.runs.decisions([let, skip, open_still])

        assert {run_id: msgspec.json.decode(body, type=Decision) for run_id, body in found.items()} == {
            let: LET,
            skip: SKIP,
        }

    async def test_only_the_first_decision_counts(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(is_gated=True))
        await decide(scene, run_id)

        assert await decide(scene, run_id, SKIP) == []
        assert await postpone(scene, run_id, scene.after(MINUTE)) == []

        assert await scene.ready() == [run_id]
        assert await scene.storage.runs.decisions([run_id]) == {run_id: msgspec.json.encode(LET)}

    async def test_of_many_that_decide_at_once_one_wins(self, scene: Scene, another: Another) -> None:
        scenes = [scene, Scene(await another(), scene.clock), Scene(await another(), scene.clock)]
        runs = await scene.create(*(a_run(is_gated=True, max_concurrent=100) for _ in range(20)))
        passed = [[Passed(run_id, decision) for run_id in runs] for decision in (LET, SKIP, FAIL)]

        answers = await asyncio.gather(
            *(one.storage.runs.pass_gates(own, [], at=scene.now) for one, own in zip(scenes, passed, strict=True))
        )

        assert sorted(run_id for answer in answers for run_id in answer) == sorted(runs)
        assert len(await scene.items(EventKind.RUNS_ENDED)) == len(answers[1]) + len(answers[2])
        assert len(await scene.ready()) == len(answers[0])

    async def test_a_retry_is_not_gated_again(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(is_gated=True))
        await decide(scene, run_id)
        [claim] = await scene.claim()
        await scene.finish(to_retry(claim, SECOND))
        scene.clock.advance(SECOND)

        assert await gated(scene) == []
        await scene.release()

        assert await scene.ready() == [run_id]

    async def test_a_gated_run_is_cancelled_at_once(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(is_gated=True))

        assert await scene.cancel(run_id) == [CancelAnswer.CANCELLED]

        assert await gated(scene) == []
        assert await decide(scene, run_id) == []
        assert await scene.status(run_id) is Status.CANCELLED

    async def test_a_gated_run_ends_with_its_job(self, scene: Scene) -> None:
        await scene.job()
        [run_id] = await scene.create(a_run(is_gated=True))

        await scene.storage.jobs.delete([REPORT], at=scene.now)

        assert await scene.status(run_id) is Status.CANCELLED
        assert await gated(scene) == []

    async def test_a_declined_tick_gives_its_turn_to_the_next(self, scene: Scene) -> None:
        first, _ = await a_gated_tick(scene)
        [second] = await scene.fire_after(MINUTE)

        await decide(scene, first, SKIP)
        await decide(scene, second)

        assert await scene.ready() == [second]

    @pytest.mark.parametrize("gate_first", [True, False])
    async def test_a_tick_needs_its_turn_and_its_gate(self, scene: Scene, *, gate_first: bool) -> None:
        first, _ = await a_gated_tick(scene)
        [second] = await scene.fire_after(MINUTE)
        await decide(scene, first)
        [claim] = await scene.claim()

        if gate_first:
            await decide(scene, second)
            assert (await scene.ready(), await scene.status(second)) == ([], Status.QUEUED)
            await scene.finish(succeeded(claim))
        else:
            await scene.finish(succeeded(claim))
            assert (await scene.ready(), await scene.status(second)) == ([], Status.SCHEDULED)
            await decide(scene, second)

        assert await scene.ready() == [second]

    @pytest.mark.parametrize("delay", [0, MINUTE])
    async def test_a_gated_run_wakes_the_gatekeeper(self, scene: Scene, delay: int) -> None:
        signal = scene.storage.signal(Topic.GATES)
        signal.clear()

        await scene.create(a_run(is_gated=True, due_at=scene.after(delay)))

        async with asyncio.timeout(30):
            await signal.wait()


class AnswerContract(Contract):
    """Every storage passes these, unchanged."""

    async def test_a_run_that_has_not_started_ends_as_somebody_says(self, scene: Scene) -> None:
        queued, later = await scene.create(a_run(), a_run(due_at=scene.after(MINUTE)))
        said = Ended(Status.FAILED, Reason.REJECTED, "not today", output=b"[1]")

        answered = await scene.storage.runs.answer({queued: Ended(Status.SUCCESS), later: said}, at=scene.now)

        assert sorted(answered) == sorted([queued, later])
        run = await scene.run(later)
        assert (run.status, run.reason, run.error, run.output) == (Status.FAILED, "rejected", "not today", [1])
        assert (run.started_at, run.finished_at) == (None, scene.now)
        assert await scene.status(queued) is Status.SUCCESS
        assert await scene.items(EventKind.RUNS_ENDED) == [[queued, "success", 0], [later, "failed", 0]]

    async def test_what_has_started_or_is_over_or_is_not_there_stays_as_it_is(self, scene: Scene) -> None:
        running, done = await scene.start(), await scene.start()
        await scene.finish(failed(done))
        asked = dict.fromkeys([running.run_id, done.run_id, a_run_id()], Ended(Status.SUCCESS))

        assert await scene.storage.runs.answer(asked, at=scene.now) == []

        assert await scene.statuses(running.run_id, done.run_id) == [Status.RUNNING, Status.FAILED]

    async def test_its_places_are_given_on(self, scene: Scene) -> None:
        first, second = await scene.create(a_run(max_concurrent=1), a_run(max_concurrent=1))

        await scene.storage.runs.answer({first: Ended(Status.SKIPPED)}, at=scene.now)

        assert await scene.ready() == [second]


class SightContract(Contract):
    """Every storage passes these, unchanged."""

    @pytest.mark.proves("D10")
    async def test_the_latest_end_inside_the_window_is_seen(self, scene: Scene) -> None:
        await watch(scene)
        ends = []
        for _ in range(3):
            scene.clock.advance(SECOND)
            ends.append(await ended(scene))

        for end in ends:
            assert await sight(scene, until=end.finished_at) == Sight(end)
        assert await sight(scene, after=ends[0].finished_at, until=ends[1].finished_at) == Sight(ends[1])
        assert await sight(scene, after=ends[2].finished_at) == Sight(None)
        assert await sight(scene, until=Instant(ends[0].finished_at - 1)) == Sight(None)

    @pytest.mark.proves("D10")
    async def test_the_end_counts_and_not_the_start(self, scene: Scene) -> None:
        await watch(scene)
        early, late = await scene.start(), await scene.start()
        await scene.finish(failed(late))
        scene.clock.advance(SECOND)
        await scene.finish(succeeded(early))

        assert (await sight(scene)).end == End(early.run_id, Status.SUCCESS, scene.now)

    async def test_ends_before_the_watch_are_seen(self, scene: Scene) -> None:
        old = await ended(scene)
        assert await sight(scene) == Sight(None)

        for _ in range(2):
            await watch(scene)

        assert await sight(scene) == Sight(old)

    async def test_each_job_is_seen_for_itself(self, scene: Scene) -> None:
        await watch(scene, "a", "b")
        end = await ended(scene, "a")
        await ended(scene, "c")

        found = await scene.storage.runs.sights([JobId("a"), JobId("b"), JobId("c")], after=Instant(0), until=scene.now)

        assert found == {"a": Sight(end), "b": Sight(None), "c": Sight(None)}

    async def test_whatever_ends_a_run_its_end_is_seen(self, scene: Scene) -> None:
        await watch(scene, REPORT, "etl")

        async def seen(job_id: str = REPORT) -> Status | None:
            end = (await sight(scene, job_id)).end
            scene.clock.advance(SECOND)
            return None if end is None else end.status

        await scene.finish(succeeded(await scene.start()))
        assert await seen() is Status.SUCCESS
        await scene.finish(failed(await scene.start()))
        assert await seen() is Status.FAILED
        await scene.finish(succeeded(await scene.start(), b"1"))
        assert await seen() is Status.SUCCESS
        [run_id] = await scene.create(a_run())
        await scene.cancel(run_id)
        assert await seen() is Status.CANCELLED
        await scene.storage.runs.mark({run_id: a_run_id()}, at=scene.now)
        assert await seen() is Status.SUCCESS
        [run_id] = await scene.create(a_run(is_gated=True))
        await decide(scene, run_id, SKIP)
        assert await seen() is Status.SKIPPED
        [run_id] = await scene.create(a_run())
        await scene.storage.runs.mark({run_id: a_run_id()}, at=scene.now)
        assert await seen() is Status.SUCCESS
        [run_id] = await scene.create(a_run())
        await scene.storage.runs.answer({run_id: Ended(Status.FAILED, Reason.REJECTED)}, at=scene.now)
        assert await seen() is Status.FAILED
        await settle(scene, the_end(await opened(scene)))
        assert await seen("etl") is Status.SUCCESS

    async def test_a_run_that_is_due_or_begun_is_expected(self, scene: Scene) -> None:
        await scene.create(a_run(due_at=scene.after(MINUTE)))
        assert not (await sight(scene)).is_expected

        claim = await scene.start()
        assert (await sight(scene)).is_expected
        await scene.finish(to_retry(claim, MINUTE))
        assert (await sight(scene)).is_expected
        await scene.cancel(claim.run_id)

        assert not (await sight(scene)).is_expected

    async def test_an_execution_is_expected_until_it_ends(self, scene: Scene) -> None:
        execution = await opened(scene)
        assert (await sight(scene, "etl")).is_expected

        await settle(scene, the_end(execution))

        assert not (await sight(scene, "etl")).is_expected

    async def test_the_latest_end_of_a_status_is_found(self, scene: Scene) -> None:
        await watch(scene)
        success = await ended(scene)
        scene.clock.advance(SECOND)
        failure = await ended(scene, status=Status.FAILED)
        runs = scene.storage.runs

        assert await runs.latest_end(REPORT, [Status.SUCCESS, Status.PARTIAL], until=scene.now) == success
        assert await runs.latest_end(REPORT, [Status.SUCCESS, Status.FAILED], until=scene.now) == failure
        assert await runs.latest_end(REPORT, [Status.FAILED], until=success.finished_at) is None

    async def test_the_latest_end_for_a_reason_is_found(self, scene: Scene) -> None:
        await watch(scene)
        [run_id] = await scene.create(a_run(is_gated=True))
        await decide(scene, run_id, FAIL)
        declined_at = scene.now
        scene.clock.advance(SECOND)
        await ended(scene, status=Status.FAILED)
        statuses, because = [Status.SKIPPED, Status.FAILED], [Reason.DEP_MISSING, Reason.DEP_FAILED]

        found = await scene.storage.runs.latest_end(REPORT, statuses, reasons=because, until=scene.now)

        assert found == End(run_id, Status.FAILED, declined_at)

    async def test_neither_other_jobs_nor_other_statuses_are_taken_for_what_was_asked(self, scene: Scene) -> None:
        """Names that sort right before and after what is asked for."""
        neighbours = [JobId("repor"), JobId("reports"), JobId("a"), JobId("z")]
        await scene.storage.runs.watch([REPORT, *neighbours])
        for job_id in neighbours:
            await ended(scene, job_id, status=Status.SUCCESS)
            [gated] = await scene.create(a_run(job_id=job_id, is_gated=True))
            await decide(scene, gated, SKIP)
        await ended(scene, status=Status.FAILED)
        scene.clock.advance(SECOND)
        runs, because = scene.storage.runs, [Reason.DEP_MISSING, Reason.DEP_FAILED]

        for status in (Status.SUCCESS, Status.SKIPPED, Status.CANCELLED, Status.TIMEOUT):
            assert await runs.latest_end(REPORT, [status], until=scene.now) is None
            assert await runs.latest_end(REPORT, [status], reasons=because, until=scene.now) is None
        assert await runs.latest_end(REPORT, [Status.FAILED], reasons=because, until=scene.now) is None

    async def test_a_renamed_job_keeps_its_ends(self, scene: Scene) -> None:
        await scene.job()
        await watch(scene)
        running = await scene.start()
        end = await ended(scene)
        await scene.storage.jobs.rename({REPORT: JobId("account")}, at=scene.now)
        assert (await sight(scene, "account")).end == end
        scene.clock.advance(SECOND)

        await scene.finish(failed(running))

        assert (await sight(scene, "account")).end == End(running.run_id, Status.FAILED, scene.now)

    async def test_no_end_is_lost_while_a_watch_begins(self, scene: Scene, another: Another) -> None:
        other = Scene(await another(), scene.clock)
        jobs = [f"job-{number}" for number in range(10)]
        claims = [await scene.start(a_run(job_id=JobId(job_id))) for job_id in jobs]

        await asyncio.gather(
            *(scene.finish(succeeded(claim)) for claim in claims), *(watch(other, job) for job in jobs)
        )

        for job_id, claim in zip(jobs, claims, strict=True):
            assert await sight(scene, job_id) == Sight(End(claim.run_id, Status.SUCCESS, scene.now))


async def a_gated_tick(scene: Scene) -> tuple[RunId, Instant]:
    """The run of a tick whose job looks at another one, a little late, and the tick's moment."""
    await scene.job(gate={"depends_on": ["a"]})
    schedule = await scene.schedule(every(60, overlap=Overlap.QUEUE))
    [run_id] = await scene.fire_after(MINUTE + SECOND)
    [tick] = await scene.ticks(schedule.uid)
    return run_id, tick.scheduled_for


async def watch(scene: Scene, *job_ids: str) -> None:
    await scene.storage.runs.watch([JobId(job_id) for job_id in job_ids or (REPORT,)])


async def sight(
    scene: Scene, job_id: str = REPORT, *, after: Instant | None = None, until: Instant | None = None
) -> Sight:
    found = await scene.storage.runs.sights([JobId(job_id)], after=after or Instant(0), until=until or scene.now)
    return found[JobId(job_id)]


async def ended(scene: Scene, job_id: str = REPORT, status: Status = Status.SUCCESS) -> End:
    """A run that has just ended."""
    claim = await scene.start(a_run(job_id=JobId(job_id)))
    await scene.finish(succeeded(claim) if status is Status.SUCCESS else failed(claim))
    return End(claim.run_id, status, scene.now)
