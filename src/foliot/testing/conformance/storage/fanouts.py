"""The promises of a storage about pages of fanouts, and about lists with and without children."""

import msgspec

from foliot.domain.fanout.chunk import ItemChunk
from foliot.domain.fanout.item import item_key
from foliot.domain.fanout.item_status import ItemStatus
from foliot.domain.fanout.kind import ITEM_TRIGGER, REDUCER_KEY, REDUCER_TRIGGER, FanoutBody
from foliot.domain.fanout.progress import Progress
from foliot.domain.fanout.spec import FANOUT, FanoutFields
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Millis
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.reference import NewestRun, RunById
from foliot.domain.run.run import NewRun, Status
from foliot.domain.tree.run_kind import FanoutRole, RunKind, kind_of, role_of
from foliot.domain.tree.settlement import Opening
from foliot.domain.tree.tree import Tree
from foliot.ports.fanouts import FanoutDetails, ItemFilter, ItemsPage
from foliot.ports.health import Depth
from foliot.ports.items import ItemRun
from foliot.ports.pages import Matches, RunDetails, RunFilter, RunListFilter
from foliot.testing.builders import a_run, a_run_id, failed, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import a_child

JOB = JobId("each")
LETTERS = ("a", "b", "c", "d", "e")


class FanoutQueryContract(Contract):
    """Every storage must pass these tests unchanged."""

    is_pruned = True
    """Its fanouts are built by hand, in the middle of their life, so the invariants of decided ones do not hold."""

    # -- kinds

    async def test_runs_of_a_fanout_have_their_kinds_and_roles(self, scene: Scene) -> None:
        fanout, children = await a_fanout(scene, with_reducer=True)

        found = await scene.storage.queries.get_runs([fanout, children[0], children[-1]])

        runs = [found[run_id] for run_id in (fanout, children[0], children[-1])]
        assert [kind_of(run) for run in runs] == [RunKind.FANOUT, RunKind.ITEM, RunKind.REDUCER]
        assert [role_of(run) for run in runs] == [FanoutRole.PARENT, FanoutRole.CHILD, FanoutRole.REDUCER]

    async def test_a_fanout_that_was_not_opened_has_the_kind_of_its_job(self, scene: Scene) -> None:
        await scene.job(JOB, kind=FANOUT, spec={"items": ["a"], "command": "true"})
        [waiting, other] = await scene.create(a_run(job_id=JOB, queue=TREES_QUEUE), a_run(queue=TREES_QUEUE))

        assert kind_of(await scene.run(waiting)) is RunKind.FANOUT
        assert kind_of(await scene.run(other)) is RunKind.EXECUTION

    async def test_a_fanout_is_no_execution(self, scene: Scene) -> None:
        fanout, children = await a_fanout(scene)
        queries = scene.storage.queries

        assert (await queries.execution(fanout)).executions == []
        assert (await queries.execution(children[0])).executions == []
        assert (await queries.executions()).executions == []
        assert await queries.get_executions([fanout]) == {}
        assert await queries.active_executions(workflow_id=JOB) == []

    # -- lists

    async def test_lists_of_roots_leave_out_children(self, scene: Scene) -> None:
        fanout, children = await a_fanout(scene)
        alone = (await scene.start()).run_id
        await scene.finish(failed((await scene.claim(1, only=[children[0]]))[0]))

        roots = await scene.storage.queries.page_runs(RunFilter(roots=True))
        running = await scene.storage.queries.page_runs(RunFilter(roots=True, status=Status.RUNNING))

        assert {run.id for run in roots} == {run.id for run in running} == {fanout, alone}
        assert await ids(scene, RunFilter(roots=True, status=Status.FAILED)) == []
        assert await ids(scene, RunFilter(roots=True, status=Status.QUEUED)) == []
        assert await ids(scene, RunFilter(status=Status.FAILED)) == [children[0]]

    async def test_roots_are_paged_newest_first(self, scene: Scene) -> None:
        created = sorted(await scene.create(*(a_run() for _ in range(5))))

        first = await ids(scene, RunFilter(roots=True, limit=2))
        second = await ids(scene, RunFilter(roots=True, limit=2, before=first[-1]))

        assert [first, second] == [created[:-3:-1], created[-3:-5:-1]]

    async def test_children_are_listed_by_their_parent(self, scene: Scene) -> None:
        fanout, children = await a_fanout(scene)
        await a_fanout(scene)
        [claim] = await scene.claim(1, only=[children[1]])
        await scene.finish(failed(claim))

        listed = await scene.storage.queries.runs(RunFilter(), parent=RunById(fanout))
        newest = await ids(scene, RunFilter(parent_id=fanout, limit=1))

        assert isinstance(listed, list)
        assert [run.id for run in listed] == sorted(children, reverse=True)
        assert newest == [max(children)]
        assert await ids(scene, RunFilter(parent_id=fanout, status=Status.FAILED)) == [children[1]]
        assert await ids(scene, RunFilter(parent_id=fanout, status=Status.RUNNING)) == []
        assert await scene.storage.queries.runs(RunFilter(), parent=RunById(a_run_id())) == Matches(())

    async def test_children_are_found_by_kind(self, scene: Scene) -> None:
        fanout, children = await a_fanout(scene, with_reducer=True)

        assert await of_kind(scene, RunKind.FANOUT) == [fanout]
        assert await of_kind(scene, RunKind.ITEM) == sorted(children[:-1], reverse=True)
        assert await of_kind(scene, RunKind.REDUCER) == [children[-1]]
        assert await of_kind(scene, RunKind.STEP) == []

    async def test_the_newest_run_of_all_is_no_child(self, scene: Scene) -> None:
        fanout, _ = await a_fanout(scene)

        found = await scene.storage.queries.find_run(NewestRun(None))

        assert not isinstance(found, Matches)
        assert found.run.id == fanout

    async def test_counts_and_the_overview_leave_out_children(self, scene: Scene) -> None:
        fanout, children = await a_fanout(scene)
        running, other = await scene.claim(2, only=children)
        await scene.finish(failed(other))

        page = await scene.overview()

        assert await scene.depth() == Depth(running=1, queued=0, scheduled=0)
        assert [run.id for run in page.running] == [fanout]
        assert page.queued == page.failures == []
        assert running.token

    # -- the page of a fanout

    async def test_the_page_of_a_fanout_has_its_counters_and_the_items_they_name(self, scene: Scene) -> None:
        progress = Progress(next=3, open=[(1, 2)], failures=[0], slowest=[(Millis(5), 1), (Millis(7), 0)])
        fanout, children = await a_fanout(scene, progress=progress, with_reducer=True)
        first, second = await scene.claim(2, only=children[:2])
        await scene.finish(failed(first))

        page = await details(scene, fanout)

        assert page.record.body.items == 5
        assert page.record.body.fields.concurrency == 2
        assert page.record.progress == progress
        assert page.running == 1
        assert page.reducer is not None
        assert page.reducer.id == children[-1]
        assert {index: status(item.run) for index, item in page.named.items()} == {0: "failed", 1: "running"}
        assert second.token

    async def test_a_run_that_is_no_fanout_has_no_such_page(self, scene: Scene) -> None:
        claim = await scene.start()
        _, children = await a_fanout(scene)

        for run_id in (claim.run_id, children[0], a_run_id()):
            assert await scene.storage.queries.fanout(run_id) is None
            assert await scene.storage.queries.fanout_items(run_id, ItemFilter()) is None
            found = await scene.storage.queries.run(RunById(run_id))
            assert not isinstance(found, RunDetails) or found.fanout is None

    # -- items

    async def test_items_are_paged_in_order_with_their_runs(self, scene: Scene) -> None:
        fanout, children = await a_fanout(scene)
        [claim] = await scene.claim(1, only=[children[1]])
        await scene.finish(succeeded(claim))

        first = await items(scene, fanout, limit=2)
        second = await items(scene, fanout, limit=9, after=first.next or 0)

        assert texts(first) + texts(second) == list(LETTERS)
        assert [status(item.run) for item in first.items] == ["queued", "success"]
        assert [status(item.run) for item in second.items] == ["queued", None, None]
        assert (first.next, second.next) == (1, None)

    async def test_a_running_item_has_the_number_and_the_start_of_its_attempt(self, scene: Scene) -> None:
        fanout, children = await a_fanout(scene)
        await scene.claim(1, only=[children[0]])

        run = (await items(scene, fanout, limit=1)).items[0].run

        assert isinstance(run, ItemRun)
        assert (run.attempt, run.started_at) == (1, scene.now)

    async def test_items_are_found_by_pattern(self, scene: Scene) -> None:
        fanout, _ = await a_fanout(scene, texts=("a.org", "b.com", "c.org", "Org"))

        assert texts(await items(scene, fanout, pattern="*.org")) == ["a.org", "c.org"]
        assert texts(await items(scene, fanout, pattern="?.*", after=0)) == ["b.com", "c.org"]
        page = await items(scene, fanout, pattern="*.org", limit=1)
        assert (texts(page), page.next) == (["a.org"], 0)

    async def test_items_are_found_by_their_exact_text(self, scene: Scene) -> None:
        fanout, _ = await a_fanout(scene, texts=("*", "a", "[a]", "*"))

        assert texts(await items(scene, fanout, text="*")) == ["*", "*"]
        assert texts(await items(scene, fanout, text="[a]", limit=1)) == ["[a]"]
        assert texts(await items(scene, fanout, text="A")) == []

    async def test_failed_items_are_read_alone(self, scene: Scene) -> None:
        fanout, children = await a_fanout(scene)
        claims = await scene.claim(3, only=children)
        await scene.finish(failed(claims[0]), succeeded(claims[1]), failed(claims[2]))

        page = await items(scene, fanout, failed=True)

        assert texts(page) == ["a", "c"]
        assert texts(await items(scene, fanout, failed=True, after=0)) == ["c"]
        assert texts(await items(scene, fanout, failed=True, pattern="a")) == ["a"]
        assert page.next is None

    async def test_items_are_found_by_their_status(self, scene: Scene) -> None:
        fanout, children = await a_fanout(scene)
        [first, second] = await scene.claim(2, only=children[:2])

        async def found(status: ItemStatus, **fields: object) -> list[str]:
            return texts(await items(scene, fanout, status=status, **fields))

        assert await found(ItemStatus.PENDING) == ["d", "e"]
        assert await found(ItemStatus.WAITING) == ["c"]
        assert await found(ItemStatus.RUNNING) == ["a", "b"]
        assert await found(ItemStatus.RUNNING, after=0) == ["b"]
        assert await found(ItemStatus.RUNNING, pattern="a") == ["a"]
        await scene.finish(succeeded(first), failed(second))
        await scene.cancel(children[2])
        assert await found(ItemStatus.RUNNING) == []
        assert await found(ItemStatus.SUCCESS) == ["a"]
        assert await found(ItemStatus.SUCCESS, after=0) == []
        assert await found(ItemStatus.FAILED) == ["b"]
        assert await found(ItemStatus.CANCELLED) == ["c"]
        assert await found(ItemStatus.TIMEOUT) == []
        assert await found(ItemStatus.PENDING, after=3) == ["e"]

    async def test_a_page_of_items_with_a_status_says_where_the_next_one_begins(self, scene: Scene) -> None:
        fanout, children = await a_fanout(scene)
        await scene.claim(3, only=children)

        first = await items(scene, fanout, status=ItemStatus.RUNNING, limit=2)
        rest = await items(scene, fanout, status=ItemStatus.RUNNING, limit=2, after=first.next or 0)

        assert (texts(first), first.next, texts(rest), rest.next) == (["a", "b"], 1, ["c"], None)
        one = await items(scene, fanout, status=ItemStatus.PENDING, limit=1)
        assert (texts(one), one.next) == (["d"], 3)

    async def test_items_that_were_never_started_are_cancelled_when_the_fanout_ends(self, scene: Scene) -> None:
        fanout, children = await a_fanout(scene, is_ending=True)
        await scene.cancel(children[0])

        assert texts(await items(scene, fanout, status=ItemStatus.CANCELLED)) == ["a", "d", "e"]
        assert texts(await items(scene, fanout, status=ItemStatus.PENDING)) == []
        assert texts(await items(scene, fanout, status=ItemStatus.FAILED)) == []

    async def test_items_that_were_not_started_before_the_end_count_as_failed(self, scene: Scene) -> None:
        fanout, children = await a_fanout(scene, is_ending=True)
        [claim] = await scene.claim(1, only=[children[0]])
        await scene.finish(failed(claim))

        pages = [await items(scene, fanout, failed=True, limit=2)]
        pages.append(await items(scene, fanout, failed=True, after=pages[0].next or 0))

        assert [texts(page) for page in pages] == [["a", "d"], ["e"]]


