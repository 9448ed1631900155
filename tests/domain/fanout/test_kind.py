"""The fanout kind, compared with a brute-force model: each item ends once, and the parent ends as the table says."""

import random
from collections.abc import Mapping
from fractions import Fraction
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.fanout.item import encode_value, item_key
from foliot.domain.fanout.kind import FanoutKind
from foliot.domain.ids import DefinitionId, IdSource, JobId, RunId
from foliot.domain.instant import SECOND, Instant, Millis
from foliot.domain.job.definition import Definition
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, NewRun, Status
from foliot.domain.tree.kind import ChildRun, Loaded, Start, Wanted
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.domain.tree.tree import Note, Notes, Tree
from foliot.testing.builders import a_claim
from foliot.testing.clock import START

KIND = FanoutKind()
ENDS = (Status.SUCCESS, Status.FAILED, Status.TIMEOUT, Status.CANCELLED)


class World:
    """One fanout, its stored items and its children."""

    def __init__(self, items: int, *, timeout: Millis | None = None, **spec: Any) -> None:
        self.documents = [encode_value(f"item {index}") for index in range(items)]
        self.now = Instant(START)
        self.ids = IdSource(count(1).__next__)
        self.open: dict[str, NewRun] = {}
        self.started: list[str] = []
        self.most_open = 0
        self.cancelled: list[RunId] = []
        self.ended: Ended | None = None
        definition = Definition(
            id=DefinitionId("job:scan@1"), kind="fanout", spec={"command": "true", "items": [], **spec}, timeout=timeout
        )
        start = Start(a_claim(job_id=JobId("scan")), definition, items=items)
        opening = self._ask(lambda loaded: KIND.begin(start, loaded, self.now, self.ids))
        assert isinstance(opening, Opening)
        self.tree: Tree = opening.tree._replace(body=KIND.read_body(opening.body))
        self._apply(opening)

    def end(self, ends: Mapping[str, Status], **changes: Any) -> None:
        """End children, and settle."""
        notes = [Note(self.open[key].id, key, status, 0, Millis(1)) for key, status in ends.items()]
        for key in ends:
            del self.open[key]
        self.settle(notes, **changes)

    def settle(self, notes: list[Note], **changes: Any) -> None:
        tree = self.tree._replace(**changes)
        settled = self._ask(lambda loaded: KIND.decide(tree, Notes(notes), loaded, self.now, self.ids))
        assert isinstance(settled, Settlement)
        self.tree = settled.tree
        self.cancelled += settled.cancels
        self._apply(settled)

    def _apply(self, decision: Opening | Settlement) -> None:
        assert self.ended is None
        self.open |= {run.child_key or "": run for run in decision.runs}
        self.started += [run.child_key or "" for run in decision.runs]
        self.most_open = max(self.most_open, len(self.open))
        self.ended = decision.ended
        assert (self.tree.open == 0) == (self.ended is not None)

    def _ask(self, decide: Any) -> Any:
        loaded = Loaded()
        while isinstance(result := decide(loaded), Wanted):
            first, many = result.items or (0, 0)
            children = {key: ChildRun(self.open[key].id, has_started=True) for key in result.children}
            loaded = loaded.merged(Loaded(items=self.documents[first : first + many], children=children))
        return result

    @property
    def summary(self) -> dict[str, Any]:
        assert self.ended is not None
        assert self.ended.output is not None
        return msgspec.json.decode(self.ended.output, type=dict[str, Any])


@pytest.mark.proves("F1", "F3", "F4", "F5")
@given(
    items=st.integers(0, 300),
    concurrency=st.integers(1, 20),
    tolerance=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    run_on=st.sampled_from(["success", "any_success", "always"]),
    reduced=st.sampled_from(ENDS),
    seed=st.integers(0, 2**32),
)
def test_a_fanout_ends_as_a_brute_force_model_says(
    items: int, concurrency: int, tolerance: float, run_on: str, reduced: Status, seed: int
) -> None:
    chance = random.Random(seed)
    reducer = {"spec": {"command": "true"}, "run_on": run_on}
    world = World(items, concurrency=concurrency, partial_tolerance=tolerance, reducer=reducer)
    ends: dict[str, Status] = {}
    while world.ended is None and "reducer" not in world.open:
        batch = chance.sample(sorted(world.open), chance.randint(1, len(world.open)))
        ends |= {key: chance.choices(ENDS, (8, 1, 1, 1))[0] for key in batch}
        world.end({key: ends[key] for key in batch})
    succeeded = sum(status is Status.SUCCESS for status in ends.values())
    bad = items - succeeded
    expected = (
        Status.SUCCESS if not bad else Status.PARTIAL if bad <= Fraction(str(tolerance)) * items else Status.FAILED
    )
    is_due = {
        "success": items > 0 and expected is not Status.FAILED,
        "any_success": succeeded > 0,
        "always": True,
    }[run_on]

    assert ("reducer" in world.open) == is_due
    if is_due:
        world.end({"reducer": reduced})
        expected = expected if reduced is Status.SUCCESS else Status.FAILED
    assert world.ended is not None
    assert world.ended.status is expected
    assert [key for key in world.started if key != "reducer"] == [item_key(index) for index in range(items)]
    assert world.started.count("reducer") == is_due
    assert world.summary["succeeded"] == succeeded
    assert sum(world.summary[name] for name in ("succeeded", "failed", "timed_out", "cancelled")) == items


