"""Tables: aligned text in a pipe, fitted and coloured on a terminal."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from foliot.interfaces.cli.table import Column, aligned, moment, print_fields, print_table, span
from tests.interfaces.terminal import on_terminal


def test_columns_are_as_wide_as_their_longest_cell(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([Column("ID"), Column("STATE")], [("a", "on"), ("long-name", "")])

    assert capsys.readouterr().out == "ID         STATE\na          on\nlong-name\n"


def test_no_rows_print_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([Column("ID")], [])

    assert capsys.readouterr().out == ""


def test_a_cell_cannot_begin_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    print_fields([("name", "x\nforged  line"), ("nothing", None)])

    assert capsys.readouterr().out == "name  x\\nforged  line\n"


def test_rows_must_be_as_long_as_each_other() -> None:
    with pytest.raises(ValueError, match="shorter"):
        aligned([["a", "b"], ["c"]])


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "-"), (0.35, "350ms"), (12.34, "12.3s"), (245, "4m05s"), (12_000, "3h20m"), (187_200, "2d04h")],
)
def test_lengths_of_time_have_two_units(seconds: float | None, text: str) -> None:
    assert span(seconds) == text


def test_moments_say_their_zone() -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=UTC)

    assert moment(None) == "-"
    assert datetime.fromisoformat(moment(noon)) == noon
    assert moment(noon + timedelta(milliseconds=1)) == moment(noon)


def test_a_terminal_gets_colours_and_a_pipe_does_not(shop: Path, call: object) -> None:
    screen = on_terminal("runs", directory=shop)

    assert "\x1b[31mfailed" in screen
    assert "\x1b[1mRUN" in screen


def test_no_color_is_heeded(shop: Path) -> None:
    screen = on_terminal("runs", directory=shop, environment={"NO_COLOR": "1"})

    assert "failed" in screen
    assert "\x1b[31m" not in screen


def test_what_people_copy_is_never_cut(shop: Path) -> None:
    screen = on_terminal("runs", directory=shop, environment={"COLUMNS": "60"})

    assert len([word for word in screen.split() if len(word) == 26 and word.isalnum()]) == 4
