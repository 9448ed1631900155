"""What the library logs while a command asks it something is said as people read it."""

import logging

import pytest

from foliot.interfaces.cli.log_bridge import print_warnings

log = logging.getLogger("foliot.service.somebody")


def test_an_event_that_nobody_has_words_for_is_said_by_its_name_and_facts(capsys: pytest.CaptureFixture[str]) -> None:
    with print_warnings():
        log.warning("round_failed", extra={"duty": "reaper", "again_in_ms": 500})

    assert capsys.readouterr().err == "warning: round failed: duty reaper, again_in_ms 500\n"


def test_an_exception_is_said_without_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with print_warnings():
        try:
            raise ValueError("no such thing")
        except ValueError:
            log.exception("listener_failed", extra={"function": "tell"})

    assert capsys.readouterr().err == "error: listener failed: function tell, error no such thing\n"


def test_what_is_logged_again_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    with print_warnings():
        for _ in range(3):
            log.warning("job_unreadable", extra={"job": "x", "error": "the row of job 'x' cannot be read"})

    assert capsys.readouterr().err == "warning: the row of job 'x' cannot be read\n"


@pytest.mark.parametrize(
    ("logger", "event"),
    [("foliot.engine.loop", "round_failed"), ("foliot.adapters.storage.postgres.bell", "bell_has_no_connection")],
)
def test_what_a_server_sees_to_is_not_said(logger: str, event: str, capsys: pytest.CaptureFixture[str]) -> None:
    with print_warnings():
        logging.getLogger(logger).warning(event, extra={"error": "gone"})

    assert capsys.readouterr().err == ""


def test_what_is_no_trouble_is_not_said_and_nothing_is_when_the_command_is_over(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with print_warnings():
        log.info("job_changed")
    with caplog.at_level(logging.WARNING):
        log.warning("round_failed")

    assert capsys.readouterr().err == ""


def test_one_that_cannot_be_put_in_words_does_not_stop_whoever_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    with print_warnings():
        log.warning("job_left_behind")
