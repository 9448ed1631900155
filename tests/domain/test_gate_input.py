"""The options of a gate as keyword arguments."""

from datetime import timedelta
from typing import Any

import pytest

from foliot.domain.gate.spec import Action, Gate, WindowKind
from foliot.domain.ids import JobId
from foliot.domain.input.job import read_gate
from foliot.domain.input.keywords import read_keywords
from foliot.domain.instant import HOUR, MINUTE
from foliot.domain.vocabulary.job import GATE
from foliot.domain.vocabulary.places import JOB_CALL
from foliot.errors import InvalidInput, InvalidJob
from tests.cases import for_each

BACKUP = JobId("backup")
VALUES: dict[str, Any] = {"on_missing": "skip", "on_dep_fail": "skip", "window_kind": "local_day"}
VALUES |= {"partial_counts_as": "failed"}


def gate(**given: Any) -> Gate | None:
    return read_gate(read_keywords(JOB_CALL, given))


def test_without_dependencies_there_is_no_gate() -> None:
    assert gate(retries=3) is None


@pytest.mark.proves("R0-13", "R0-14", "R0-15", "R0-16")
def test_every_option_of_a_gate_is_read() -> None:
    read = gate(
        retries=3,
        depends_on=["backup"],
        window_kind="local_day",
        window_sec=3600,
        timezone="Asia/Tokyo",
        on_missing="fail",
        on_dep_fail="run",
        wait="1m",
        cooldown=timedelta(hours=1),
        partial_counts_as="failed",
    )

    assert read == Gate(
        depends_on=(BACKUP,),
        window=HOUR,
        window_kind=WindowKind.LOCAL_DAY,
        timezone="Asia/Tokyo",
        on_missing=Action.FAIL,
        on_dep_fail=Action.RUN,
        wait=MINUTE,
        cooldown=HOUR,
        partial_counts_as="failed",
    )


def test_a_single_dependency_need_not_be_a_list() -> None:
    assert gate(depends_on="backup") == Gate(depends_on=(BACKUP,))


@for_each("name", [*(name for field in GATE for name in field.names if name != "depends_on"), "timezone"])
def test_an_option_of_a_gate_without_depends_on_is_refused(name: str) -> None:
    with pytest.raises(InvalidJob, match=f"{name} requires depends_on"):
        gate(**{name: VALUES.get(name, "UTC" if name == "timezone" else 5)})


@for_each(
    ("wrong", "message", "hint"),
    [
        ({"depends_on": 7}, "depends_on must be text, not a whole number", "quotes"),
        ({"depends_on": ["a", 7]}, "depends_on must be text, not a whole number", "quotes"),
        ({"depends_on": ["a", "a"]}, '"a" is named twice', "once"),
        ({"on_missing": "skp"}, "on_missing 'skp' is not an allowed value", 'Did you mean "skip"'),
        ({"window_kind": "today"}, "window_kind 'today' is not an allowed value", "local_day"),
        ({"window": "local_day"}, "window 'local_day' is not a duration", 'Use window_kind = "local_day"'),
        ({"partial_counts_as": "no"}, "partial_counts_as 'no' is not an allowed value", "success"),
        ({"window_sec": "3600"}, "window_sec '3600' is not a duration", '"90s"'),
        ({"timezone": 1}, "timezone must be text, not a whole number", "quotes"),
    ],
)
def test_an_invalid_option_of_a_gate_is_refused_with_its_name(wrong: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        gate(**{"depends_on": ["backup"], **wrong})

    assert refusal.value.message == message
    assert hint in (refusal.value.hint or "")


def test_a_zone_that_does_not_exist_is_refused_when_the_job_is_checked() -> None:
    read = Gate(depends_on=(BACKUP,), timezone="Europe/Berln")

    with pytest.raises(InvalidInput, match="Europe/Berln"):
        read.check(JobId("report"))
