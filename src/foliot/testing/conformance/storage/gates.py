"""The promises of a storage about gated runs."""

import asyncio

import msgspec
import pytest

from foliot.domain.events import EventKind
from foliot.domain.gate.decision import Decided, Decision, Gated, Postponed, Verdict
from foliot.domain.gate.spec import Action, Gate
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant
from foliot.domain.job.definition import tree_definition_id
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Overlap
from foliot.ports.pages import RunFilter
from foliot.ports.topic import Topic
from foliot.testing.builders import REPORT, a_job_spec, a_run, every, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Another, Contract, Scene
from foliot.testing.conformance.storage.tree_builders import ETL, a_child, an_opening

LET = Decision(action=Action.RUN)
SKIP = Decision(action=Action.SKIP, reason=Reason.DEP_MISSING, verdicts={JobId("a"): Verdict.MISSING})
FAIL = Decision(action=Action.FAIL, reason=Reason.DEP_FAILED, verdicts={JobId("a"): Verdict.FAILED})


async def gated(scene: Scene, limit: int = 100) -> list[Gated]:
    now, runs = await scene.storage.admission.gated(limit, at=scene.now)
    assert now == scene.now
    return runs


async def decide(scene: Scene, run_id: RunId, decision: Decision = LET) -> list[RunId]:
    return await scene.storage.admission.decide_gates([Decided(run_id, decision)], [], at=scene.now)


async def postpone(scene: Scene, run_id: RunId, until: Instant) -> list[RunId]:
    return await scene.storage.admission.decide_gates([], [Postponed(run_id, until)], at=scene.now)


class GateContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("S1")
    async def test_a_gated_run_stays_scheduled_when_it_is_due(self, scene: Scene) -> None:
        free, run_id = await scene.create(a_run(), a_run(is_gated=True))

        assert await scene.release() == (0, None)
        assert [claim.run_id for claim in await scene.claim()] == [free]

        assert await scene.status(run_id) is Status.SCHEDULED
        found = await scene.storage.queries.page_runs(RunFilter(status=Status.SCHEDULED))
        assert [run.id for run in found] == [run_id]
        assert (await scene.depth()).scheduled == 1

    async def test_gated_runs_are_read_when_due_oldest_first(self, scene: Scene) -> None:
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

    async def test_the_planned_time_of_a_gated_run_is_its_first_due_time(self, scene: Scene) -> None:
        planned = scene.now
        [run_id] = await scene.create(a_run(is_gated=True, due_at=planned))
        scene.clock.advance(SECOND)

        assert await postpone(scene, run_id, scene.after(SECOND)) == [run_id]
        assert await gated(scene) == []
        scene.clock.advance(SECOND)

        assert await gated(scene) == [Gated(run_id, REPORT, planned, scene.now)]

    async def test_a_step_has_the_gate_that_its_execution_began_with(self, scene: Scene) -> None:
        before, after = (Gate(depends_on=(JobId(name),)) for name in ("before", "after"))
        await scene.job(gate=after)
        root = await scene.start(a_run(job_id=ETL))
        definition_id = tree_definition_id(root.run_id, REPORT)
        part = a_child(root.run_id, "extract", job_id=REPORT, definition_id=definition_id, is_gated=True)
        opening = an_opening(root, runs={"extract": part}, jobs={REPORT: a_job_spec(gate=before)})

        await scene.storage.trees.open([opening], at=scene.now)

        assert [(run.run_id, run.gate, run.error) for run in await gated(scene)] == [(part.id, before, None)]

    async def test_the_planned_time_of_a_gated_step_is_when_it_could_start(self, scene: Scene) -> None:
        root = await scene.start(a_run(job_id=ETL))
        part = a_child(root.run_id, "extract", is_gated=True, due_at=scene.now, scheduled_for=scene.after(-HOUR))

        await scene.storage.trees.open([an_opening(root, runs={"extract": part})], at=scene.now)

        [run] = await gated(scene)
        assert (run.planned, (await scene.run(part.id)).scheduled_for) == (scene.now, scene.after(-HOUR))

    @pytest.mark.proves("D10")
    async def test_the_planned_time_of_a_gated_tick_is_that_of_the_tick(self, scene: Scene) -> None:
        run_id, moment = await a_gated_tick(scene)
        scene.clock.advance(SECOND)

        [run] = await gated(scene)

        assert (run.run_id, run.planned) == (run_id, moment)

    async def test_a_run_that_passes_its_gate_is_ready(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(is_gated=True))

        assert await decide(scene, run_id) == [run_id]

        assert await scene.ready() == [run_id]
        assert await gated(scene) == []

    async def test_a_run_that_passes_its_gate_waits_for_its_limits(self, scene: Scene) -> None:
        claim = await scene.start(a_run(max_concurrent=1))
        [run_id] = await scene.create(a_run(is_gated=True, max_concurrent=1))
        await decide(scene, run_id)
        assert (await scene.status(run_id), await scene.ready()) == (Status.QUEUED, [])

        await scene.finish(succeeded(claim))

        assert await scene.ready() == [run_id]

    @pytest.mark.proves("D10", "S1")
    @pytest.mark.parametrize(("decision", "status"), [(SKIP, Status.SKIPPED), (FAIL, Status.FAILED)])
    async def test_a_declined_run_ends_without_a_start(self, scene: Scene, decision: Decision, status: Status) -> None:
        [run_id] = await scene.create(a_run(is_gated=True))
        scene.clock.advance(SECOND)

        assert await decide(scene, run_id, decision) == [run_id]

        run = await scene.run(run_id)
        assert (run.status, run.reason, run.error) == (status, decision.reason, decision.explanation)
        assert (run.started_at, run.finished_at, run.attempt) == (None, scene.now, 0)
        assert await scene.items(EventKind.RUNS_ENDED) == [[run_id, status, 0]]
        assert await scene.claim() == []

    @pytest.mark.proves("D10")
    async def test_the_decision_of_a_gate_is_stored_with_the_run(self, scene: Scene) -> None:
        let, skip, open_still = await scene.create(*(a_run(is_gated=True) for _ in range(3)))
        await scene.storage.admission.decide_gates([Decided(let, LET), Decided(skip, SKIP)], [], at=scene.now)

        found = await scene.storage.admission.decisions([let, skip, open_still])

        assert {run_id: msgspec.json.decode(body, type=Decision) for run_id, body in found.items()} == {
            let: LET,
            skip: SKIP,
        }

    async def test_only_the_first_decision_of_a_gate_is_saved(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(is_gated=True))
        await decide(scene, run_id)

        assert await decide(scene, run_id, SKIP) == []
        assert await postpone(scene, run_id, scene.after(MINUTE)) == []

        assert await scene.ready() == [run_id]
        assert await scene.storage.admission.decisions([run_id]) == {run_id: msgspec.json.encode(LET)}

    async def test_one_of_many_concurrent_gate_decisions_is_saved(self, scene: Scene, another: Another) -> None:
        scenes = [scene, Scene(await another(), scene.clock), Scene(await another(), scene.clock)]
        runs = await scene.create(*(a_run(is_gated=True, max_concurrent=100) for _ in range(20)))
        decided = [[Decided(run_id, decision) for run_id in runs] for decision in (LET, SKIP, FAIL)]

        answers = await asyncio.gather(
            *(
                one.storage.admission.decide_gates(own, [], at=scene.now)
                for one, own in zip(scenes, decided, strict=True)
            )
        )

        assert sorted(run_id for answer in answers for run_id in answer) == sorted(runs)
        assert len(await scene.items(EventKind.RUNS_ENDED)) == len(answers[1]) + len(answers[2])
        assert len(await scene.ready()) == len(answers[0])

    async def test_a_retry_is_not_gated_again(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(is_gated=True, retry_delay=SECOND))
        await decide(scene, run_id)
        [claim] = await scene.claim()
        await scene.finish(to_retry(claim))
        scene.clock.advance(SECOND)

        assert await gated(scene) == []
        await scene.release()

        assert await scene.ready() == [run_id]

    async def test_a_gated_run_is_cancelled_immediately(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(is_gated=True))

        assert await scene.cancel(run_id) == [CancelAnswer.CANCELLED]

        assert await gated(scene) == []
        assert await decide(scene, run_id) == []
        assert await scene.status(run_id) is Status.CANCELLED

    async def test_deleting_a_job_cancels_its_gated_runs(self, scene: Scene) -> None:
        await scene.job()
        [run_id] = await scene.create(a_run(is_gated=True))

        await scene.storage.definitions.delete_jobs([REPORT], at=scene.now)

        assert await scene.status(run_id) is Status.CANCELLED
        assert await gated(scene) == []

    async def test_a_declined_tick_releases_the_overlap_key(self, scene: Scene) -> None:
        first, _ = await a_gated_tick(scene)
        [second] = await scene.fire_after(MINUTE)

        await decide(scene, first, SKIP)
        await decide(scene, second)

        assert await scene.ready() == [second]

    @pytest.mark.parametrize("gate_first", [True, False])
    async def test_a_tick_needs_the_overlap_key_and_its_gate(self, scene: Scene, *, gate_first: bool) -> None:
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
    async def test_a_gated_run_signals_the_gates(self, scene: Scene, delay: int) -> None:
        signal = scene.storage.signal(Topic.GATES)
        signal.clear()

        await scene.create(a_run(is_gated=True, due_at=scene.after(delay)))

        async with asyncio.timeout(30):
            await signal.wait()


async def a_gated_tick(scene: Scene) -> tuple[RunId, Instant]:
    """Fire a tick of a gated job a little late. Return its run and its planned time."""
    await scene.job(gate={"depends_on": ["a"]})
    schedule = await scene.schedule(every(60, overlap=Overlap.QUEUE))
    [run_id] = await scene.fire_after(MINUTE + SECOND)
    [tick] = await scene.ticks(schedule.uid)
    return run_id, tick.scheduled_for
