"""The next fires after a deployment."""

from msgspec.structs import replace

from foliot.domain.deploy.compare import compare
from foliot.domain.deploy.deployment import Changes, Current, Declared
from foliot.domain.deploy.upcoming import upcoming_fires
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import MINUTE, Instant
from foliot.testing.clock import START
from tests.domain.deployments import A, B, every, job, stored

FAST, SLOW = ScheduleId("fast"), ScheduleId("slow")
DECLARED = Declared(jobs={A: job(), B: job()}, schedules={FAST: every(60), SLOW: every(150, B)})


def fires(changes: Changes, *, limit: int = 10) -> list[tuple[str, int]]:
    """Return the fires of the next five minutes, with their seconds from now."""
    found = upcoming_fires(changes, START, Instant(START + 5 * MINUTE), limit)
    return [(fire.schedule_id, (fire.at - START) // 1_000) for fire in found]


def test_the_fires_of_all_schedules_are_merged_in_order_and_end_with_the_period() -> None:
    assert fires(compare(DECLARED, Current())) == [
        ("fast", 60),
        ("fast", 120),
        ("slow", 150),
        ("fast", 180),
        ("fast", 240),
        ("fast", 300),
        ("slow", 300),
    ]


def test_no_more_fires_are_returned_than_the_limit() -> None:
    assert fires(compare(DECLARED, Current()), limit=2) == [("fast", 60), ("fast", 120)]


def test_paused_schedules_disabled_jobs_and_removed_schedules_do_not_fire() -> None:
    gone = ScheduleId("gone")
    current = Current(
        jobs={A: job(), B: job()},
        schedules={FAST: stored(every(60)), SLOW: stored(every(150, B)), gone: stored(every(30))},
        paused=frozenset({FAST}),
    )
    disabled = replace(DECLARED, jobs={A: job(), B: job(enabled=False)})

    assert fires(compare(disabled, current)) == []
