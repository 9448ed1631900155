"""Progress notes on a terminal."""

import pytest

from foliot.interfaces.cli.progress import progress_note


def test_a_progress_note_appears_after_a_delay_and_is_erased(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_note("reading", is_watched=True, delay=0) as timer:
        timer.join()

    assert capsys.readouterr().err == "\rreading ...\r           \r"


def test_fast_work_prints_no_progress_note(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_note("reading", is_watched=True, delay=600):
        pass

    assert "reading" not in capsys.readouterr().err


def test_no_progress_note_is_printed_into_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_note("reading", delay=0):
        pass

    assert capsys.readouterr() == ("", "")
