"""Messages have the fields of the specification, and no secrets."""

import pytest

from foliot.domain.alert import Alert
from foliot.domain.instant import Instant
from foliot.domain.notification.message import (
    LOG_LINES,
    alert_document,
    log_lines,
    message_id,
    receiver_of,
    run_document,
)
from foliot.domain.notification.rule import Occasion
from foliot.domain.notification.settings import NotificationSettings
from foliot.domain.run.run import Run, Status


def a_run(**fields: object) -> Run:
    values = dict.fromkeys(Run._fields) | {"id": "01R", "job_id": "report", "trigger": "schedule", "attempt": 2}
    return Run(**{**values, "status": Status.FAILED, **fields})  # type: ignore[arg-type]


def test_a_message_about_a_run_has_the_specified_fields() -> None:
    run = a_run(started_at=Instant(1_000), finished_at=Instant(2_500), exit_code=3, error="boom")

    document = run_document(
        run, Occasion.FAILURE, job_name="Report", log=["last"], failures=4, url="https://f/runs/01R"
    )

    assert document == {
        "type": "run.ended",
        "occasion": "failure",
        "job_id": "report",
        "job_name": "Report",
        "run_id": "01R",
        "status": "failed",
        "reason": None,
        "trigger": "schedule",
        "attempt": 2,
        "exit_code": 3,
        "started_at": "1970-01-01T00:00:01Z",
        "finished_at": "1970-01-01T00:00:02.500Z",
        "error": "boom",
        "failures_in_a_row": 4,
        "log": ["last"],
        "url": "https://f/runs/01R",
    }


def test_secrets_are_masked_in_errors_logs_and_facts() -> None:
    run = a_run(error="login failed: password=hunter2")

    assert "hunter2" not in str(run_document(run, Occasion.FAILURE))
    assert log_lines([b"curl -H 'Authorization: Bearer hun", b"ter2'\n"]) == ["curl -H 'Authorization: Bearer ***'"]
    alert = Alert("breaker_opened", "auction", {"api_token": "hunter2", "run_ids": ["a"]})
    assert alert_document(alert, Instant(0))["facts"] == {"api_token": "***", "run_ids": ["a"]}


def test_the_log_is_its_last_lines_each_cut() -> None:
    lines = log_lines([b"".join(b"%d\n" % number for number in range(100)), b"\n", b"x" * 10_000, b"\xff"])

    assert len(lines) == LOG_LINES
    assert lines[-2] == "99"
    assert len(lines[-1]) == 500


@pytest.mark.proves("S4")
def test_a_message_has_one_id_per_event_subject_and_receiver() -> None:
    receiver = receiver_of("webhook", "https://example.org/secret")

    assert "secret" not in receiver
    assert message_id(7, "01R", receiver) == message_id(7, "01R", receiver)
    assert len({message_id(*given) for given in [(7, "a", "b"), (8, "a", "b"), (7, "b", "b"), (7, "a", "c")]}) == 4


def test_links_lead_to_the_public_address() -> None:
    assert (
        NotificationSettings(public_url="https://foliot.example/x/").link("01R") == "https://foliot.example/x/runs/01R"
    )
    assert NotificationSettings().link("01R") == ""