async def a_fanout(
    scene: Scene,
    *,
    texts: tuple[str, ...] = LETTERS,
    progress: Progress | None = None,
    with_reducer: bool = False,
    is_ending: bool = False,
) -> tuple[RunId, list[RunId]]:
    """Open a fanout whose first three items have runs, and return it with its children, the reducer last."""
    claim = await scene.start(a_run(job_id=JOB, queue=TREES_QUEUE), worker=await scene.worker(queues=[TREES_QUEUE]))
    documents = [msgspec.json.encode(text) for text in texts]
    await scene.storage.items.append(claim.run_id, ItemChunk(0, documents, is_last=True))
    children = [_item(claim.run_id, index, documents[index]) for index in range(3)]
    if with_reducer:
        children.append(
            a_child(claim.run_id, REDUCER_KEY, job_id=JobId("each.reducer"), trigger=REDUCER_TRIGGER, priority=-5)
        )
    body = FanoutBody(
        items=len(texts),
        fields=FanoutFields(concurrency=2),
        child=JobId("each.item"),
        reducer=JobId("each.reducer"),
        jobs={},
    )
    tree = Tree(
        *(claim.run_id, FANOUT, claim.job_id, 0, 0, len(texts), claim.started_at, claim.run_id),
        progress=(progress or Progress(next=3, open=[(0, 2)])).encode(),
        is_ending=is_ending,
    )
    opening = Opening(claim, tree, msgspec.json.encode(body), children)
    assert await scene.storage.trees.open([opening], at=scene.now) == []
    return claim.run_id, [run.id for run in children]


