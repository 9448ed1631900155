"""Gates in the words of Python code."""

from datetime import timedelta
from typing import Any

import pytest

from foliot.domain.gate.spec import Action, Gate, WindowKind
from foliot.domain.ids import JobId
from foliot.domain.input.gate import KNOWN, take_gate
from foliot.domain.instant import HOUR, MINUTE
from foliot.errors import InvalidInput, InvalidJob
from tests.cases import for_each

BACKUP = JobId("backup")


def test_without_dependencies_there_is_no_gate() -> None:
    given = {"retries": 3}

    assert take_gate(given) is None
    assert given == {"retries": 3}


@pytest.mark.proves("R0-13", "R0-14", "R0-15", "R0-16")
def test_every_option_of_a_gate_is_read_and_removed() -> None:
    given: dict[str, Any] = {
        "retries": 3,
        "depends_on": ["backup"],
        "window": "local_day",
        "window_sec": 3600,
        "timezone": "Asia/Tokyo",
        "on_missing": "fail",
        "on_dep_fail": "run",
        "wait_sec": 60,
        "cooldown_sec": timedelta(hours=1),
        "partial_counts_as": "failed",
    }

    gate = take_gate(given)

    assert given == {"retries": 3}
    assert gate == Gate(
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
    assert take_gate({"depends_on": "backup"}) == Gate(depends_on=(BACKUP,))


@for_each("word", [word for word in KNOWN if word != "depends_on"])
def test_an_option_of_a_gate_without_depends_on_is_refused(word: str) -> None:
    with pytest.raises(InvalidJob, match=f"{word} means nothing without depends_on"):
        take_gate({word: "skip"})


@for_each(
    ("wrong", "told", "hint"),
    [
        ({"depends_on": 7}, "depends_on must be a list of job ids", "Write"),
        ({"depends_on": ["a", 7]}, "depends_on must be a list of job ids", "Write"),
        ({"depends_on": ["a", "a"]}, '"a" is named twice', "once"),
        ({"on_missing": "skp"}, "on_missing 'skp' does not exist", 'Did you mean "skip"'),
        ({"window": "today"}, "window 'today' does not exist", "local_day"),
        ({"partial_counts_as": "no"}, "partial_counts_as 'no' does not exist", "success"),
        ({"window_sec": "3600"}, "window_sec must be a number, not str", "Give"),
        ({"timezone": 1}, "timezone must be text, not int", "quotes"),
    ],
)
def test_an_invalid_option_of_a_gate_is_refused_with_its_name(wrong: dict[str, Any], told: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        take_gate({"depends_on": ["backup"], **wrong})

    assert refusal.value.message == told
    assert hint in (refusal.value.hint or "")


def test_a_zone_that_does_not_exist_is_refused_when_the_job_is_checked() -> None:
    gate = Gate(depends_on=(BACKUP,), timezone="Europe/Berln")

    with pytest.raises(InvalidInput, match="Europe/Berln"):
        gate.check(JobId("report"))
