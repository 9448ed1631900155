"""Errors can be copied and sent from one process to another, and have one public address."""

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
    FoliotError("the disk is full", hint="Free some space."),
    InvalidSchedule("it never fires", hint="Change it.", field="schedule_expr"),
    InvalidTimezone("Europe/Berln", ["Europe/Berlin"]),
    InvalidWorkflow("etl", [Problem.error("no steps", "Add one.")]),
    CycleDetected(["a", "b", "a"]),
    NotFound("job", "reprot", known=["report"]),
    OutboundFailed("connection refused", status=502),
    SchemaTooNew(found=9, supported=2),
    DriverMissing("postgresql", "asyncpg", "postgres"),
]


@for_each("error", ERRORS)
def test_an_error_is_addressed_by_the_package(error: FoliotError) -> None:
    assert type(error).__module__ == "foliot.errors"


@for_each("error", ERRORS)
def test_an_error_survives_pickling_and_copying(error: FoliotError) -> None:
    restored = pickle.loads(pickle.dumps(error))

    for same in (restored, copy.copy(error)):
        assert type(same) is type(error)
        assert (str(same), vars(same), same.args) == (str(error), vars(error), error.args)


def test_the_position_of_a_cron_fault_survives_pickling() -> None:
    with pytest.raises(cron.InvalidCron) as refused:
        cron.compile("0 25 * * *")

    restored = pickle.loads(pickle.dumps(refused.value))

    assert (restored.expression, restored.position) == ("0 25 * * *", 2)


def test_not_found_accepts_a_name_that_is_not_text() -> None:
    assert str(NotFound("run", 5)) == "run '5' does not exist\n  List them with: foliot runs"  # type: ignore[arg-type]
