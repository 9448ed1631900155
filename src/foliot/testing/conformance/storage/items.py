"""The promises of a storage about the items of fanouts and the runs of their children."""

import pytest

from foliot.domain.fanout.chunk import ItemChunk
from foliot.domain.fanout.item import item_key
from foliot.domain.ids import RunId
from foliot.domain.instant import HOUR
from foliot.domain.run.limits import Limit
from foliot.domain.run.run import Status
from foliot.domain.tree.abandonment import abandon
from foliot.domain.tree.kind import ChildRun, Wanted
from foliot.domain.workflow.spec import GRAPH
from foliot.ports.items import ItemRun
from foliot.testing.builders import a_run, a_run_id, cancelled, failed, lost, retention, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import a_child, an_opening, final_settlement, settle, unsettled

LETTERS = [b'"a"', b'"b"', b'"c"', b'"d"', b'"e"']


class ItemContract(Contract):
    """Every storage must pass these tests unchanged."""

    is_pruned = True

    # -- items

    async def test_items_are_read_in_order_across_chunks(self, scene: Scene) -> None:
        run_id = await stored(scene, LETTERS[:2], LETTERS[2:4], LETTERS[4:])
        items = scene.storage.items

        assert await items.count(run_id) == 5
        assert await items.read(run_id, 0, 10) == LETTERS
        assert await items.read(run_id, 1, 3) == LETTERS[1:4]
        assert await items.read(run_id, 4, 1) == LETTERS[4:]
        assert await items.read(run_id, 5, 1) == []

    async def test_items_keep_their_json(self, scene: Scene) -> None:
        documents = [b'{"a":[1,null,"\\u0000"]}', b"null", b"3.5", '"käse"'.encode(), b'{"item_base64":"/w=="}']
        run_id = await stored(scene, documents)

        assert await scene.storage.items.read(run_id, 0, 10) == documents

    @pytest.mark.proves("F1")
    async def test_items_without_the_last_chunk_do_not_count(self, scene: Scene) -> None:
        run_id = a_run_id()
        await scene.storage.items.append(run_id, ItemChunk(0, LETTERS[:2]))

        assert await scene.storage.items.count(run_id) is None

    async def test_a_first_chunk_replaces_what_an_earlier_attempt_has_left(self, scene: Scene) -> None:
        run_id = a_run_id()
        await scene.storage.items.append(run_id, ItemChunk(0, LETTERS[:1]))
        await scene.storage.items.append(run_id, ItemChunk(1, LETTERS[1:2]))

        await scene.storage.items.append(run_id, ItemChunk(0, LETTERS[4:], is_last=True))

        assert await scene.storage.items.read(run_id, 0, 10) == LETTERS[4:]

    @pytest.mark.proves("F1")
    async def test_complete_items_are_never_replaced(self, scene: Scene) -> None:
        run_id = await stored(scene, LETTERS[:2])

        assert await scene.storage.items.append(run_id, ItemChunk(0, LETTERS[2:], is_last=True))

        assert await scene.storage.items.read(run_id, 0, 10) == LETTERS[:2]

    async def test_no_items_are_stored_as_none(self, scene: Scene) -> None:
        run_id = await stored(scene, [])

        assert await scene.storage.items.count(run_id) == 0
        assert await scene.storage.items.read(run_id, 0, 10) == []

    async def test_a_stale_claim_stores_nothing(self, scene: Scene) -> None:
        claim = await scene.start(a_run())
        await scene.finish(lost(claim))

        is_stored = await scene.storage.items.append(claim.run_id, ItemChunk(0, LETTERS, is_last=True), claim=claim)

        assert not is_stored
        assert await scene.storage.items.count(claim.run_id) is None

    async def test_a_current_claim_stores_items(self, scene: Scene) -> None:
        claim = await scene.start(a_run())

        assert await scene.storage.items.append(claim.run_id, ItemChunk(0, LETTERS, is_last=True), claim=claim)

        assert await scene.storage.items.count(claim.run_id) == 5

    async def test_a_decision_loads_the_items_that_it_wants(self, scene: Scene) -> None:
        first, second = await stored(scene, LETTERS), await stored(scene, LETTERS[3:])

        loaded = await scene.storage.trees.load(
            [Wanted(run_id=first, items=(1, 2)), Wanted(run_id=second, items=(0, 9))]
        )

        assert loaded[first].items == LETTERS[1:3]
        assert loaded[second].items == LETTERS[3:]

    async def test_items_are_removed_with_their_run(self, scene: Scene) -> None:
        claim = await scene.start(a_run())
        await scene.storage.items.append(claim.run_id, ItemChunk(0, LETTERS, is_last=True))
        await scene.finish(succeeded(claim))
        scene.clock.advance(2 * HOUR)

        await scene.prune(retention(runs_age=HOUR))

        assert await scene.storage.items.count(claim.run_id) is None

    # -- children

    async def test_children_are_read_by_key_with_item_and_output(self, scene: Scene) -> None:
        parent, runs = await with_children(scene, 3)
        first, second, _ = await scene.claim()
        await scene.finish(succeeded(first, b'{"n":1}'), failed(second))

        found = await children(scene, parent)

        assert [(one.child_key, one.run_id, one.document) for one in found] == [
            (item_key(index), run_id, LETTERS[index]) for index, run_id in enumerate(runs)
        ]
        assert [one.status for one in found] == [Status.SUCCESS, Status.FAILED, Status.RUNNING]
        assert [one.output for one in found] == [b'{"n":1}', None, None]

    async def test_started_items_are_those_with_a_child(self, scene: Scene) -> None:
        parent, _ = await with_children(scene, 3)

        assert await scene.storage.items.started(parent) == 3
        assert await scene.storage.items.started(a_run_id()) == 0

    async def test_unsuccessful_children_are_read_alone(self, scene: Scene) -> None:
        parent, runs = await with_children(scene, 5)
        claims = await scene.claim()
        await scene.finish(*(succeeded(one) if index % 2 else failed(one) for index, one in enumerate(claims)))

        pages = [await scene.storage.items.children(parent, limit=2, unsuccessful=True)]
        pages.append(await scene.storage.items.children(parent, after=pages[0][-1].child_key, unsuccessful=True))

        assert [[one.run_id for one in page] for page in pages] == [[runs[0], runs[2]], [runs[4]]]

    async def test_a_decision_finds_the_runs_of_children_by_key(self, scene: Scene) -> None:
        parent, runs = await with_children(scene, 2)
        await scene.claim(1)

        loaded = await scene.storage.trees.load([Wanted(run_id=parent, children=frozenset(map(item_key, range(2))))])

        assert loaded[parent].children == {
            item_key(0): ChildRun(runs[0], has_started=True),
            item_key(1): ChildRun(runs[1], has_started=False),
        }

    @pytest.mark.proves("R0-60", "F2")
    async def test_children_run_up_to_the_limit_that_they_share(self, scene: Scene) -> None:
        _, runs = await with_children(scene, 5, shares=(Limit("children:x", 2),))
        first = await scene.claim()
        second = await scene.claim()
        await scene.finish(succeeded(first[0]))

        third = await scene.claim()

        assert [[claim.run_id for claim in claims] for claims in (first, second, third)] == [runs[:2], [], [runs[2]]]

    async def test_open_children_are_those_that_have_not_ended(self, scene: Scene) -> None:
        parent, runs = await with_children(scene, 5)
        first, second, _ = await scene.claim(3)
        await scene.finish(succeeded(first), failed(second))
        await scene.cancel(runs[4])

        assert await scene.storage.trees.open_children(parent) == runs[2:4]

    async def test_a_tree_without_steps_is_abandoned_with_its_children(self, scene: Scene) -> None:
        parent, runs = await with_children(scene, 3, kind="fanout")
        claims = await scene.claim(2)
        await scene.finish(succeeded(claims[0]))
        await scene.cancel(parent)

        await abandon_trees(scene)
        assert await scene.statuses(parent, *runs) == [
            Status.CANCELLING,
            Status.SUCCESS,
            Status.CANCELLING,
            Status.CANCELLED,
        ]
        await scene.finish(cancelled(claims[1]))
        await abandon_trees(scene)

        assert await scene.statuses(parent, runs[1]) == [Status.CANCELLED, Status.CANCELLED]
        assert await unsettled(scene) == []

    async def test_the_children_of_a_removed_tree_are_removed(self, scene: Scene) -> None:
        parent, _ = await with_children(scene, 2)
        await scene.finish(*map(succeeded, await scene.claim()))
        [one] = await unsettled(scene)
        await settle(scene, final_settlement(one.tree, steps=()))
        scene.clock.advance(2 * HOUR)

        await scene.prune(retention(executions_age=HOUR))

        assert await children(scene, parent) == []


