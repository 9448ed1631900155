"""A tree with a hundred thousand children inside a workflow, whose process is killed again and again.

FOLIOT_BIG_TREE=1000 makes it smaller. On PostgreSQL it has a tenth of the children.
"""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, cast

import apsw
import msgspec
import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import HOUR, Instant
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.run import Run, Status
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.engine.coordinator.decider import TreeDecider
from foliot.engine.coordinator.inputs import Inputs
from foliot.engine.coordinator.settler import NOTES, Settler
from foliot.engine.coordinator.starter import Starter
from foliot.engine.loop import IMMEDIATELY
from foliot.ports.pages import RunFilter
from foliot.ports.trees import TreeStore, Unsettled
from foliot.testing.builders import a_worker, succeeded
from foliot.testing.invariants import check_endings, check_invariants, check_leases
from tests.engine.window_kind import Counts, WindowKind
from tests.scenarios.crash.judge import EARLY
from tests.scenarios.crash.process import KILLED, FoliotProcess
from tests.scenarios.crash.stage import Stage
from tests.scenarios.crash.tree_node import KIND

CHILDREN: Final = int(os.environ.get("FOLIOT_BIG_TREE", "100000"))
FAULTS: Final = (
    "open.after_commit:1",
    "open.before_commit:1",
    "settle_trees.before_commit:3",
    "settle_trees.after_commit:3",
    "claim.after_commit:8",
)
"""Where one process after the other dies first: when it has opened the workflow, before it opens the tree in it, and so
on."""
KILLS: Final = 4
"""So many are killed after that, each at a moment that nobody has chosen."""
MEMORY: Final = 150 << 20
"""Bytes that a process may need at most, however many children there are."""
PAGE: Final = 10_000
SMALL: Final = 2_000
"""Trees up to this size are judged by everything that must hold; it looks at the attempts of each run."""
MANY: Final = JobId("many")
KINDS: Final = {WindowKind.name: WindowKind()}
LEAF: Final = JobId("leaf")


