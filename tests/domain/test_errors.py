"""Errors are values: they can be copied, and sent from one process to another."""

import copy
import pickle

import pytest

from foliot import cron
from foliot.errors import (
    CycleDetected,
    DriverMissing,
    FoliotError,
    InvalidSchedule,
    InvalidTimezone,
    InvalidWorkflow,
    NotFound,
    OutboundFailed,
    Problem,
    SchemaTooNew,
)
from tests.cases import for_each

ERRORS: list[FoliotError] = [
    FoliotError("it is so", hint="Do this."),
    InvalidSchedule("it never fires", hint="Change it.", field="schedule_expr"),
    InvalidTimezone("Europe/Berln", ["Europe/Berlin"]),
    InvalidWorkflow("etl", [Problem.error("no steps", "Add one.")]),
    CycleDetected(["a", "b", "a"]),
    NotFound("job", "reprot", known=["report"]),
    OutboundFailed("nobody answers", status=502),
    SchemaTooNew(found=9, supported=2),
    DriverMissing("postgresql", "asyncpg", "postgres"),
]


@for_each("error", ERRORS)
def test_an_error_is_whole_after_a_journey(error: FoliotError) -> None:
    arrived = pickle.loads(pickle.dumps(error))

    for same in (arrived, copy.copy(error)):
        assert type(same) is type(error)
        assert (str(same), vars(same), same.args) == (str(error), vars(error), error.args)


def test_the_position_of_a_fault_travels_along() -> None:
    with pytest.raises(cron.InvalidCron) as refused:
        cron.compile("0 25 * * *")

    arrived = pickle.loads(pickle.dumps(refused.value))

    assert (arrived.expression, arrived.position) == ("0 25 * * *", 2)


def test_what_is_not_there_need_not_be_text() -> None:
    assert str(NotFound("run", 5)) == "run '5' does not exist\n  List them with: foliot runs"  # type: ignore[arg-type]
