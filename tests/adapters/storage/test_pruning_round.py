"""What a round through history asks for next, and when it is over: whatever the database, nothing is read for it."""

from collections.abc import Callable
from copy import copy

from foliot.adapters.storage.shared.pruning import FRONT, Ask, AskForParts, Asking, Found, Round, Way
from foliot.domain.ids import RunId
from foliot.domain.instant import DAY, HOUR, Instant
from foliot.ports.upkeep import Pruned
from foliot.testing.builders import retention

NOW = Instant(1_000 * DAY)
BY_JOB = retention(runs_per_job=10)
Look = Callable[[Ask], Found]


def ids(*names: str) -> list[RunId]:
    return [RunId(name) for name in names]


def answered(asking: Asking, look: Look, parts: dict[str, list[RunId]] | None = None) -> list[RunId]:
    """What the asking comes to; `parts` tells the parts of a run."""
    known = parts or {}
    try:
        ask = next(asking)
        while True:
            if isinstance(ask, AskForParts):
                found = [part for run_id in ask.run_ids for part in known.get(run_id, [])]
                ask = asking.send(Found(found[: ask.room]))
            else:
                ask = asking.send(look(ask))
    except StopIteration as end:
        doomed: list[RunId] = end.value
        return doomed


def removed(runs: int) -> Pruned:
    return Pruned(runs, 0, 0, 0, 0, 0)


def test_only_ways_to_what_is_not_kept_for_ever_are_gone() -> None:
    asked: list[Ask] = []

    def look(ask: Ask) -> Found:
        asked.append(ask)
        return Found([])

    answered(Round().runs(retention(runs_age=HOUR, executions_per_workflow=3), NOW, 5), look)

    assert asked == [Ask(Way.OLD_RUNS, NOW - HOUR, FRONT, 5), Ask(Way.SURPLUS_EXECUTIONS, 3, FRONT, 5)]


def test_a_way_has_the_room_that_those_before_it_have_left() -> None:
    rooms: list[int] = []

    def look(ask: Ask) -> Found:
        rooms.append(ask.room)
        return Found(ids("a", "b"))  # the same ones are found on both ways

    both = retention(runs_age=HOUR, runs_per_job=1, executions_age=HOUR)
    assert answered(Round().runs(both, NOW, 5), look) == ids("a", "b")
    assert rooms == [5, 3, 3]


def test_the_next_piece_goes_on_where_the_last_one_ended() -> None:
    progress = Round()
    answered(progress.runs(BY_JOB, NOW, 5), lambda _: Found(ids("a"), "job-7"))
    places: list[object] = []

    def look(ask: Ask) -> Found:
        places.append(ask.place)
        return Found([])

    answered(progress.runs(BY_JOB, NOW, 5), look)

    assert places == ["job-7"]


def test_a_way_that_has_come_to_its_end_waits_for_the_others() -> None:
    progress = Round()
    ways: list[Way] = []

    def look(ask: Ask) -> Found:
        ways.append(ask.way)
        return Found([], "on the way" if ask.way is Way.SURPLUS_RUNS else None)

    both = retention(runs_age=HOUR, runs_per_job=1)
    for _ in range(2):
        answered(progress.runs(both, NOW, 5), look)
        progress, pruned = progress.after(removed(0), both, 5)
        assert pruned.is_more

    assert ways == [Way.OLD_RUNS, Way.SURPLUS_RUNS, Way.SURPLUS_RUNS]


def test_it_is_over_when_all_ways_are_and_begins_anew() -> None:
    progress = Round()
    answered(progress.runs(BY_JOB, NOW, 5), lambda _: Found(ids("a")))

    following, pruned = progress.after(removed(1), BY_JOB, 5)

    assert not pruned.is_more
    assert following.place(Way.SURPLUS_RUNS) == FRONT


def test_it_is_not_over_while_a_piece_was_full() -> None:
    progress = Round()
    answered(progress.runs(BY_JOB, NOW, 5), lambda _: Found([]))

    for full in (removed(5), Pruned(0, 0, 0, 5, 0, 0)):
        assert progress.after(full, BY_JOB, 5)[1].is_more
    # Whether there is more is no amount.
    assert not progress.after(Pruned(0, 0, 0, 0, 0, 0, is_more=True), BY_JOB, 1)[1].is_more


def test_parts_go_before_the_whole_and_what_found_no_room_is_looked_for_again() -> None:
    progress = Round()
    parts = {"whole": ids("p1", "p2", "p3")}

    first = answered(progress.runs(BY_JOB, NOW, 2), lambda _: Found(ids("whole")), parts)
    second = answered(progress.runs(BY_JOB, NOW, 5), lambda _: Found(ids("whole")), {"whole": ids("p3")})

    assert (first, second) == (ids("p1", "p2"), ids("p3", "whole"))


def test_what_a_copy_goes_through_its_original_does_not() -> None:
    progress = Round()

    answered(copy(progress).runs(BY_JOB, NOW, 5), lambda _: Found(ids("a"), "job-7"))

    assert progress.place(Way.SURPLUS_RUNS) == FRONT
