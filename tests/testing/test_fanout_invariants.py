"""The checks of fanouts find each injected fault, and none in a sound fanout."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.events import Event, EventKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.run.run import Run, Status
from foliot.ports.storage import Storage
from foliot.testing.clock import START, VirtualClock
from foliot.testing.fanout_invariants import Fanout, check_fanout, check_fanouts, read_fanouts
from foliot.testing.invariants import Violation
from foliot.testing.simulation.fanout_watch import FanoutWatch
from tests.engine.fanouts import SCAN, FanoutRig, a_fanout, a_reducer, fail

OPENED, ENDED = EventKind.EXECUTIONS_OPENED, EventKind.EXECUTIONS_ENDED
ITEMS = ["a", "b", "c", "d"]


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[FanoutRig]:
    clock = VirtualClock()
    storage = await SqliteStorage.open(tmp_path / "foliot.db", clock=clock, inline=True, synchronous="NORMAL")
    yield FanoutRig(cast(Storage, storage), clock, fail("b"))
    await storage.close()


@pytest.fixture
async def fanout(rig: FanoutRig) -> Fanout:
    """A fanout that ended as partial, with a reducer."""
    await rig.go_on(await rig.start(ITEMS, concurrency=2, partial_tolerance=0.25, reducer=a_reducer()))
    [found] = await read_fanouts(rig.storage, {run.id: run for run in await rig.runs()})
    return found


async def test_sound_fanouts_have_no_faults(rig: FanoutRig, fanout: Fanout) -> None:
    for fields in ({"run_on": "always"}, {"run_on": "any_success"}):
        await rig.go_on(await rig.start(ITEMS, reducer=a_reducer(**fields)))
    await rig.go_on(await rig.start([], reducer=a_reducer()))
    await rig.start(ITEMS)
    await rig.turn()
    runs = {run.id: run for run in await rig.runs()}

    assert fanout.run.status is Status.PARTIAL
    assert len(await read_fanouts(rig.storage, runs)) == 5
    assert await check_fanouts(rig.storage, runs) == []


def with_child(index: int, **fields: Any) -> Callable[[Fanout], Fanout]:
    def change(fanout: Fanout) -> Fanout:
        children = [run._replace(**fields) if nth == index else run for nth, run in enumerate(fanout.children)]
        return fanout._replace(children=children)

    return change


def with_run(**fields: Any) -> Callable[[Fanout], Fanout]:
    return lambda fanout: fanout._replace(run=fanout.run._replace(**fields))


@pytest.mark.proves("F1", "F2", "F3", "F4", "F5", "F6")
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda fanout: fanout._replace(children=fanout.children[:3]), "F1"),
        (lambda fanout: fanout._replace(children=[*fanout.children, fanout.children[0]]), "F1"),
        (with_child(1, child_key="0000007"), "F1"),
        (with_child(1, payload="other"), "F1"),
        (lambda fanout: with_child(0, status=Status.RUNNING)(with_child(1, status=Status.RUNNING)(fanout)), "F3"),
        (
            lambda fanout: fanout._replace(children=[run._replace(status=Status.RUNNING) for run in fanout.children]),
            "F2",
        ),
        (lambda fanout: fanout._replace(reducers=[fanout.reducers[0]._replace(status=Status.QUEUED)]), "F3"),
        (with_child(0, status=Status.FAILED), "F4"),
        (with_run(status=Status.SUCCESS), "F4"),
        (with_run(output=None), "F4"),
        (lambda fanout: fanout._replace(reducers=[fanout.reducers[0]._replace(status=Status.FAILED)]), "F4"),
        (lambda fanout: fanout._replace(reducers=()), "F5"),
        (lambda fanout: fanout._replace(reducers=[*fanout.reducers, *fanout.reducers]), "F5"),
        (with_child(2, status=Status.TIMEOUT), "F5"),
        (with_child(1, attempt=2), "F6"),
    ],
)
def test_each_fault_of_a_fanout_is_found(fanout: Fanout, change: Callable[[Fanout], Fanout], fault: str) -> None:
    assert fault in {found.split()[0] for found in check_fanout(change(fanout))}


# -- the watch


class Story:
    """What a watch sees of one fanout."""

    def __init__(self, runs: list[Run]) -> None:
        self.watch = FanoutWatch({SCAN: a_fanout(ITEMS, concurrency=2)})
        self.parent = next(run for run in runs if run.parent_id is None)
        self.children = sorted((run for run in runs if run.parent_id), key=lambda run: run.child_key or "")

    def event(self, kind: EventKind, what: Any = 0) -> Event:
        return self.watch.on_event(Event(1, START, kind, [[self.parent.id, SCAN, what], ["other", "etl", 1]]))

    def start(self, *indices: int, **fields: Any) -> None:
        for index in indices:
            assert self.watch.on_new_run(self.children[index]._replace(**fields))

    def end(self, *indices: int) -> None:
        for index in indices:
            assert self.watch.on_run_ended(self.children[index])


@pytest.fixture
async def story(rig: FanoutRig, fanout: Fanout) -> Story:
    story = Story([run for run in await rig.runs() if fanout.run.id in (run.id, run.parent_id)])
    assert [item[0] for item in story.event(OPENED).items] == ["other"]
    return story


def test_a_sound_story_has_no_violations(story: Story) -> None:
    story.start(0, 1, 2, 3)
    story.end(0, 1, 2, 3)
    story.start(4)
    story.watch.check([story.children[4]._replace(status=Status.RUNNING)])
    story.end(4)

    assert [item[0] for item in story.event(ENDED, "success").items] == ["other"]
    assert not story.watch.on_run_ended(story.parent)
    story.watch.check([])


@pytest.mark.parametrize("indices", [(1,), (0, 0), (0, 2)])
def test_children_out_of_order_are_a_violation(story: Story, indices: tuple[int, ...]) -> None:
    with pytest.raises(Violation, match=r"^F1 "):
        story.start(*indices)


def test_a_wrong_item_is_a_violation(story: Story) -> None:
    with pytest.raises(Violation, match=r"^F1 "):
        story.start(0, payload="z")


def test_too_many_running_children_are_a_violation(story: Story) -> None:
    story.start(0, 1, 2)

    with pytest.raises(Violation, match=r"^F2 "):
        story.watch.check([run._replace(status=Status.RUNNING) for run in story.children[:3]])


def test_an_end_before_its_children_is_a_violation(story: Story) -> None:
    story.start(0)
    story.event(ENDED, "success")

    with pytest.raises(Violation, match=r"^F3 "):
        story.watch.check([])


def test_a_second_end_is_a_violation(story: Story) -> None:
    story.event(ENDED, "success")
    story.watch.check([])

    with pytest.raises(Violation, match=r"^F3 "):
        story.event(ENDED, "success")


def test_a_second_opening_is_a_violation(story: Story) -> None:
    with pytest.raises(Violation, match=r"^F6 "):
        story.event(OPENED)


@pytest.mark.parametrize(("begun", "ended"), [((0, 1, 2), (0, 1, 2)), ((0, 1, 2, 3), (0, 1, 2))])
def test_a_reducer_before_the_last_item_has_ended_is_a_violation(
    story: Story, begun: tuple[int, ...], ended: tuple[int, ...]
) -> None:
    story.start(*begun)
    story.end(*ended)

    with pytest.raises(Violation, match=r"^F5 "):
        story.start(4)


def test_a_second_reducer_is_a_violation(story: Story) -> None:
    story.start(0, 1, 2, 3)
    story.end(0, 1, 2, 3)
    story.start(4)

    with pytest.raises(Violation, match=r"^F5 "):
        story.start(4)


def test_other_runs_are_left_to_the_other_watch(story: Story) -> None:
    stranger = story.children[0]._replace(parent_id=RunId("execution"), job_id=JobId("etl.extract"))

    assert not story.watch.on_new_run(stranger)
    assert not story.watch.on_run_ended(stranger)
