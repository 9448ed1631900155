"""Tables: aligned text in a pipe, fitted and coloured on a terminal."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from foliot.interfaces.cli.render.format import moment, span
from foliot.interfaces.cli.render.table import Column, aligned, layout, print_fields, print_section, print_table
from tests.cases import for_each
from tests.interfaces.terminal import on_terminal

RUN = "01M7HWKQJK229FVXDEH57J2J9C"
COLUMNS = (Column("RUN", is_whole=True), Column("JOB", is_whole=True), Column("STATUS", stays=True), Column("BY"))
ROW = (RUN, "report", "failed (exit_code)", "a schedule with a name")


def titles(width: int, row: Sequence[str] = ROW) -> list[str]:
    return [COLUMNS[at].title for at in layout(COLUMNS, [row], width)]


def test_columns_are_as_wide_as_their_longest_cell(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([Column("ID"), Column("STATE")], [("a", "on"), ("long-name", "")])

    assert capsys.readouterr().out == "ID         STATE\na          on\nlong-name\n"


def test_a_table_without_rows_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([Column("ID")], [])

    assert capsys.readouterr().out == ""


def test_a_section_without_rows_has_no_title(capsys: pytest.CaptureFixture[str]) -> None:
    print_section("Attempts", [Column("TRY")], [])
    print_section("Steps", [Column("STEP")], [("load",)])

    assert capsys.readouterr().out == "\nSteps\nSTEP\nload\n"


def test_line_breaks_in_a_cell_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    print_fields([("name", "x\nforged  line"), ("nothing", None)])

    assert capsys.readouterr().out == "name  x\\nforged  line\n"


def test_rows_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        aligned([["a", "b"], ["c"]])


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "-"), (0.35, "350ms"), (12.34, "12.3s"), (245, "4m05s"), (12_000, "3h20m"), (187_200, "2d04h")],
)
def test_lengths_of_time_have_two_units(seconds: float | None, text: str) -> None:
    assert span(seconds) == text


def test_moments_have_their_utc_offset() -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=UTC)

    assert moment(None) == "-"
    assert datetime.fromisoformat(moment(noon)) == noon
    assert moment(noon + timedelta(milliseconds=1)) == moment(noon)


def test_a_terminal_gets_colours_and_a_pipe_does_not(shop: Path, call: object) -> None:
    screen = on_terminal("runs", directory=shop)

    assert "\x1b[31mfailed" in screen
    assert "\x1b[1mRUN" in screen


def test_no_color_disables_colours(shop: Path) -> None:
    screen = on_terminal("runs", directory=shop, environment={"NO_COLOR": "1"})

    assert "failed" in screen
    assert "\x1b[31m" not in screen


def test_ids_are_not_wrapped_if_there_is_room(shop: Path) -> None:
    screen = on_terminal("runs", directory=shop, environment={"COLUMNS": "60"})

    assert len([word for word in screen.split() if len(word) == 26 and word.isalnum()]) == 4


@for_each(
    ("width", "shown"),
    [
        (200, ["RUN", "JOB", "STATUS", "BY"]),
        (59, ["RUN", "JOB", "STATUS", "BY"]),
        (58, ["RUN", "JOB", "STATUS", "BY"]),
        (56, ["RUN", "JOB", "STATUS"]),
        (47, ["RUN", "JOB", "STATUS"]),
        (46, ["RUN", "STATUS"]),
        (10, ["RUN", "STATUS"]),
        (1, ["RUN", "STATUS"]),
    ],
)
def test_columns_are_dropped_from_the_right_except_id_and_status(width: int, shown: list[str]) -> None:
    assert titles(width) == shown


@for_each("width", range(9, 120))
def test_a_table_is_never_wider_than_the_terminal_nor_a_column_than_its_cells(width: int) -> None:
    widths = layout(COLUMNS, [ROW], width)

    assert sum(widths.values()) + 2 * (len(widths) - 1) <= width
    assert all(1 <= wide <= len(ROW[at]) for at, wide in widths.items())


def test_an_id_is_whole_wherever_there_is_room_for_it_and_the_status() -> None:
    whole = [width for width in range(20, 120) if layout(COLUMNS, [ROW], width)[0] == len(RUN)]

    assert whole == list(range(26 + 2 + len("(exit_code)"), 120))


def test_a_long_name_is_wrapped_before_a_column_is_dropped() -> None:
    row = (RUN, "j" * 100, "failed", "cli")

    assert titles(80, row) == ["RUN", "JOB", "STATUS", "BY"]
    assert layout(COLUMNS, [row], 200)[1] == 100


def test_wide_characters_take_two_columns() -> None:
    assert layout([Column("A", is_whole=True)], [["日本"]], 80) == {0: 4}


@pytest.mark.parametrize("width", [30, 40, 50, 60, 80])
@pytest.mark.parametrize("command", ["runs", "top --once"])
def test_the_id_and_the_status_can_be_read_on_every_terminal(shop: Path, command: str, width: int) -> None:
    environment = {"COLUMNS": str(width), "NO_COLOR": "1"}
    screen = on_terminal(*command.split(), directory=shop, environment=environment)

    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in screen.splitlines()]
    assert any(line.startswith("RUN ") and "STATUS" in line.split() for line in lines)
    assert any(re.search(r"^01[0-9A-Z]{14,24} .*failed", line) for line in lines)


@pytest.mark.parametrize("width", [22, 40])
def test_no_field_is_left_out_on_a_narrow_terminal(shop: Path, width: int) -> None:
    screen = on_terminal("show", "report", directory=shop, environment={"COLUMNS": str(width), "NO_COLOR": "1"})

    text = re.sub(r"\x1b\[[0-9;]*m|\s", "", screen)
    assert ("echoone;echotwo" in text, "Europe/Berlin" in text) == (True, True)
