"""The promises of a storage about trees of any kind: notes, nesting, reading and settling."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import MINUTE, Millis
from foliot.domain.run.run import NewRun, Status
from foliot.domain.tree.kind import Ancestry, Loaded, Wanted
from foliot.domain.tree.tree import Note, Tree
from foliot.domain.workflow.output import RunOutput, StepOutput
from foliot.domain.workflow.progress import StepState
from foliot.ports.pages import RunFilter
from foliot.ports.trees import PREFETCHED_STEPS
from foliot.testing.builders import REPORT, a_run, a_run_id, succeeded
from foliot.testing.conformance.storage.scene import Another, Contract, Scene
from foliot.testing.conformance.storage.tree_builders import (
    ETL,
    a_child,
    a_settlement,
    an_opening,
    child_of,
    claim_child,
    final_settlement,
    opened,
    settle,
    unsettled,
)
from foliot.testing.conformance.storage.workflows import a_workflow, put

MANY = 50
GONE = a_run_id()


class TreeContract(Contract):
    """Every storage must pass these tests unchanged."""

    # -- reading

    async def test_a_tree_is_read_as_it_was_opened(self, scene: Scene) -> None:
        run = a_run(job_id=ETL, scheduled_for=scene.after(-MINUTE))
        fields = {"version": 7, "held": ("job:etl", "key:disk"), "progress": b"[1]", "deadline": scene.after(MINUTE)}
        tree = await opened(scene, run, **fields)
        await scene.cancel(await child_of(scene, tree))

        [one] = await unsettled(scene)

        assert one.tree == tree
        assert one.tree.planned == run.scheduled_for

    async def test_a_tree_has_the_current_revision_of_its_job(self, scene: Scene) -> None:
        tree = await opened(scene)
        await scene.cancel(await child_of(scene, tree))
        assert [one.tree.revision for one in await unsettled(scene)] == [None]

        job = await scene.job(ETL)

        assert [one.tree.revision for one in await unsettled(scene)] == [job.revision]

    async def test_a_bounded_number_of_notes_is_read_oldest_first(self, scene: Scene) -> None:
        names = tuple("abcde")
        claim = await scene.start(a_run(job_id=ETL))
        runs = {name: a_child(claim.run_id, name) for name in names}
        await scene.storage.trees.open([an_opening(claim, steps=names, runs=runs)], at=scene.now)
        await scene.finish(*map(succeeded, await scene.claim()))

        async def notes(limit: int) -> tuple[Sequence[Note], bool]:
            [one] = (await scene.storage.trees.unsettled(10, notes_per_tree=limit, at=scene.now)).trees
            return one.notes.items, one.notes.has_more

        all_notes = [Note(runs[name].id, name, Status.SUCCESS, 0, Millis(0)) for name in names]
        assert await notes(2) == (all_notes[:2], True)
        assert await notes(5) == (all_notes, False)

    async def test_trees_with_notes_are_read_page_by_page(self, scene: Scene) -> None:
        trees = [await opened(scene) for _ in range(5)]
        await scene.cancel(*[await child_of(scene, tree) for tree in trees])

        pages = [await scene.storage.trees.unsettled(2, notes_per_tree=1, at=scene.now)]
        while (after := pages[-1].after) is not None:
            pages.append(await scene.storage.trees.unsettled(2, notes_per_tree=1, after=after, at=scene.now))

        ids = [tree.run_id for tree in trees]
        assert [[one.tree.run_id for one in page.trees] for page in pages] == [ids[:2], ids[2:4], ids[4:]]
        assert {page.now for page in pages} == {scene.now}

    async def test_a_small_tree_is_read_with_all_step_states(self, scene: Scene) -> None:
        small = await opened(scene)
        large = await opened(scene, steps=[f"step{number}" for number in range(PREFETCHED_STEPS + 1)])
        await scene.storage.definitions.pause_step(ETL, "load", paused=True)
        parts = [await child_of(scene, small), await child_of(scene, large, "step0")]
        await scene.cancel(*parts)

        first, second = [one.loaded for one in await unsettled(scene)]

        assert first.states == {"extract": StepState(0, run_id=parts[0]), "load": StepState(1)}
        assert (first.has_all_states, first.paused) == (True, {"load"})
        assert (second.states, second.has_all_states) == ({}, False)

    async def test_rows_requested_by_several_trees_are_read_in_one_call(self, scene: Scene) -> None:
        job = await scene.job()
        await scene.storage.definitions.pause_job(REPORT, paused=True)
        version = await put(scene, a_workflow("extract"))
        first, second = await opened(scene, params={"day": 1}), await opened(scene)
        claim = await claim_child(scene, first)
        await scene.finish(succeeded(claim, b"[1]"))
        key = (ETL, 1, None)
        wants = [
            Wanted(run_id=first.run_id, outputs=frozenset({"extract", "x"}), states=frozenset({"load"}), body=True),
            Wanted(run_id=second.run_id, jobs=frozenset({REPORT, JobId("x")}), paused_in=ETL, definition=key),
            Wanted(run_id=(asking := a_run_id()), steps_of=first.run_id, all_states=True, parent=second.run_id),
        ]

        found = await scene.storage.trees.load(wants, at=scene.now)

        output = StepOutput(None, claim.run_id, RunOutput(exit_code=0, output=b"[1]"))
        body = found[first.run_id].body or b""
        assert msgspec.json.decode(body) == {"params": {"day": 1}, "jobs": {}}
        assert found == {
            first.run_id: Loaded(outputs={"extract": output}, states={"load": StepState(1)}, body=body),
            second.run_id: Loaded(
                jobs={REPORT: job.spec, JobId("x"): None},
                paused_jobs=frozenset({REPORT}),
                paused=frozenset(),
                definitions={key: version.spec},
            ),
            asking: Loaded(
                states={"extract": StepState(0, run_id=claim.run_id), "load": StepState(1)},
                has_all_states=True,
                parent=Ancestry(second.run_id, 0, ()),
            ),
        }

    async def test_loading_missing_rows_returns_empty_values(self, scene: Scene) -> None:
        asking = a_run_id()
        wanted = Wanted(
            run_id=asking,
            all_states=True,
            outputs=frozenset({"x"}),
            overrides=True,
            definition=(ETL, 1, None),
        )

        found = await scene.storage.trees.load([wanted], at=scene.now)

        assert found == {asking: Loaded(has_all_states=True, has_overrides=True, definitions={(ETL, 1, None): None})}

    @pytest.mark.parametrize(
        "wanted", [Wanted(run_id=GONE, body=True), Wanted(run_id=GONE, parent=GONE)], ids=["body", "parent"]
    )
    async def test_loading_for_a_missing_tree_returns_an_error(self, scene: Scene, wanted: Wanted) -> None:
        found = await scene.storage.trees.load([wanted], at=scene.now)

        assert found.keys() == {GONE}
        assert str(found[GONE].error).startswith(f"the row of execution '{GONE}' cannot be read")

    async def test_a_tree_can_load_the_options_given_for_its_run(self, scene: Scene) -> None:
        tree = await opened(scene, a_run(job_id=ETL, overrides=b'{"priority":7}'))

        found = await scene.storage.trees.load([Wanted(run_id=tree.run_id, overrides=True)], at=scene.now)

        assert found[tree.run_id].overrides == b'{"priority":7}'

    # -- nesting

    async def test_all_runs_of_nested_trees_have_the_outermost_tree_as_root(self, scene: Scene) -> None:
        outer = await opened(scene)
        inner = await nested(scene, outer)
        leaf = await child_of(scene, inner)

        run = await scene.run(leaf)

        assert (run.parent_id, run.root_id) == (inner.run_id, outer.run_id)
        below = await scene.storage.queries.page_runs(RunFilter(root_id=outer.run_id))
        assert [run.id for run in below] == [leaf, inner.run_id]
        wanted = Wanted(run_id=leaf, parent=inner.run_id)
        loaded = await scene.storage.trees.load([wanted], at=scene.now)
        assert loaded[leaf].parent == Ancestry(outer.run_id, 1, inner.held)

    @pytest.mark.proves("D5", "D9")
    async def test_a_note_is_added_only_to_the_parent(self, scene: Scene) -> None:
        outer = await opened(scene)
        inner = await nested(scene, outer)

        await scene.finish(succeeded(await claim_child(scene, inner)))
        assert await noted_trees(scene) == [(inner.run_id, "extract")]
        await settle(scene, final_settlement(inner))

        assert await noted_trees(scene) == [(outer.run_id, "extract")]

    @pytest.mark.proves("S5")
    async def test_a_tree_cancelled_by_its_parent_is_unsettled(self, scene: Scene) -> None:
        outer = await opened(scene)
        inner = await nested(scene, outer)

        assert await settle(scene, a_settlement(outer, cancels=[inner.run_id])) == [outer.run_id]

        assert await scene.status(inner.run_id) is Status.CANCELLING
        [one] = await unsettled(scene)
        assert (one.tree.run_id, one.tree.cancel_at, list(one.notes.items)) == (
            inner.run_id,
            scene.now,
            [Note(inner.run_id)],
        )
        assert await settle(scene, final_settlement(inner)) == []

    async def test_trees_that_cancel_each_others_children_settle_concurrently(
        self, scene: Scene, another: Another
    ) -> None:
        roots = await open_all(scene, [a_run(job_id=ETL) for _ in range(MANY)])
        children = await nest_all(scene, roots)
        other = Scene(await another(), scene.clock)
        down = [a_settlement(tree, cancels=[child.run_id]) for tree, child in zip(roots, children[::-1], strict=True)]
        up = [a_settlement(tree, cancels=[root.run_id]) for tree, root in zip(children[::-1], roots, strict=True)]

        saved = await asyncio.gather(settle(scene, *down), settle(other, *up))

        winners = {run_id for ids in saved for run_id in ids}
        cancelled = [run_id for one in (*down, *up) if one.tree.run_id in winners for run_id in one.cancels]
        assert set(await scene.statuses(*cancelled)) == {Status.CANCELLING}
        assert {one.tree.run_id for one in await unsettled(scene, 2 * MANY)} == set(cancelled)
        # The first saved settlement raised the state of the tree that the other one was decided on.
        assert len(cancelled) == MANY

    # -- limits

    @pytest.mark.proves("S6")
    async def test_a_child_exempt_from_a_limit_of_its_ancestor_can_start(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL, concurrency_key="disk"))
        runs = {
            "exempt": a_child(claim.run_id, "exempt", concurrency_key="disk", exempt=claim.limit_keys),
            "plain": a_child(claim.run_id, "plain", concurrency_key="disk"),
        }
        opening = an_opening(claim, steps=tuple(runs), runs=runs, held=claim.limit_keys)

        await scene.storage.trees.open([opening], at=scene.now)

        assert [(one.run_id, one.limit_keys) for one in await scene.claim()] == [(runs["exempt"].id, ())]

    @pytest.mark.proves("L10")
    async def test_the_end_of_an_exempt_child_frees_no_place(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL, concurrency_key="disk"))
        child = a_child(claim.run_id, "extract", concurrency_key="disk", exempt=claim.limit_keys)
        opening = an_opening(claim, runs={"extract": child}, held=claim.limit_keys)
        await scene.storage.trees.open([opening], at=scene.now)
        [waiting] = await scene.create(a_run(concurrency_key="disk"))

        await scene.finish(succeeded(await claim_child(scene, opening.tree)))
        assert await scene.ready() == []
        await settle(scene, final_settlement(opening.tree))

        assert await scene.ready() == [waiting]

    # -- saving

    @pytest.mark.proves("D6")
    async def test_progress_is_saved_together_with_the_state(self, scene: Scene) -> None:
        tree = await opened(scene, progress=b'{"done":0}')
        await scene.cancel(await child_of(scene, tree))

        first = a_settlement(tree._replace(progress=b'{"done":1}'))
        late = a_settlement(tree._replace(progress=b'{"done":2}'))
        assert [await settle(scene, one) for one in (first, late)] == [[tree.run_id], []]

        [one] = await unsettled(scene)
        assert (one.tree.state, msgspec.json.decode(one.tree.progress or b"")) == (tree.state + 1, {"done": 1})

    async def test_a_run_whose_job_was_deleted_is_cancelled_instead_of_opened(self, scene: Scene) -> None:
        job = await scene.job(ETL)
        claim = await scene.start(a_run(job_id=ETL))
        await scene.storage.definitions.delete_jobs([ETL], at=scene.now)

        assert await scene.storage.trees.open([an_opening(claim, revision=job.revision)], at=scene.now) == []

        assert await scene.status(claim.run_id) is Status.CANCELLED
        assert await scene.storage.queries.get_executions([claim.run_id]) == {}


async def nested(scene: Scene, outer: Tree) -> Tree:
    """Open the first step of a tree as a tree."""
    claim = await claim_child(scene, outer)
    opening = an_opening(claim, held=("job:inner",))
    assert await scene.storage.trees.open([opening], at=scene.now) == []
    return opening.tree


async def open_all(scene: Scene, runs: Sequence[NewRun]) -> list[Tree]:
    await scene.create(*runs)
    return await _open_claimed(scene, [run.id for run in runs])


async def nest_all(scene: Scene, trees: Sequence[Tree]) -> list[Tree]:
    """Do `nested` for many trees, in the same order."""
    found = await _open_claimed(scene, [await child_of(scene, tree) for tree in trees])
    assert [tree.root_id for tree in found] == [tree.run_id for tree in trees]
    return found


async def _open_claimed(scene: Scene, run_ids: Sequence[RunId]) -> list[Tree]:
    claims = {claim.run_id: claim for claim in await scene.claim(len(run_ids), only=run_ids)}
    openings = [an_opening(claims[run_id]) for run_id in run_ids]
    assert await scene.storage.trees.open(openings, at=scene.now) == []
    return [opening.tree for opening in openings]


async def noted_trees(scene: Scene) -> list[tuple[RunId, str | None]]:
    """Return the trees with notes, and the children of the notes."""
    return [(one.tree.run_id, note.child_key) for one in await unsettled(scene) for note in one.notes.items]
