"""Decisions about trees load the rows that they request in one read per wave."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.run.run import Status
from foliot.domain.tree.kind import NOTHING_LOADED, Loaded, TreeKind, Wanted
from foliot.domain.workflow.kind import WorkflowKind
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.engine.coordinator.decider import PendingDecision, TreeDecider
from foliot.engine.loop import IMMEDIATELY
from foliot.errors import RowUnreadable, StorageUnavailable
from foliot.ports.definitions import Deployment
from foliot.ports.storage import Storage
from foliot.ports.trees import TreeStore
from foliot.testing.builders import REPORT, a_job_spec
from foliot.testing.clock import VirtualClock
from tests.engine.rig import Rig

ONE, OTHER = RunId("one"), RunId("other")
A, B, C = map(JobId, "abc")


class Store:
    """A tree store that returns every job and counts its reads."""

    def __init__(self) -> None:
        self.asked: list[list[RunId]] = []
        self.unreadable: set[RunId] = set()

    async def load(self, wants: Sequence[Wanted]) -> Mapping[RunId, Loaded]:
        self.asked.append([wanted.run_id for wanted in wants])
        return {wanted.run_id: self._loaded(wanted) for wanted in wants}

    def _loaded(self, wanted: Wanted) -> Loaded:
        if wanted.run_id in self.unreadable:
            return Loaded(error=RowUnreadable("job", "a", ValueError("oops")))
        return Loaded(jobs={name: a_job_spec() for name in wanted.jobs})


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def decider(store: Store) -> TreeDecider:
    return TreeDecider(cast(TreeStore, store))


def about(run_id: RunId, *jobs: JobId) -> PendingDecision[str]:
    """Build a decision that requests one job after the other."""

    def ask(loaded: Loaded) -> str | Wanted:
        missing = [name for name in jobs if name not in loaded.jobs]
        return Wanted(run_id=run_id, jobs=frozenset(missing[:1])) if missing else f"decided about {run_id}"

    return question(ask)


def question(ask: Callable[[Loaded], Any]) -> PendingDecision[Any]:
    return PendingDecision(cast(TreeKind, WorkflowKind()), NOTHING_LOADED, ask)


async def test_a_decision_that_requests_nothing_costs_no_read(decider: TreeDecider, store: Store) -> None:
    assert await decider.decide({ONE: about(ONE)}) == {ONE: "decided about one"}

    assert store.asked == []


async def test_a_decision_that_requests_rows_is_repeated_until_it_is_made(decider: TreeDecider, store: Store) -> None:
    assert await decider.decide({ONE: about(ONE, A, B, C)}) == {ONE: "decided about one"}

    assert store.asked == [[ONE]] * 3


async def test_there_are_as_many_reads_as_the_deepest_decision_has_waves(decider: TreeDecider, store: Store) -> None:
    many = [RunId(f"run{number}") for number in range(100)]

    answers = await decider.decide({ONE: about(ONE, A, B), **{run_id: about(run_id, A) for run_id in many}})

    assert len(answers) == 101
    assert [len(asked) for asked in store.asked] == [101, 1]


async def test_a_decision_that_fails_does_not_stop_the_others(decider: TreeDecider) -> None:
    def fail(loaded: Loaded) -> str:
        raise LookupError("no such step")

    answers = await decider.decide({ONE: question(fail), OTHER: about(OTHER, A)})

    assert answers[OTHER] == "decided about other"
    assert isinstance(answers[ONE], LookupError)


async def test_an_unreadable_row_affects_only_the_trees_that_requested_it(decider: TreeDecider, store: Store) -> None:
    store.unreadable = {ONE}

    answers = await decider.decide({ONE: about(ONE, A), OTHER: about(OTHER, A)})

    assert isinstance(answers[ONE], RowUnreadable)
    assert answers[OTHER] == "decided about other"


async def test_a_decision_that_requests_the_same_rows_twice_is_an_error(decider: TreeDecider, store: Store) -> None:
    def never_content(loaded: Loaded) -> Wanted:
        return Wanted(run_id=ONE, jobs=frozenset({A}))

    answers = await decider.decide({ONE: question(never_content), OTHER: about(OTHER, A, B)})

    assert "requested the same rows twice" in str(answers[ONE])
    assert answers[OTHER] == "decided about other"
    assert store.asked == [[ONE, OTHER], [OTHER]]


async def test_an_unavailable_storage_fails_the_whole_round(decider: TreeDecider, store: Store) -> None:
    def fail(loaded: Loaded) -> str:
        raise StorageUnavailable("away")

    with pytest.raises(StorageUnavailable):
        await decider.decide({ONE: question(fail), OTHER: about(OTHER)})


# -- with a database


@pytest.fixture
def calls(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the calls of each verb of the tree port."""
    counted: Counter[str] = Counter()

    def count(verb: str) -> None:
        original = getattr(storage.trees, verb)

        async def call(*arguments: Any, **named: Any) -> Any:
            counted[verb] += 1
            return await original(*arguments, **named)

        monkeypatch.setattr(storage.trees, verb, call)

    for verb in ("unsettled", "load", "settle"):
        count(verb)
    return counted


async def with_notes(rig: Rig, trees: int, *steps: Step) -> list[RunId]:
    """Open executions of one workflow and end their first steps."""
    await rig.job(REPORT)
    await rig.storage.definitions.deploy(Deployment({"etl": WorkflowSpec(steps=steps)}))
    run_ids = [await rig.enqueue("etl") for _ in range(trees)]
    await rig.open_trees()
    await rig.work()
    return run_ids


def a_step(name: str, *parents: str, **fields: Any) -> Step:
    return Step(name=name, job=REPORT, after=tuple(Edge(parent=parent) for parent in parents), **fields)


@pytest.mark.parametrize("is_newcomer", [False, True])
async def test_a_hundred_trees_of_one_workflow_are_settled_with_one_load(
    storage: Storage, clock: VirtualClock, calls: Counter[str], is_newcomer: bool
) -> None:
    """A coordinator that has not opened them loads bodies and definition in a wave of their own."""
    rig = Rig(storage, clock, slots=100)
    run_ids = await with_notes(rig, 100, a_step("first"), a_step("second", "first"))
    clock.advance(1)
    settling = Rig(storage, clock) if is_newcomer else rig
    calls.clear()

    assert await settling.coordinator.settler.round() == IMMEDIATELY

    assert calls == {"unsettled": 1, "load": 2 if is_newcomer else 1, "settle": 1}
    second = [run for run in await rig.runs() if run.child_key == "second"]
    assert {run.parent_id for run in second} == set(run_ids)
    assert len(second) == 100


async def test_a_tree_that_needs_nothing_more_is_settled_without_a_load(rig: Rig, calls: Counter[str]) -> None:
    [run_id] = await with_notes(rig, 1, a_step("only"))
    calls.clear()

    await rig.coordinator.settler.round()

    assert calls == {"unsettled": 1, "settle": 1}
    assert await rig.status(run_id) is Status.SUCCESS
