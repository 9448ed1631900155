"""Warnings that the library logs during a command are printed."""

import logging

import pytest

from foliot.interfaces.cli.log_bridge import print_warnings

log = logging.getLogger("foliot.service.somebody")


def test_an_event_without_a_text_is_printed_with_its_name_and_facts(capsys: pytest.CaptureFixture[str]) -> None:
    with print_warnings():
        log.warning("round_failed", extra={"duty": "reaper", "again_in_ms": 500})

    assert capsys.readouterr().err == "warning: round failed: duty reaper, again_in_ms 500\n"


def test_an_exception_is_printed_without_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with print_warnings():
        try:
            raise ValueError("no such thing")
        except ValueError:
            log.exception("listener_failed", extra={"function": "tell"})

    assert capsys.readouterr().err == "error: listener failed: function tell, error no such thing\n"


def test_a_repeated_event_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    with print_warnings():
        for _ in range(3):
            log.warning("job_unreadable", extra={"job": "x", "error": "the row of job 'x' cannot be read"})

    assert capsys.readouterr().err == "warning: the row of job 'x' cannot be read\n"


@pytest.mark.parametrize(
    ("logger", "event"),
    [
        ("foliot.engine.loop", "round_failed"),
        ("foliot.adapters.storage.postgres.database.bell", "bell_has_no_connection"),
    ],
)
def test_events_that_concern_only_a_server_are_not_printed(
    logger: str, event: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with print_warnings():
        logging.getLogger(logger).warning(event, extra={"error": "gone"})

    assert capsys.readouterr().err == ""


def test_only_warnings_are_printed_and_only_during_the_command(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with print_warnings():
        log.info("job_changed")
    with caplog.at_level(logging.WARNING):
        log.warning("round_failed")

    assert capsys.readouterr().err == ""


def test_an_event_that_cannot_be_formatted_does_not_break_the_logging_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    with print_warnings():
        log.warning("job_kept")
