"""What takes long says so, to whoever watches."""

import pytest

from foliot.interfaces.cli.progress import progress_note


def test_what_takes_long_says_so_and_takes_it_back(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_note("reading", is_watched=True, delay=0) as timer:
        timer.join()

    assert capsys.readouterr().err == "\rreading ...\r           \r"


def test_what_is_done_soon_says_nothing_that_stays(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_note("reading", is_watched=True, delay=600):
        pass

    assert "reading" not in capsys.readouterr().err


def test_nobody_watches_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_note("reading", delay=0):
        pass

    assert capsys.readouterr() == ("", "")
