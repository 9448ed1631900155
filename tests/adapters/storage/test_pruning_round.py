"""Which scans a pruning round requests, and when it is complete. No database is needed."""

from collections.abc import Callable, Collection
from copy import copy

from foliot.adapters.storage.shared.pruning import (
    START,
    PartsRequest,
    Requests,
    Round,
    Scan,
    ScanRequest,
    ScanResult,
    VisibleRequest,
)
from foliot.domain.ids import RunId
from foliot.domain.instant import DAY, HOUR, Instant
from foliot.ports.upkeep import Pruned
from foliot.testing.builders import retention

NOW = Instant(1_000 * DAY)
BY_JOB = retention(runs_per_job=10)
Search = Callable[[ScanRequest], ScanResult]


def ids(*names: str) -> list[RunId]:
    return [RunId(name) for name in names]


def run_requests(
    requests: Requests, search: Search, parts: dict[str, list[RunId]] | None = None, visible: Collection[str] = ()
) -> list[RunId]:
    """Answer all requests, and return the chosen runs. `parts` has the parts of each run, `visible` the executions that
    a gate may read."""
    known = parts or {}
    try:
        request = next(requests)
        while True:
            if isinstance(request, VisibleRequest):
                request = requests.send(ScanResult([run_id for run_id in request.run_ids if run_id in visible]))
            elif isinstance(request, PartsRequest):
                found = [part for run_id in request.run_ids for part in known.get(run_id, [])]
                request = requests.send(ScanResult(found[: request.room]))
            else:
                assert isinstance(request, ScanRequest)
                request = requests.send(search(request))
    except StopIteration as end:
        chosen: list[RunId] = end.value
        return chosen


def removed(runs: int) -> Pruned:
    return Pruned(runs, 0, 0, 0, 0, 0)


def test_a_scan_without_a_retention_limit_is_skipped() -> None:
    asked: list[ScanRequest] = []

    def search(request: ScanRequest) -> ScanResult:
        asked.append(request)
        return ScanResult([])

    run_requests(Round().runs(retention(runs_age=HOUR, executions_per_workflow=3), NOW, 5), search)

    assert asked == [
        ScanRequest(Scan.OLD_RUNS, NOW - HOUR, START, 5),
        ScanRequest(Scan.SURPLUS_EXECUTIONS, 3, START, 5),
    ]


def test_a_scan_gets_the_room_that_earlier_scans_left() -> None:
    rooms: list[int] = []

    def search(request: ScanRequest) -> ScanResult:
        rooms.append(request.room)
        return ScanResult(ids("a", "b"))  # every scan finds the same runs

    both = retention(runs_age=HOUR, runs_per_job=1, executions_age=HOUR)
    assert run_requests(Round().runs(both, NOW, 5), search) == ids("a", "b")
    assert rooms == [5, 3, 3]


def test_the_next_piece_continues_at_the_cursor_of_the_last_one() -> None:
    progress = Round()
    run_requests(progress.runs(BY_JOB, NOW, 5), lambda _: ScanResult(ids("a"), "job-7"))
    cursors: list[object] = []

    def search(request: ScanRequest) -> ScanResult:
        cursors.append(request.cursor)
        return ScanResult([])

    run_requests(progress.runs(BY_JOB, NOW, 5), search)

    assert cursors == ["job-7"]


def test_a_complete_scan_is_skipped_until_the_round_is_complete() -> None:
    progress = Round()
    scans: list[Scan] = []

    def search(request: ScanRequest) -> ScanResult:
        scans.append(request.scan)
        return ScanResult([], "job-7" if request.scan is Scan.SURPLUS_RUNS else None)

    both = retention(runs_age=HOUR, runs_per_job=1)
    for _ in range(2):
        run_requests(progress.runs(both, NOW, 5), search)
        progress, pruned = progress.after(removed(0), both, 5)
        assert pruned.is_more

    assert scans == [Scan.OLD_RUNS, Scan.SURPLUS_RUNS, Scan.SURPLUS_RUNS]


def test_a_round_is_complete_when_all_scans_are_and_a_new_one_begins() -> None:
    progress = Round()
    run_requests(progress.runs(BY_JOB, NOW, 5), lambda _: ScanResult(ids("a")))

    following, pruned = progress.after(removed(1), BY_JOB, 5)

    assert not pruned.is_more
    assert following.cursor(Scan.SURPLUS_RUNS) == START


def test_a_round_is_not_complete_after_a_full_piece() -> None:
    progress = Round()
    run_requests(progress.runs(BY_JOB, NOW, 5), lambda _: ScanResult([]))

    for full in (removed(5), Pruned(0, 0, 0, 5, 0, 0)):
        assert progress.after(full, BY_JOB, 5)[1].is_more
    # The flag `is_more` is not counted as a removed row.
    assert not progress.after(Pruned(0, 0, 0, 0, 0, 0, is_more=True), BY_JOB, 1)[1].is_more


def test_parts_are_removed_before_their_parent_and_runs_without_room_are_found_again() -> None:
    progress = Round()
    parts = {"whole": ids("p1", "p2", "p3")}

    first = run_requests(progress.runs(BY_JOB, NOW, 2), lambda _: ScanResult(ids("whole")), parts)
    second = run_requests(progress.runs(BY_JOB, NOW, 5), lambda _: ScanResult(ids("whole")), {"whole": ids("p3")})

    assert (first, second) == (ids("p1", "p2"), ids("p3", "whole"))


def test_a_copy_of_a_round_does_not_advance_the_original() -> None:
    progress = Round()

    run_requests(copy(progress).runs(BY_JOB, NOW, 5), lambda _: ScanResult(ids("a"), "job-7"))

    assert progress.cursor(Scan.SURPLUS_RUNS) == START


def test_a_round_ends_if_gates_may_read_all_found_executions() -> None:
    progress = Round()
    kept = retention(executions_total=1)

    chosen = run_requests(
        progress.runs(kept, NOW, 2), lambda request: ScanResult(ids("a", "b"), request.cursor), visible={"a", "b"}
    )
    _, pruned = progress.after(removed(0), kept, 2)

    assert (chosen, pruned.is_more) == ([], False)