@pytest.mark.timeout(900)
@pytest.mark.proves("D5", "D6", "S3", "S4", "S6", "L1")
async def test_every_child_runs_once_while_the_process_is_killed_repeatedly(stage: Stage) -> None:
    children = CHILDREN // 10 if stage.is_on_postgres else CHILDREN
    execution = await start(stage, children)
    for fault in FAULTS:
        assert await stage.ended(node(stage, fault)) == KILLED, stage.logs()
    for number in range(KILLS):
        await kill_after(stage, children * (number + 1) // (KILLS + 1))
    node(stage)
    await stage.over([execution])

    runs = [run async for run in read_tree(stage, execution)]
    assert (await stage.runs_of([execution]))[0].status is Status.SUCCESS
    [many] = [run for run in runs if run.child_key == "many"]
    assert Counter(run.child_key for run in runs if run.parent_id == many.id) == Counter(map(str, range(children)))
    assert Counter(run.status for run in runs) == {Status.SUCCESS: children + 2}
    assert counts(stage) == Counts(started=children, succeeded=children)
    assert select(stage, "SELECT count(*) FROM {}notes") == "0"
    assert select(stage, "SELECT count(*) FROM {}trees WHERE ended_at IS NULL OR open > 0") == "0"
    assert await faults(stage, runs) == []
    assert await stage.ended(stage.start("foliot", "verify", "--since", "1h")) == 0


async def test_a_settler_round_reads_a_bounded_number_of_notes(stage: Stage) -> None:
    await put_jobs(stage, children=5 * NOTES, window=5 * NOTES)
    [run_id] = await stage.enqueue(MANY)
    await open_tree(stage)
    await end_children(stage, 5 * NOTES)
    store = CountingTrees(stage.storage.trees)
    settler = Settler(store.counted, stage.services.ids, KINDS, TreeDecider(store.counted), wake=asyncio.Event())

    rounds = 1
    while await settler.round() == IMMEDIATELY:
        rounds += 1

    assert rounds == 5
    assert store.notes == [NOTES] * 5
    assert (store.calls["load"], store.calls["settle"]) == (1, 5)
    assert (await stage.runs_of([run_id]))[0].status is Status.SUCCESS


async def start(stage: Stage, children: int) -> RunId:
    """A workflow with a step that has the children, and one after it."""
    await put_jobs(stage, children=children, window=min(2_000, children // 25))
    steps = (Step(name="many", job=MANY), Step(name="after", job=LEAF, after=(Edge(parent="many"),)))
    await stage.services.workflows.put({"outer": WorkflowSpec(steps=steps)})
    return await stage.services.workflows.start("outer")


async def put_jobs(stage: Stage, *, children: int, window: int) -> None:
    """A job whose runs are trees, and that of their children, which survive any number of lost processes."""
    leaf = JobSpec(kind=KIND, options=Options(max_lost=100))
    spec = {"children": children, "window": window, "job": LEAF}
    many = JobSpec(kind=WindowKind.name, spec=spec, options=Options(queue=TREES_QUEUE))
    await stage.storage.definitions.put_jobs([(LEAF, leaf), (MANY, many)])


async def open_tree(stage: Stage) -> None:
    """What a coordinator does with the one run in its queue."""
    trees, worker = stage.storage.trees, a_worker()
    await stage.storage.work.register(worker, HOUR)
    [claim], definitions = await stage.storage.work.claim(worker.id, [TREES_QUEUE], 1)
    starter = Starter(
        trees, stage.services.ids, KINDS, TreeDecider(trees), Inputs(stage.storage.items, {}, stage.storage.clock)
    )
    assert await starter.open(claim, definitions[claim.definition_id]) is None


async def end_children(stage: Stage, count: int) -> None:
    worker = a_worker()
    await stage.storage.work.register(worker, HOUR)
    while count:
        claims, _ = await stage.storage.work.claim(worker.id, ["default"], NOTES)
        assert await stage.storage.work.finish([succeeded(claim) for claim in claims]) == []
        count -= len(claims)


class CountingTrees:
    """Counts what a settler asks for, and how many notes it gets."""

    def __init__(self, store: TreeStore) -> None:
        self._store = store
        self.calls: Counter[str] = Counter()
        self.notes: list[int] = []

    @property
    def counted(self) -> TreeStore:
        return cast(TreeStore, self)

    async def unsettled(self, limit: int, *, notes_per_tree: int, after: RunId | None = None) -> Unsettled:
        found = await self._store.unsettled(limit, notes_per_tree=notes_per_tree, after=after)
        self.notes.append(sum(len(one.notes.items) for one in found.trees))
        return found

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(self._store, name)


def node(stage: Stage, fault: str | None = None) -> FoliotProcess:
    return stage.start("tests.scenarios.crash.tree_node", fault=fault)


async def kill_after(stage: Stage, succeeded: int) -> None:
    """Kill a process when so many children have been counted, or a moment later. It has not needed much memory."""
    process = node(stage)
    await stage.until(lambda: counts(stage).succeeded >= succeeded, f"{succeeded} children have succeeded")
    memory = peak_memory(process.pid)
    process.kill()
    assert memory < MEMORY


def peak_memory(pid: int) -> int:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) << 10


def counts(stage: Stage) -> Counts:
    """What the tree with many children has counted."""
    found = select(stage, "SELECT progress FROM {}trees WHERE kind = 'window'")
    return msgspec.json.decode(found, type=Counts) if found else Counts()


def select(stage: Stage, statement: str) -> str:
    """One value, read beside the storage; {} is where the name of the schema belongs."""
    if stage.is_on_postgres:
        return stage.server.sql(statement.format("foliot."), database=stage.database).strip()
    # The library that the storage uses: a second one in the same process would drop the locks of the first.
    with closing(apsw.Connection(stage.url.partition(":///")[2])) as connection:
        return str((connection.execute(statement.format("")).fetchone() or [""])[0])


async def read_tree(stage: Stage, execution: RunId) -> AsyncIterator[Run]:
    """All runs of the execution but its own."""
    before: RunId | None = None
    while page := await stage.storage.queries.page_runs(RunFilter(root_id=execution, before=before, limit=PAGE)):
        for run in page:
            yield run
        before = page[-1].id


async def faults(stage: Stage, runs: Sequence[Run]) -> list[str]:
    """Every run ended once and said so once; nothing is leased, nothing is left to do."""
    own = {run.id: run for run in (*runs, *await stage.runs_of([runs[0].root_id or ""]))}
    found = [*check_leases(own.values()), *await check_endings(stage.storage, own, is_pruned=False)]
    if len(runs) <= SMALL:
        found += await check_invariants(stage.storage, now=Instant(stage.services.clock.now() + EARLY))
    return found
