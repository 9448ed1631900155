"""foliot next: the preview of an expression."""

import pytest

from tests.interfaces.conftest import Call


@pytest.mark.proves("R4-03", "R4-14")
@pytest.mark.parametrize("start", ["2026-03-27T00:00:00", "2026-03-27T00:00:00Z", "2026-03-27T01:00+01:00"])
def test_next_prints_a_description_and_the_next_times(call: Call, start: str) -> None:
    code, out, _ = call("next", "0 3 * * MON-FRI", "--tz", "Europe/Berlin", "--from", start, "-n", "2")

    assert code == 0
    assert out.splitlines() == [
        "at 03:00 on Monday to Friday, Europe/Berlin",
        "  Fri 2026-03-27 03:00:00 +0100 CET",
        "  Mon 2026-03-30 03:00:00 +0200 CEST",
    ]


def test_next_prints_times_as_json(call: Call) -> None:
    [answer] = call("next", "@hourly", "--from", "2026-01-01T00:30:00", "-n", "1", "--json").objects

    assert answer["next"] == ["2026-01-01T01:00:00Z"]


@pytest.mark.proves("R4-33", "R4-58")
def test_an_invalid_expression_is_marked_and_exits_with_2(call: Call) -> None:
    code, out, err = call("next", "0 25 * * *")

    assert (code, out) == (2, "")
    assert err.splitlines()[:2] == ["  0 25 * * *", "    ^"]


def test_a_long_invalid_expression_is_shown_around_the_error(call: Call) -> None:
    _, _, err = call("next", "0," * 200 + "x * * * *")

    line, caret, *_ = err.splitlines()
    assert (line.index("x"), len(line) < 80) == (caret.index("^"), True)


@pytest.mark.proves("R4-58")
@pytest.mark.parametrize("zone", ["Europe/Berlim", "../../etc/passwd", "Europe/Ber\x07lin", ""])
def test_an_unknown_time_zone_is_refused(call: Call, zone: str) -> None:
    code, _, err = call("next", "* * * * *", "--tz", zone)

    assert code == 2
    assert "timezone" in err
    assert "\x07" not in err


@pytest.mark.parametrize("wrong", [["--from", "tomorrow"], ["-n", "0"], ["--dst", "never"], ["--dom-dow", "xor"]])
def test_invalid_options_of_next_exit_with_2(call: Call, wrong: list[str]) -> None:
    code, out, err = call("next", "@hourly", *wrong)

    assert (code, out) == (2, "")
    assert err.startswith("error: ")


@pytest.mark.parametrize(
    ("expression", "words"),
    [("@triggered", "manual"), ("@manual", "manual"), ("@reboot", "once after each boot of the host")],
)
def test_an_expression_without_planned_times_is_described_only(call: Call, expression: str, words: str) -> None:
    assert call("next", expression) == (0, f"{words}\n", "")


def test_a_doubtful_expression_prints_a_warning_on_standard_error(call: Call) -> None:
    code, _, err = call("next", "0 0 13 * FRI")

    assert code == 0
    assert err.startswith("warning: ")


@pytest.mark.parametrize(
    ("rule", "words", "first"),
    [
        ("or", "at 00:00 on day 13 of the month or on Friday, UTC", "  Fri 2026-01-02 00:00:00 +0000 UTC"),
        ("and", "at 00:00 on day 13 of the month if that is Friday, UTC", "  Fri 2026-02-13 00:00:00 +0000 UTC"),
    ],
)
def test_the_day_rule_can_be_chosen(call: Call, rule: str, words: str, first: str) -> None:
    code, out, err = call("next", "0 0 13 * FRI", "--dom-dow", rule, "--from", "2026-01-01T00:00Z")

    assert (code, out.splitlines()[:2]) == (0, [words, first])
    assert bool(err) == (rule == "or")


@pytest.mark.proves("T13")
@pytest.mark.parametrize(
    ("dst", "first"),
    [
        ("vixie", "  Sun 2024-03-31 03:00:00 +0200 CEST"),
        ("skip", "  Mon 2024-04-01 02:30:00 +0200 CEST"),
        ("literal", "  Mon 2024-04-01 02:30:00 +0200 CEST"),
    ],
)
def test_the_rule_for_clock_changes_can_be_chosen(call: Call, dst: str, first: str) -> None:
    question = ("next", "30 2 * * *", "--tz", "Europe/Berlin", "--from", "2024-03-31T00:00Z")

    assert call(*question, "--dst", dst).out.splitlines()[1] == first