async def stored(scene: Scene, *chunks: list[bytes]) -> RunId:
    """Store items in these chunks, and return their run."""
    run_id, first = a_run_id(), 0
    for nth, documents in enumerate(chunks, 1):
        await scene.storage.items.append(run_id, ItemChunk(first, documents, is_last=nth == len(chunks)))
        first += len(documents)
    return run_id


async def abandon_trees(scene: Scene) -> None:
    """End trees as if they could not be read."""
    for one in await unsettled(scene):
        open_children = await scene.storage.trees.open_children(one.tree.run_id)
        await settle(scene, abandon(one.tree, one.notes.items, open_children))


async def with_children(scene: Scene, count: int, *, kind: str = GRAPH, **fields: object) -> tuple[RunId, list[RunId]]:
    """Open a tree with one child per item, and return it with the children. Only a graph has steps."""
    claim = await scene.start(a_run())
    keys = [item_key(index) for index in range(count)]
    runs = {
        key: a_child(claim.run_id, key, payload=document, **fields)
        for key, document in zip(keys, LETTERS, strict=False)
    }
    opening = an_opening(claim, steps=keys, runs=runs, kind=kind)
    if kind != GRAPH:
        opening = opening._replace(steps={}, tree=opening.tree._replace(size=0, version=0))
    await scene.storage.trees.open([opening], at=scene.now)
    return claim.run_id, [runs[key].id for key in keys]


async def children(scene: Scene, run_id: RunId) -> list[ItemRun]:
    return await scene.storage.items.children(run_id)
