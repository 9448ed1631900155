"""The promises of a storage about definitions and outcomes in the work port."""

from collections.abc import Collection

import pytest

from foliot.domain.ids import DefinitionId, JobId
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.job.definition import step_definition_id, tree_definition_id
from foliot.domain.job.job import Delivery
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.lease import Claim
from foliot.domain.run.outcome import Interrupted, Lost, Outcome, Reason
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import Status
from foliot.domain.workflow.spec import Step, WorkflowSpec
from foliot.ports.work import Claimed
from foliot.testing.builders import (
    REPORT,
    a_finish,
    a_job_spec,
    a_run,
    failed,
    retries_after,
    some_runs,
    succeeded,
    to_retry,
)
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import ETL, a_child, an_opening, claim_child
from foliot.testing.conformance.storage.workflows import put

OTHER = JobId("other")
ONCE = Retry(retries=1, base=SECOND, factor=1.0, cap=SECOND)
NEVER = Retry()


class WorkContract(Contract):
    """Every storage must pass these tests unchanged."""

    # -- definitions

    async def test_a_claim_returns_each_definition_once(self, scene: Scene) -> None:
        job = await scene.job(spec={"command": "true"}, timeout=MINUTE)
        await scene.job(OTHER)
        await scene.create(*some_runs(3), a_run(job_id=OTHER))

        claims, definitions = await claim_all(scene)

        assert len(claims) == 4
        assert definitions.keys() == {claim.definition_id for claim in claims}
        assert len(definitions) == 2
        definition = definitions[claims[0].definition_id]
        assert (definition.kind, definition.spec, definition.timeout) == ("shell", {"command": "true"}, MINUTE)
        assert (definition.revision, definition.error) == (job.revision, None)

    async def test_a_claim_does_not_return_known_definitions(self, scene: Scene) -> None:
        await scene.job()
        await scene.job(OTHER)
        await scene.create(a_run())
        first = await claim_all(scene)
        await scene.create(a_run(), a_run(job_id=OTHER))

        second = await claim_all(scene, known=first.definitions)

        assert [one.definition_id for one in second.claims] == [*first.definitions, *second.definitions]
        await scene.create(a_run())
        assert (await claim_all(scene, known={*first.definitions, *second.definitions})).definitions == {}

    async def test_an_exchange_returns_definitions(self, scene: Scene) -> None:
        await scene.job()
        worker = await scene.standby()
        first = await scene.start()
        await scene.create(*some_runs(2))

        async def exchange(held: Claim, known: Collection[DefinitionId]) -> tuple[Claim, Collection[DefinitionId]]:
            _, [taken], definitions = await scene.storage.work.exchange(
                [succeeded(held)], worker.id, ["default"], 1, known=known, at=scene.now
            )
            return taken, definitions.keys()

        second, definitions = await exchange(first, [])
        assert definitions == {second.definition_id}
        assert (await exchange(second, definitions))[1] == set()

    async def test_a_changed_job_gets_a_new_definition(self, scene: Scene) -> None:
        await scene.job(spec={"command": "before"})
        before = await scene.start()
        await scene.job(spec={"command": "after"})
        await scene.create(a_run())

        [after], definitions = await claim_all(scene, known=[before.definition_id])

        assert after.definition_id != before.definition_id
        assert definitions[after.definition_id].spec == {"command": "after"}

    async def test_an_unchanged_job_keeps_its_definition(self, scene: Scene) -> None:
        await scene.job()
        before = await scene.start()
        await scene.job()

        assert (await scene.start()).definition_id == before.definition_id

    @pytest.mark.proves("D7")
    async def test_a_child_has_the_job_definition_of_the_start_of_its_tree(self, scene: Scene) -> None:
        before = a_job_spec(spec={"command": "before"})
        await scene.job(spec={"command": "after"})
        root = await scene.start(a_run(job_id=ETL))
        definition_id = tree_definition_id(root.run_id, REPORT)
        child = a_child(root.run_id, "extract", job_id=REPORT, definition_id=definition_id)
        opening = an_opening(root, runs={"extract": child}, jobs={REPORT: before})
        await scene.storage.trees.open([opening], at=scene.now)

        [taken], definitions = await claim_all(scene)

        assert taken.definition_id == definition_id
        assert definitions[definition_id].spec == {"command": "before"}

    @pytest.mark.proves("D7")
    async def test_a_child_has_the_definition_in_its_version_of_the_workflow(self, scene: Scene) -> None:
        for command in ("before", "after"):
            step = Step(name="extract", definition=a_job_spec(spec={"command": command}))
            await put(scene, WorkflowSpec(steps=(step,)))
        root = await scene.start(a_run(job_id=ETL))
        definition_id = step_definition_id(ETL, 1, None, "extract")
        child = a_child(root.run_id, "extract", definition_id=definition_id)
        await scene.storage.trees.open([an_opening(root, runs={"extract": child})], at=scene.now)

        [taken], definitions = await claim_all(scene)

        assert taken.definition_id == definition_id
        assert definitions[definition_id].spec == {"command": "before"}

    async def test_runs_of_tree_kinds_are_claimed_from_the_trees_queue(self, scene: Scene) -> None:
        [run_id] = await scene.create(a_run(queue=TREES_QUEUE))

        assert await scene.claim() == []
        assert [one.run_id for one in await scene.claim(queues=[TREES_QUEUE])] == [run_id]

    # -- outcomes

    @pytest.mark.proves("S3", "S9")
    async def test_the_options_of_the_job_set_the_number_of_retries(self, scene: Scene) -> None:
        await scene.job(retry=ONCE)
        first = await scene.start(a_run(overrides=None))

        await scene.finish(to_retry(first))
        run = await scene.run(first.run_id)
        assert (run.status, run.due_at) == (Status.SCHEDULED, scene.after(SECOND))
        scene.clock.advance(SECOND)
        await scene.release()
        [second] = await scene.claim()
        await scene.finish(to_retry(second))

        run = await scene.run(first.run_id)
        assert (run.status, run.reason, run.attempt) == (Status.FAILED, Reason.EXIT_CODE, 2)

    @pytest.mark.proves("R1-32")
    async def test_a_failure_that_is_not_retryable_is_not_retried(self, scene: Scene) -> None:
        await scene.job(retry=ONCE)
        claim = await scene.start(a_run(overrides=None))

        await scene.finish(failed(claim))

        assert await scene.status(claim.run_id) is Status.FAILED

    @pytest.mark.proves("S3")
    @pytest.mark.parametrize(
        ("overrides", "status"),
        [(b'{"retry":{"retries":0}}', Status.FAILED), (b'{"retry":{"retries":2}}', Status.SCHEDULED)],
    )
    async def test_options_given_for_a_run_override_those_of_the_job(
        self, scene: Scene, overrides: bytes, status: Status
    ) -> None:
        await scene.job(retry=ONCE)
        first = await scene.start(a_run(overrides=overrides))
        await scene.finish(to_retry(first))
        scene.clock.advance(SECOND)
        await scene.release()

        for again in await scene.claim():
            await scene.finish(to_retry(again))

        assert await scene.status(first.run_id) is status

    @pytest.mark.proves("S3")
    async def test_the_options_stored_at_the_end_of_an_attempt_apply(self, scene: Scene) -> None:
        await scene.job(retry=ONCE)
        fewer, more = await scene.start(a_run(overrides=None)), await scene.start(a_run(overrides=None))

        await scene.job(retry=NEVER)
        await scene.finish(to_retry(fewer))
        await scene.job(retry=ONCE)
        await scene.finish(to_retry(more))

        assert await scene.statuses(fewer.run_id, more.run_id) == [Status.FAILED, Status.SCHEDULED]

    @pytest.mark.proves("S3", "S9")
    async def test_the_options_of_a_child_are_those_that_its_tree_began_with(self, scene: Scene) -> None:
        await scene.job(retry=NEVER)
        root = await scene.start(a_run(job_id=ETL))
        definition_id = tree_definition_id(root.run_id, REPORT)
        child = a_child(root.run_id, "extract", job_id=REPORT, definition_id=definition_id, overrides=None)
        jobs = {REPORT: a_job_spec(retry=retries_after(MINUTE))}
        opening = an_opening(root, runs={"extract": child}, jobs=jobs)
        await scene.storage.trees.open([opening], at=scene.now)

        await scene.finish(to_retry(await claim_child(scene, opening.tree)))

        run = await scene.run(child.id)
        assert (run.status, run.due_at) == (Status.SCHEDULED, scene.after(MINUTE))

    @pytest.mark.parametrize(
        ("outcome", "reason"), [(Interrupted(), Reason.RESTART), (Lost(), Reason.LEASE_LOST)], ids=["stopped", "lost"]
    )
    async def test_a_run_that_may_start_only_once_is_not_retried(
        self, scene: Scene, outcome: Outcome, reason: Reason
    ) -> None:
        await scene.job(delivery=Delivery.AT_MOST_ONCE)
        claim = await scene.start()

        await scene.finish(a_finish(claim, outcome))

        run = await scene.run(claim.run_id)
        assert (run.status, run.reason) == (Status.FAILED, reason)

    async def test_a_run_of_a_deleted_job_is_not_retried(self, scene: Scene) -> None:
        await scene.job(retry=ONCE)
        claim = await scene.start(a_run(overrides=None))
        await scene.storage.definitions.delete_jobs([REPORT], at=scene.now)

        assert await scene.finish(to_retry(claim)) == []

        run = await scene.run(claim.run_id)
        assert (run.status, run.reason, run.exit_code) == (Status.FAILED, Reason.EXIT_CODE, 1)

    @pytest.mark.proves("M4")
    async def test_a_saved_finish_is_accepted_again_after_the_job_has_changed(self, scene: Scene) -> None:
        await scene.job(retry=ONCE)
        claim = await scene.start(a_run(overrides=None))
        await scene.finish(to_retry(claim))
        before = await scene.run(claim.run_id)
        await scene.job(retry=NEVER)

        assert await scene.finish(to_retry(claim)) == []

        assert await scene.run(claim.run_id) == before


async def claim_all(scene: Scene, *, known: Collection[DefinitionId] = ()) -> Claimed:
    """Claim all ready runs, with the definitions that are not in `known`."""
    worker = await scene.standby()
    return await scene.storage.work.claim(worker.id, ["default"], 100, known=known, at=scene.now)
