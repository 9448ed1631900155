"""Which worker gets a run: labels, executors, kinds, and workers that are paused or drained."""

import pytest

from foliot.domain.fanout.spec import FANOUT
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import SECOND, Millis
from foliot.domain.job.job import Options
from foliot.domain.run.lane import TREES_QUEUE, Executor
from foliot.domain.run.lease import LOCAL, Order, Worker, WorkerFacts
from foliot.domain.run.run import NewRun, Status
from foliot.testing.builders import LEASE, a_run, given_back, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import a_child

REMOTE = WorkerFacts(is_remote=True)


def labelled(*labels: str, executor: Executor = Executor.ANY) -> NewRun:
    return a_run(labels=labels, executor=executor)


async def claimed(scene: Scene, worker: Worker, limit: int = 100) -> list[RunId]:
    return [claim.run_id for claim in await scene.claim(limit, worker=worker)]


class LaneContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("L12")
    async def test_a_worker_gets_no_run_with_a_label_that_it_lacks(self, scene: Scene) -> None:
        plain, gpu, both = await scene.create(a_run(), labelled("gpu"), labelled("gpu", "linux"))
        bare = await scene.worker(facts=REMOTE)
        some = await scene.worker(facts=WorkerFacts(labels=("gpu", "arm")))
        every = await scene.worker(facts=WorkerFacts(labels=("gpu", "linux", "more"), is_remote=True))

        assert await claimed(scene, bare) == [plain]
        assert await claimed(scene, some) == [gpu]
        assert await claimed(scene, every) == [both]

    @pytest.mark.proves("L12")
    async def test_a_run_without_labels_fits_any_worker(self, scene: Scene) -> None:
        for facts in (LOCAL, REMOTE, WorkerFacts(labels=("gpu",))):
            [run_id] = await scene.create(a_run())
            assert await claimed(scene, await scene.worker(facts=facts)) == [run_id]

    @pytest.mark.proves("L12")
    async def test_labels_of_repositories_choose_no_worker(self, scene: Scene) -> None:
        [run_id] = await scene.create(labelled("github:owner/repo"))

        assert await claimed(scene, await scene.worker()) == [run_id]

    async def test_an_executor_chooses_between_local_and_remote_workers(self, scene: Scene) -> None:
        there = labelled(executor=Executor.WORKER)
        here = labelled(executor=Executor.LOCAL)
        await scene.create(there, here)

        assert await claimed(scene, await scene.worker()) == [here.id]
        assert await claimed(scene, await scene.worker(facts=REMOTE)) == [there.id]

    async def test_rank_order_goes_across_lanes(self, scene: Scene) -> None:
        late, early = a_run(due_at=scene.now), a_run(due_at=scene.now - SECOND, labels=("gpu",))
        await scene.create(late, early)

        assert await claimed(scene, await scene.worker(facts=WorkerFacts(labels=("gpu",))), 1) == [early.id]

    async def test_runs_of_a_new_lane_are_found_by_a_busy_worker(self, scene: Scene) -> None:
        worker = await scene.worker(facts=WorkerFacts(labels=("gpu",)))
        await scene.create(a_run(), a_run())
        [claim] = await scene.claim(1, worker=worker)
        [run_id] = await scene.create(labelled("gpu"))

        answer = await scene.storage.work.exchange([succeeded(claim)], worker.id, ["default"], 5, at=scene.now)

        assert run_id in {one.run_id for one in answer.claims}
        assert len(answer.claims) == 2

    async def test_a_run_keeps_its_lane_when_it_is_given_back(self, scene: Scene) -> None:
        worker = await scene.worker(facts=WorkerFacts(labels=("gpu",)))
        [run_id] = await scene.create(labelled("gpu"))
        [claim] = await scene.claim(worker=worker)
        await scene.finish(given_back(claim))

        assert await scene.claim() == []
        assert await claimed(scene, worker) == [run_id]

    async def test_a_waiting_run_shows_its_queue_and_what_it_needs(self, scene: Scene) -> None:
        [run_id] = await scene.create(labelled("b", "a", executor=Executor.WORKER))

        run = await scene.run(run_id)

        assert (run.queue, run.needs) == ("default", ("@worker", "a", "b"))

    async def test_a_waiting_run_in_a_lane_can_be_cancelled(self, scene: Scene) -> None:
        [run_id] = await scene.create(labelled("gpu"))

        await scene.cancel(run_id)

        assert await scene.status(run_id) is Status.CANCELLED
        assert await claimed(scene, await scene.worker(facts=WorkerFacts(labels=("gpu",)))) == []

    async def test_a_tree_is_opened_by_any_coordinator(self, scene: Scene) -> None:
        options = Options(queue=TREES_QUEUE, labels=("gpu",), executor=Executor.WORKER)
        assert options.lane == TREES_QUEUE

    # -- kinds

    async def test_a_worker_gets_only_runs_of_its_kinds(self, scene: Scene) -> None:
        await scene.job("web", kind="http", spec={"url": "http://localhost/"})
        await scene.job("line", kind="shell", spec={"command": "true"})
        await scene.create(*(a_run(job_id=JobId("web")) for _ in range(5)))
        wanted = await scene.create(*(a_run(job_id=JobId("line")) for _ in range(3)))
        shell = await scene.worker(facts=WorkerFacts(kinds=("shell",)))

        assert await claimed(scene, shell, 2) == wanted[:2]
        assert await claimed(scene, shell) == wanted[2:]
        assert len(await scene.claim()) == 5

    async def test_children_of_a_fanout_have_the_kind_of_its_commands(self, scene: Scene) -> None:
        spec = {"inner_kind": "http", "items": [1], "url": "http://localhost/"}
        await scene.job("each", kind=FANOUT, spec=spec, queue=TREES_QUEUE)
        parent = a_run(job_id=JobId("each"), queue=TREES_QUEUE)
        await scene.create(parent)
        [child] = await scene.create(a_child(parent.id, "0", job_id=JobId("each.item")))

        assert await claimed(scene, await scene.worker(facts=WorkerFacts(kinds=("shell",)))) == []
        assert await claimed(scene, await scene.worker(facts=WorkerFacts(kinds=("http",)))) == [child]

    # -- orders

    @pytest.mark.parametrize("order", [Order.PAUSE, Order.DRAIN])
    async def test_a_paused_or_drained_worker_gets_no_runs_and_is_told(self, scene: Scene, order: Order) -> None:
        worker = await scene.worker("north")
        claim = await scene.start(worker=worker)
        await scene.create(a_run())

        assert await scene.storage.enrolments.direct(order, name="north") == [worker.id]

        assert await claimed(scene, worker) == []
        renewal = await scene.storage.work.renew(worker.id, [claim.token], LEASE, at=scene.now)
        assert renewal is not None
        assert renewal.order is order
        assert await scene.finish(succeeded(claim)) == []
        [state] = await scene.storage.admission.workers(at=scene.now)
        assert (state.order, state.takes_runs) == (order, False)

    async def test_a_resumed_worker_gets_runs_again(self, scene: Scene) -> None:
        worker = await scene.worker("north")
        [run_id] = await scene.create(a_run())
        await scene.storage.enrolments.direct(Order.PAUSE, name="north")

        await scene.storage.enrolments.direct(Order.NONE, name="north")

        assert await claimed(scene, worker) == [run_id]

    async def test_a_worker_that_registers_in_a_paused_pool_is_paused(self, scene: Scene) -> None:
        await scene.storage.enrolments.direct(Order.PAUSE, name="gpus")
        await scene.create(a_run())

        late = await scene.worker("gpu-7", facts=WorkerFacts(pool="gpus", is_remote=True))
        other = await scene.worker("other")

        assert await claimed(scene, late) == []
        assert len(await claimed(scene, other)) == 1

    async def test_workers_with_an_old_version_are_drained(self, scene: Scene) -> None:
        old = await scene.worker("a", facts=WorkerFacts(version="1.0"))
        new = await scene.worker("b", facts=WorkerFacts(version="1.1"))

        assert await scene.storage.enrolments.direct(Order.DRAIN, version="1.0") == [old.id]

        await scene.create(a_run())
        assert await claimed(scene, old) == []
        assert len(await claimed(scene, new)) == 1

    async def test_what_a_worker_says_about_itself_is_shown(self, scene: Scene) -> None:
        facts = WorkerFacts(labels=("gpu",), kinds=("shell",), is_remote=True, pool="p", version="1", environment="e")

        await scene.worker(facts=facts, ttl=Millis(LEASE))

        [state] = await scene.storage.admission.workers(at=scene.now)
        assert state.worker.facts == facts
