"""The promises of a storage about unreadable versions and executions, and about renames with unreadable rows."""

from collections.abc import AsyncIterator, Callable

import pytest

from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId, RunId, ScheduleUid
from foliot.domain.instant import LATEST, MINUTE
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.run import Ended, Status
from foliot.domain.tree.kind import Wanted
from foliot.domain.tree.settlement import Settlement
from foliot.domain.tree.tree import Tree
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.spec import Step, WorkflowSpec
from foliot.errors import RowUnreadable
from foliot.ports.definitions import Deployment
from foliot.ports.storage import Storage
from foliot.testing.builders import NIGHTLY, REPORT, a_run, every
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import ETL, child_of, opened, settle, shown, unsettled
from foliot.testing.conformance.storage.workflows import a_workflow, put

Spoil = Callable[..., None]
GARBAGE = ("{oops", "[]", '{"steps": 7}', "")


class UnreadableWorkflowContract(Contract):
    """Needs the fixture `spoil` in addition to those of all suites."""

    @pytest.fixture
    async def scene(self, storage: Storage, clock: VirtualClock) -> AsyncIterator[Scene]:
        """A scene without the final check of invariants, which cannot be done with unreadable rows."""
        yield Scene(storage, clock)  # noqa: PT022 - same type as the fixture that it overrides

    # -- versions

    @pytest.mark.parametrize("document", GARBAGE)
    async def test_putting_an_unreadable_workflow_adds_a_readable_version(
        self, scene: Scene, spoil: Spoil, document: str
    ) -> None:
        spec = a_workflow("extract")
        await put(scene, spec)
        spoil("workflows", "id = 'etl'", spec=document)

        again = await put(scene, spec)

        assert again.version == 2
        assert (await scene.storage.definitions.get_workflows([("etl", None)]))["etl", None] == again
        with pytest.raises(RowUnreadable, match="the row of version 1 of workflow 'etl' cannot be read"):
            await scene.storage.definitions.get_workflows([("etl", 1)])

    async def test_deploying_an_unreadable_workflow_repairs_its_jobs(self, scene: Scene, spoil: Spoil) -> None:
        both = Deployment({"etl": a_workflow("extract"), "other": a_workflow("load")})
        await scene.storage.definitions.deploy(both, at=scene.now)
        spoil("workflows", "id = 'etl'", spec="{oops")
        spoil("jobs", "id IN ('etl', 'etl.extract')", spec="{oops")

        versions = await scene.storage.definitions.deploy(both, at=scene.now)

        assert {name: known.version for name, known in versions.items()} == {"etl": 2, "other": 1}
        jobs = await scene.storage.definitions.get_jobs([ETL, JobId("etl.extract")])
        assert jobs[ETL].spec.spec == {"version": 2}

    async def test_reading_a_page_raises_with_the_id_of_an_unreadable_workflow(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        for name in ("a", "b", "c"):
            await put(scene, a_workflow("extract"), name)
        spoil("workflows", "id = 'b'", spec="{oops")
        page = scene.storage.definitions.page_workflows

        with pytest.raises(RowUnreadable) as caught:
            await page()

        assert caught.value.name == "b"
        assert [known.workflow_id for known in (*await page(limit=1), *await page(after="b"))] == ["a", "c"]

    async def test_deleting_an_unreadable_workflow_deletes_jobs_named_after_its_steps(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        specs = {"etl": a_workflow("extract", "load.x"), "etl.load": a_workflow("y"), "etlx": a_workflow("z")}
        await scene.storage.definitions.deploy(Deployment(specs), at=scene.now)
        await scene.job("etl.own", source="api")
        [waiting] = await scene.create(a_run(job_id=ETL, due_at=scene.after(MINUTE)))
        spoil("workflows", "id = 'etl'", spec="{oops")
        spoil("jobs", "id = 'etl'", spec="{oops")

        assert await scene.storage.definitions.jobs_behind("etl") == ({"etl", "etl.extract"}, set())
        assert await scene.storage.definitions.delete_workflows(["etl"], at=scene.now) == ["etl"]

        # `etl.load.x` may belong to `etl` or `etl.load`: the longer name wins.
        left = {job.id for job in await scene.storage.definitions.page_jobs()}
        assert left == {"etl.own", "etl.load", "etl.load.x", "etl.load.y", "etlx", "etlx.z"}
        assert await scene.status(waiting) is Status.CANCELLED
        assert [known.workflow_id for known in await scene.storage.definitions.page_workflows()] == ["etl.load", "etlx"]

    async def test_deleting_an_unreadable_workflow_keeps_unreadable_jobs(self, scene: Scene, spoil: Spoil) -> None:
        await scene.storage.definitions.deploy(Deployment({"etl": a_workflow("extract", "load")}), at=scene.now)
        await scene.job("etl.own", source="api")
        spoil("workflows", "id = 'etl'", spec="{oops")
        spoil("jobs", "id IN ('etl.load', 'etl.own')", spec="{oops")

        behind = await scene.storage.definitions.jobs_behind("etl")
        await scene.storage.definitions.delete_workflows(["etl"], at=scene.now)

        assert behind == ({"etl", "etl.extract"}, {"etl.load", "etl.own"})
        assert await scene.storage.definitions.get_jobs([ETL, JobId("etl.extract")]) == {}
        for name in ("etl.load", "etl.own"):
            with pytest.raises(RowUnreadable):
                await scene.storage.definitions.get_jobs([JobId(name)])

    async def test_deleting_a_workflow_deletes_its_unreadable_jobs(self, scene: Scene, spoil: Spoil) -> None:
        await scene.storage.definitions.deploy(Deployment({"etl": a_workflow("extract")}), at=scene.now)
        spoil("jobs", "id = 'etl.extract'", spec="{oops")

        assert await scene.storage.definitions.jobs_behind("etl") == ({"etl", "etl.extract"}, set())
        await scene.storage.definitions.delete_workflows(["etl"], at=scene.now)

        assert await scene.storage.definitions.page_jobs() == []
        assert await scene.storage.definitions.jobs_behind("etl") == (set(), set())

    # -- executions

    @pytest.mark.parametrize("document", ["{oops", "[]", "7", '{"params":7,"jobs":{}}', '{"params":{},"jobs":[]}'])
    async def test_an_unreadable_execution_has_its_readable_fields(
        self, scene: Scene, spoil: Spoil, document: str
    ) -> None:
        before = await shown(scene, (await opened(scene, params={"day": "today"})).run_id)
        sound = await opened(scene)
        spoil("tree_bodies", f"run_id = '{before.run_id}'", body=document)

        seen, _ = (await scene.storage.queries.get_executions([before.run_id, sound.run_id])).values()

        assert seen._replace(error=None) == before._replace(params={}, jobs={})
        assert seen.error is not None
        assert seen.error.message.startswith(f"the row of execution '{before.run_id}' cannot be read")
        assert [one.run_id for one in await scene.storage.queries.active_executions()] == [before.run_id, sound.run_id]

    async def test_an_unreadable_execution_can_be_cancelled_and_settled(self, scene: Scene, spoil: Spoil) -> None:
        execution = await opened(scene)
        spoil("tree_bodies", f"run_id = '{execution.run_id}'", body="{oops")
        spoil("trees", f"run_id = '{execution.run_id}'", held="{oops")

        assert await scene.cancel(execution.run_id) == [CancelAnswer.REQUESTED]
        [one] = await unsettled(scene)
        assert one.tree.error is not None
        assert one.tree.is_to_end(scene.now)
        assert await self.ended(scene, one.tree)

        assert await scene.status(execution.run_id) is Status.CANCELLED
        assert await scene.storage.queries.active_executions() == []

    async def test_an_unreadable_row_is_reported_to_the_tree_that_requested_it(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        bad, sound = await opened(scene), await opened(scene)
        await scene.cancel(await child_of(scene, bad), await child_of(scene, sound))
        spoil("steps", f"run_id = '{bad.run_id}' AND step = 'extract'", blockers="{oops")
        wants = [Wanted(run_id=tree.run_id, all_states=True) for tree in (bad, sound)]

        loaded = await scene.storage.trees.load(wants, at=scene.now)

        assert str(loaded[bad.run_id].error).startswith("the row of step 'extract' cannot be read")
        assert loaded[sound.run_id].error is None
        assert list(loaded[sound.run_id].states) == ["extract", "load"]
        # It does not stop a decision that needs only other steps.
        assert [(one.loaded.has_all_states, one.loaded.error) for one in await unsettled(scene)] == [
            (False, None),
            (True, None),
        ]

    async def test_unreadable_options_are_reported_to_the_tree_that_requested_them(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        bad, sound = await opened(scene), await opened(scene)
        spoil("runs", f"id = '{bad.run_id}'", overrides="{oops")
        wants = [Wanted(run_id=tree.run_id, overrides=True) for tree in (bad, sound)]

        loaded = await scene.storage.trees.load(wants, at=scene.now)

        assert str(loaded[bad.run_id].error).startswith(f"the row of run '{bad.run_id}' cannot be read")
        assert loaded[sound.run_id].error is None

    @pytest.mark.parametrize("column", ["held", "cancel_at"])
    async def test_an_unreadable_tree_is_returned_with_its_error_and_does_not_affect_others(
        self, scene: Scene, spoil: Spoil, column: str
    ) -> None:
        bad, sound = await opened(scene), await opened(scene)
        await scene.cancel(await child_of(scene, bad), await child_of(scene, sound))
        spoil("trees", f"run_id = '{bad.run_id}'", **{column: "[7]" if column == "held" else str(LATEST + 1)})

        first, second = await unsettled(scene)

        assert (first.tree.run_id, second.tree) == (bad.run_id, sound)
        assert str(first.tree.error).startswith(f"the row of execution '{bad.run_id}' cannot be read")

    async def test_an_unreadable_step_has_its_readable_fields(self, scene: Scene, spoil: Spoil) -> None:
        execution = await opened(scene)
        run_id = await child_of(scene, execution)
        spoil("steps", f"run_id = '{execution.run_id}' AND step = 'extract'", blockers="{oops")

        first, second = await scene.storage.trees.steps(execution.run_id)

        assert (first.name, first.state.run_id, first.status) == ("extract", run_id, Status.QUEUED)
        assert first.state.reason.startswith("the row of step 'extract' cannot be read")
        assert (second.name, second.state.reason) == ("load", "")
        with pytest.raises(RowUnreadable):
            await scene.storage.queries.step_states(execution.run_id)

    async def test_steps_are_shown_if_one_of_their_runs_is_unreadable(self, scene: Scene, spoil: Spoil) -> None:
        execution = await opened(scene)
        spoil("runs", f"id = '{await child_of(scene, execution)}'", payload="{oops")

        steps = await scene.storage.trees.steps(execution.run_id)

        assert [step.status for step in steps] == [Status.QUEUED, None]

    async def test_active_executions_are_read_page_by_page(self, scene: Scene) -> None:
        ids = [(await opened(scene)).run_id for _ in range(3)]
        other = (await opened(scene, a_run(job_id=JobId("other")))).run_id
        active = scene.storage.queries.active_executions

        assert [one.run_id for one in await active(limit=2)] == ids[:2]
        assert [one.run_id for one in await active(after=ids[1])] == [ids[2], other]
        assert [one.run_id for one in await active(workflow_id="etl", after=ids[0])] == ids[1:]

    # -- names

    async def test_a_job_with_an_unreadable_schedule_can_be_renamed(self, scene: Scene, spoil: Spoil) -> None:
        bad = await scene.schedule(every(60), schedule_id=f"{REPORT}:bad")
        await scene.schedule(every(60), schedule_id=f"{REPORT}:good")
        spoil("schedules", f"uid = '{bad.uid}'", spec="{oops")
        spoil("revisions", f"uid = '{bad.uid}'", spec="{oops")

        assert await self.rename(scene) == {REPORT: "new"}

        found = await scene.storage.definitions.page_schedules(job_id=JobId("new"))
        assert [(one.id, one.revision.spec.job_id) for one in found] == [("new:bad", None), ("new:good", "new")]

    @pytest.mark.parametrize("table", ["jobs", "workflows", "tree_bodies"])
    async def test_unreadable_rows_that_may_refer_to_a_job_do_not_stop_its_rename(
        self, scene: Scene, spoil: Spoil, table: str
    ) -> None:
        await scene.job(REPORT)
        named = WorkflowSpec(steps=(Step(name="only", job=REPORT),))
        for name in ("bad", "good"):
            await scene.job(f"{name}-gate", gate=Gate(depends_on=(REPORT,)))
            await put(scene, named, name)
        execution = await opened(scene)
        where, column = _place_of(table, execution.run_id)
        spoil(table, where, **{column: f'{{oops "{REPORT}"'})

        assert await self.rename(scene) == {REPORT: "new"}

        gate = (await scene.storage.definitions.get_jobs([JobId("good-gate")]))[JobId("good-gate")].spec.gate
        assert gate is not None
        assert gate.depends_on == ("new",)
        assert (await scene.storage.definitions.get_workflows([("good", 1)]))["good", 1].spec.steps[0].job == "new"

    # -- schedules without a readable copy

    async def test_a_schedule_without_a_readable_rule_is_shown_and_can_be_deleted(
        self, scene: Scene, spoil: Spoil
    ) -> None:
        await self.lost(scene, spoil)

        assert [(one.id, one.is_unreadable) for one in await scene.storage.definitions.page_schedules()] == [
            (NIGHTLY, True),
            ("other", False),
        ]
        with pytest.raises(RowUnreadable, match=f"the row of schedule '{NIGHTLY}' cannot be read"):
            await scene.pause(paused=True)
        assert await scene.storage.definitions.delete_schedules([NIGHTLY], at=scene.now) == [NIGHTLY]

        assert [one.id for one in await scene.storage.definitions.page_schedules()] == ["other"]

    @pytest.mark.parametrize("is_paused", [False, True])
    async def test_putting_a_schedule_without_a_readable_rule_replaces_it_and_keeps_it_paused(
        self, scene: Scene, spoil: Spoil, is_paused: bool
    ) -> None:
        await scene.schedule(every(60))
        await scene.fire_after(MINUTE)
        if is_paused:
            await scene.pause(paused=True)
        uid = await self.lost(scene, spoil)
        scene.clock.advance(MINUTE)

        put = await scene.schedule(every(60))

        assert put.uid != uid
        assert (put.created_at, put.paused_at is not None) == (scene.now, is_paused)
        assert await scene.stored() == put
        assert len(await scene.fire_after(MINUTE)) == (1 if is_paused else 2)
        assert len(await scene.ticks(uid)) == 1

    async def test_deleting_a_job_deletes_a_schedule_without_a_readable_rule(self, scene: Scene, spoil: Spoil) -> None:
        await self.lost(scene, spoil)

        assert await scene.storage.definitions.delete_jobs([REPORT], at=scene.now) == [REPORT]

        assert await scene.storage.definitions.page_schedules() == []

    # -- helpers

    async def lost(self, scene: Scene, spoil: Spoil) -> ScheduleUid:
        uid = (await scene.schedule(every(60))).uid
        await scene.schedule(every(60), schedule_id="other")
        spoil("schedules", f"uid = '{uid}'", spec="{oops")
        spoil("revisions", f"uid = '{uid}'", spec="{oops")
        return uid

    async def rename(self, scene: Scene) -> dict[JobId, JobId]:
        return await scene.storage.definitions.rename_jobs({REPORT: JobId("new")}, at=scene.now)

    async def ended(self, scene: Scene, tree: Tree) -> list[RunId]:
        steps = await scene.storage.trees.steps(tree.run_id)
        changed = {step.name: step.state._replace(result=Result.SKIPPED) for step in steps}
        over = tree._replace(open=0)
        return await settle(scene, Settlement(over, (), (), changed, ended=Ended(Status.CANCELLED)))


def _place_of(table: str, run_id: RunId) -> tuple[str, str]:
    places = {"jobs": ("id = 'bad-gate'", "spec"), "workflows": ("id = 'bad'", "spec")}
    return places.get(table, (f"run_id = '{run_id}'", "body"))