def _item(parent: RunId, index: int, document: bytes) -> NewRun:
    return a_child(parent, item_key(index), job_id=JobId("each.item"), trigger=ITEM_TRIGGER, payload=document)


async def ids(scene: Scene, only: RunFilter) -> list[RunId]:
    return [run.id for run in await scene.storage.queries.page_runs(only)]


async def of_kind(scene: Scene, kind: RunKind) -> list[RunId]:
    found = await scene.storage.queries.runs(RunFilter(), among=RunListFilter(kind=kind))
    assert isinstance(found, list)
    return [run.id for run in found]


async def details(scene: Scene, run_id: RunId) -> FanoutDetails:
    found = await scene.storage.queries.run(RunById(run_id))
    assert isinstance(found, RunDetails)
    assert found.fanout is not None
    assert found.fanout == await scene.storage.queries.fanout(run_id)
    return found.fanout


async def items(scene: Scene, run_id: RunId, **fields: object) -> ItemsPage:
    page = await scene.storage.queries.fanout_items(run_id, ItemFilter(**fields))  # type: ignore[arg-type]
    assert page is not None
    return page


def texts(page: ItemsPage) -> list[str]:
    return [msgspec.json.decode(item.document) for item in page.items]


def status(run: object) -> str | None:
    return run.status if isinstance(run, ItemRun) else None
