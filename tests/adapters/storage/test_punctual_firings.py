"""Only firings with exactly one tick, on time, whose run may start immediately, use the fast path."""

from typing import Any

import pytest
from msgspec.structs import replace

from foliot.adapters.storage.shared.ledger import is_punctual
from foliot.domain.instant import MINUTE, SECOND, Instant, later
from foliot.domain.job.job import Options
from foliot.domain.schedule.firing import Firing
from foliot.domain.schedule.tick import PlannedTick, TickOutcome, TickReason
from foliot.testing.builders import a_due_schedule, an_id, every, fire
from foliot.testing.clock import START

MOMENT = later(START, MINUTE)


def firing() -> Firing:
    return fire(a_due_schedule(every(60, anchor=START), settled_until=START), MOMENT)


def test_one_tick_on_time_is_punctual() -> None:
    assert is_punctual(firing())


@pytest.mark.parametrize(
    "change",
    [
        {"ticks": []},
        {"runs": []},
        {"ticks": firing().ticks * 2},
        {"runs": firing().runs * 2},
        {"waiting": frozenset({"RUN"})},
        {"planned": [PlannedTick(MOMENT, MOMENT, 1)]},
        {"cancels_running": True},
        {"behind_since": START},
        {"next_run_at": None, "wake_at": None},
        {"wake_at": START},
        {"last_scheduled_at": None},
        {"settled_until": Instant(MOMENT + SECOND), "last_scheduled_at": Instant(MOMENT + SECOND)},
        {"uid": "ANOTHER"},
    ],
    ids=lambda change: ",".join(change),
)
def test_a_firing_with_anything_else_to_save_needs_the_general_path(change: dict[str, Any]) -> None:
    assert not is_punctual(replace(firing(), **change))


@pytest.mark.parametrize(
    "change",
    [
        {"until": later(MOMENT, MINUTE)},
        {"count": 2},
        {"outcome": TickOutcome.SKIPPED, "reason": TickReason.OVERLAP},
        {"fire_at": later(MOMENT, SECOND)},
        {"run_id": an_id()},
        {"into": MOMENT},
    ],
    ids=lambda change: ",".join(change),
)
def test_a_tick_that_is_late_or_covers_several_moments_needs_the_general_path(change: dict[str, Any]) -> None:
    plain = firing()

    assert not is_punctual(replace(plain, ticks=[plain.ticks[0]._replace(**change)]))


@pytest.mark.parametrize(
    "change",
    [
        {"options": Options(max_concurrent=1)},
        {"options": Options(concurrency_key="disk")},
        {"dedupe_key": "once"},
        {"overrides": b"{}"},
        {"parent_id": "EXECUTION", "root_id": "EXECUTION"},
        {"is_gated": True},
        {"tick": None},
    ],
    ids=lambda change: ",".join(change),
)
def test_a_run_that_may_have_to_wait_needs_the_general_path(change: dict[str, Any]) -> None:
    plain = firing()

    assert not is_punctual(replace(plain, runs=[replace(plain.runs[0], **change)]))
