"""The promises of a storage about the results of fanouts, and about items whose run was never created."""

import pytest

from foliot.domain.fanout.chunk import ItemChunk
from foliot.domain.fanout.item import item_key
from foliot.domain.fanout.result import ROOM, ChildResult, ResultQuery
from foliot.domain.fanout.spec import FANOUT
from foliot.domain.ids import IdSource, JobId, RunId, Token, WorkerId
from foliot.domain.instant import DAY, HOUR, Millis
from foliot.domain.job.definition import map_definition_id
from foliot.domain.job.job import Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.lease import Claim
from foliot.domain.run.run import Status
from foliot.domain.workflow.spec import GRAPH
from foliot.testing.builders import a_run, failed, lost, retention, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import a_child, an_opening

REDUCER = "reducer"
UNUSED_FOR_A_DAY = retention(items_age=Millis(DAY))
_ids = IdSource(iter(range(1, 1_000_000)).__next__)


class ResultContract(Contract):
    """Every storage must pass these tests unchanged."""

    is_pruned = True

    # -- results

    async def test_results_have_item_status_and_output_by_index(self, scene: Scene) -> None:
        parent, runs = await a_fanout(scene, 4)
        first, second, third, _ = await scene.claim()
        await scene.finish(succeeded(first, b'{"n":1}'), failed(second), succeeded(third))

        found = await scene.storage.items.results(parent, ResultQuery())

        assert found == [
            ChildResult(0, runs[0], Status.SUCCESS, 0, None, b'"item 0"', True, b'{"n":1}'),
            ChildResult(1, runs[1], Status.FAILED, found[1].exit_code, found[1].error, b'"item 1"', False),
            ChildResult(2, runs[2], Status.SUCCESS, 0, None, b'"item 2"', False),
        ]
        assert found[1].error

    async def test_the_reducer_is_no_result(self, scene: Scene) -> None:
        parent, _ = await a_fanout(scene, 2, has_reducer=True)
        await scene.finish(*map(succeeded, await scene.claim()))

        assert [one.index for one in await scene.storage.items.results(parent, ResultQuery())] == [0, 1]

    async def test_results_are_read_in_pages(self, scene: Scene) -> None:
        parent, _ = await a_fanout(scene, 5)
        await scene.finish(*map(succeeded, await scene.claim()))

        assert await indices(scene, parent, ResultQuery(limit=2)) == [[0, 1], [2, 3], [4]]

    async def test_a_page_ends_when_its_outputs_are_large(self, scene: Scene) -> None:
        parent, _ = await a_fanout(scene, 4)
        large = b'"' + b"x" * (ROOM // 2) + b'"'
        await scene.finish(*(succeeded(claim, large) for claim in await scene.claim()))

        assert await indices(scene, parent, ResultQuery()) == [[0], [1], [2], [3]]
        assert await indices(scene, parent, ResultQuery(has_outputs=False)) == [[0, 1, 2, 3]]

    async def test_results_without_outputs_say_which_children_have_one(self, scene: Scene) -> None:
        parent, _ = await a_fanout(scene, 2)
        first, second = await scene.claim()
        await scene.finish(succeeded(first, b"1"), succeeded(second))

        found = await scene.storage.items.results(parent, ResultQuery(has_outputs=False))

        assert [(one.has_output, one.output) for one in found] == [(True, None), (False, None)]

    async def test_failed_results_are_read_alone(self, scene: Scene) -> None:
        parent, _ = await a_fanout(scene, 6)
        claims = await scene.claim()
        await scene.finish(*(succeeded(one) if index % 2 else failed(one) for index, one in enumerate(claims)))

        assert await indices(scene, parent, ResultQuery(failed=True, limit=2)) == [[0, 2], [4]]

    async def test_results_of_named_items_are_read_if_they_have_ended(self, scene: Scene) -> None:
        parent, _ = await a_fanout(scene, 5)
        claims = await scene.claim()
        await scene.finish(*(succeeded(claims[index], str(index).encode()) for index in (0, 1, 3)))

        found = await scene.storage.items.results(parent, ResultQuery(only=(1, 2, 3)))

        assert [(one.index, one.output) for one in found] == [(1, b"1"), (3, b"3")]

    # -- results for workers

    async def test_a_reducer_reads_the_results_of_its_fanout_with_its_lease(self, scene: Scene) -> None:
        parent, runs = await a_fanout(scene, 3, has_reducer=True)
        reducer = await ended_but_reducer(scene)

        found = await read(scene, reducer)

        assert [(one.index, one.run_id, one.output) for one in found or ()] == [
            (index, run_id, b'{"n":1}') for index, run_id in enumerate(runs)
        ]
        assert found == await scene.storage.items.results(parent, ResultQuery())

    async def test_no_results_are_read_without_the_current_lease(self, scene: Scene) -> None:
        await a_fanout(scene, 3, has_reducer=True)
        reducer = await ended_but_reducer(scene)

        assert await read(scene, reducer, token=Token(reducer.token + 1)) is None
        assert await read(scene, reducer, worker_id=WorkerId("another")) is None
        assert await read(scene, reducer, run_id=RunId("another")) is None
        await scene.finish(lost(reducer))
        assert await read(scene, reducer) is None

    @pytest.mark.parametrize("kind", [GRAPH, "window"])
    async def test_a_child_of_another_kind_of_tree_reads_no_results(self, scene: Scene, kind: str) -> None:
        await a_fanout(scene, 2, kind=kind)
        first, second = await scene.claim()
        await scene.finish(succeeded(first))

        assert await read(scene, second) is None

    async def test_a_run_without_a_parent_reads_no_results(self, scene: Scene) -> None:
        assert await read(scene, await scene.start()) is None

    # -- fanouts over a job

    async def test_a_fanout_over_a_job_is_claimed_with_its_definition(self, scene: Scene) -> None:
        job_id = JobId("report")
        options = Options(queue=TREES_QUEUE)
        await scene.create(
            a_run(
                job_id=JobId("report.map"),
                options=options,
                definition_id=map_definition_id(job_id),
                overrides=b'{"spec":{"concurrency":2}}',
            )
        )

        worker = await scene.standby()
        [claim], definitions = await scene.storage.work.claim(worker.id, [TREES_QUEUE], 1, at=scene.now)

        definition = definitions[claim.definition_id].with_overrides(claim.run_id, claim.overrides)
        assert (definition.kind, definition.error) == (FANOUT, None)
        assert definition.spec == {"job": job_id, "concurrency": 2}

    # -- items without a run

    async def test_items_whose_run_was_never_created_are_removed_after_a_day(self, scene: Scene) -> None:
        unused = await stored(scene, 3)
        scene.clock.advance(DAY - HOUR)
        await scene.prune_to_the_end(UNUSED_FOR_A_DAY, limit=10)
        assert await scene.storage.items.count(unused) == 3

        scene.clock.advance(2 * HOUR)
        await scene.prune_to_the_end(UNUSED_FOR_A_DAY, limit=10)

        assert await scene.storage.items.count(unused) is None
        assert await scene.storage.items.read(unused, 0, 10) == []

    async def test_items_of_a_run_are_kept(self, scene: Scene) -> None:
        used = [await stored(scene, 2, exists=True) for _ in range(5)]
        unused = await stored(scene, 2)
        scene.clock.advance(2 * DAY)

        await scene.prune_to_the_end(UNUSED_FOR_A_DAY, limit=2)

        assert [await scene.storage.items.count(run_id) for run_id in (*used, unused)] == [2, 2, 2, 2, 2, None]

    async def test_many_unused_items_are_removed_in_pieces(self, scene: Scene) -> None:
        unused = await stored(scene, 150)
        another = await stored(scene, 1)
        scene.clock.advance(2 * DAY)

        first = await scene.prune(UNUSED_FOR_A_DAY)
        assert first.is_more
        assert 0 < len(await scene.storage.items.read(unused, 0, 200)) < 150
        await scene.prune_to_the_end(UNUSED_FOR_A_DAY, limit=100)

        assert [await scene.storage.items.read(run_id, 0, 200) for run_id in (unused, another)] == [[], []]


async def a_fanout(
    scene: Scene, count: int, *, has_reducer: bool = False, kind: str = FANOUT
) -> tuple[RunId, list[RunId]]:
    """Open a tree with one child per item, and return it with the children. The reducer starts with them."""
    claim = await scene.start(a_run())
    keys = [item_key(index) for index in range(count)] + [REDUCER] * has_reducer
    runs = {key: a_child(claim.run_id, key, payload=f'"item {index}"'.encode()) for index, key in enumerate(keys)}
    await scene.storage.trees.open([an_opening(claim, steps=keys, runs=runs, kind=kind)], at=scene.now)
    return claim.run_id, [runs[key].id for key in keys if key != REDUCER]


async def ended_but_reducer(scene: Scene) -> Claim:
    """End all children but the reducer, and return its claim."""
    *children, reducer = await scene.claim()
    await scene.finish(*(succeeded(child, b'{"n":1}') for child in children))
    return reducer


async def indices(scene: Scene, run_id: RunId, query: ResultQuery) -> list[list[int]]:
    """Read all pages, and return the indices in each."""
    pages: list[list[int]] = []
    while page := await scene.storage.items.results(run_id, query):
        pages.append([one.index for one in page])
        query = query._replace(after=page[-1].index)
    return pages


async def read(
    scene: Scene,
    claim: Claim,
    *,
    run_id: RunId | None = None,
    worker_id: WorkerId | None = None,
    token: Token | None = None,
) -> list[ChildResult] | None:
    lease = run_id or claim.run_id, worker_id or claim.worker_id, token or claim.token
    return await scene.storage.work.results(*lease, ResultQuery())


async def stored(scene: Scene, count: int, *, exists: bool = False) -> RunId:
    """Store items, one in each chunk, for a run that has the current time in its id."""
    run_id = RunId(_ids.make(scene.now))
    for index in range(count):
        await scene.storage.items.append(run_id, ItemChunk(index, [b"1"], is_last=index == count - 1))
    if exists:
        await scene.create(a_run(id=run_id))
    return run_id