@pytest.mark.proves("R0-34", "R0-35", "R0-40")
def test_children_carry_their_items_in_input_order() -> None:
    world = World(3, item_var="TARGET")

    runs = list(world.open.values())

    assert [run.payload for run in runs] == world.documents
    assert {run.parent_id for run in runs} == {world.tree.run_id}
    item = world.tree.body.jobs["scan.item"].item
    assert (item.name, item.count) == ("TARGET", 3)


def test_children_share_a_limit_of_the_concurrency() -> None:
    world = World(3, concurrency=2)

    [limit] = {limit for run in world.open.values() for limit in run.limits}

    assert limit == (f"children:{world.tree.run_id}", 2)


def test_a_million_items_become_rows_in_a_bounded_window() -> None:
    world = World(100_000, concurrency=4)

    while world.ended is None:
        world.end(dict.fromkeys(list(world.open)[:50], Status.SUCCESS))

    assert world.most_open == 104
    assert world.ended.status is Status.SUCCESS


@pytest.mark.proves("R0-55", "R0-57")
def test_a_cancelled_fanout_starts_nothing_more_and_does_not_reduce() -> None:
    world = World(1_000, reducer={"spec": {"command": "true"}, "run_on": "always"})
    world.end({item_key(0): Status.SUCCESS, item_key(1): Status.FAILED})
    before = list(world.started)

    world.settle([Note(world.tree.run_id)], cancel_at=world.now)
    cancelled = {run.id for run in world.open.values()}
    assert set(world.cancelled) == cancelled
    world.end(dict.fromkeys(world.open, Status.CANCELLED))

    assert world.started == before
    assert world.ended is not None
    assert (world.ended.status, world.summary["cancelled"], world.summary["succeeded"]) == (Status.CANCELLED, 998, 1)


@pytest.mark.proves("R0-39")
def test_a_fanout_past_its_deadline_cancels_its_children_and_times_out() -> None:
    world = World(10, timeout=Millis(60 * SECOND))
    world.now = Instant(world.now + 61 * SECOND)

    world.settle([])
    world.end(dict.fromkeys(world.open, Status.CANCELLED))

    assert world.ended is not None
    assert (world.ended.status, world.ended.reason) == (Status.TIMEOUT, Reason.TIMEOUT)


def test_a_reducer_has_the_rest_of_the_fanouts_time() -> None:
    world = World(1, timeout=Millis(60 * SECOND), reducer={"spec": {"command": "true"}})
    world.now = Instant(world.now + 20 * SECOND)

    world.end({item_key(0): Status.SUCCESS})

    given = msgspec.json.decode(world.open["reducer"].overrides or b"")
    assert given["timeout"] == 40 * SECOND
    assert given["variables"]["FOLIOT_FANOUT_SUCCEEDED"] == "1"


def test_a_running_reducer_past_the_deadline_is_ended_by_its_own_timeout() -> None:
    world = World(1, timeout=Millis(60 * SECOND), reducer={"spec": {"command": "true"}})
    world.end({item_key(0): Status.SUCCESS})
    world.now = Instant(world.now + 61 * SECOND)

    world.settle([])
    assert world.cancelled == []
    world.end({"reducer": Status.TIMEOUT})

    assert world.ended is not None
    assert world.ended.status is Status.TIMEOUT


def test_a_failed_reducer_fails_the_fanout() -> None:
    world = World(1, reducer={"spec": {"command": "false"}})
    world.end({item_key(0): Status.SUCCESS})

    world.end({"reducer": Status.FAILED})

    assert world.ended is not None
    assert (world.ended.status, world.ended.reason) == (Status.FAILED, Reason.REDUCER_FAILED)


@pytest.mark.proves("R0-76")
def test_a_fanout_without_items_ends_when_it_is_opened() -> None:
    assert World(0).ended == Ended(Status.SUCCESS, output=World(0).ended.output)  # type: ignore[union-attr]
