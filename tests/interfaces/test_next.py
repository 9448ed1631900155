"""foliot next: the preview of an expression."""

import json

import pytest

from foliot.interfaces.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.mark.proves("R4-03", "R4-14")
def test_it_says_in_words_and_in_times_when_an_expression_fires(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "next", "0 3 * * MON-FRI", "--tz", "Europe/Berlin", "--from", "2026-03-27T00:00:00", "-n", "2"
    )

    assert code == 0
    assert out.splitlines() == [
        "at 03:00 on Monday to Friday, Europe/Berlin",
        "  Fri 2026-03-27 03:00:00 +0100 CET",
        "  Mon 2026-03-30 03:00:00 +0200 CEST",
    ]


def test_json_is_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "next", "@hourly", "--from", "2026-01-01T00:30:00", "-n", "1", "--json")

    assert code == 0
    assert json.loads(out)["next"] == ["2026-01-01T01:00:00+00:00"]


@pytest.mark.proves("R4-33", "R4-58")
def test_a_fault_is_pointed_at_and_the_exit_code_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "next", "0 25 * * *")

    assert (code, out) == (2, "")
    assert err.splitlines()[:2] == ["  0 25 * * *", "    ^"]


@pytest.mark.proves("R4-58")
@pytest.mark.parametrize("zone", ["Europe/Berlim", "../../etc/passwd", "Europe/Ber\x07lin", ""])
def test_a_zone_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str], zone: str) -> None:
    code, _, err = run(capsys, "next", "* * * * *", "--tz", zone)

    assert code == 2
    assert "timezone" in err
    assert "\x07" not in err


def test_a_manual_expression_never_fires_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "next", "@triggered")

    assert code == 0
    assert out.splitlines()[-1] == "  never by itself"


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--help")

    assert code == 0
    assert all(name in out for name in ("next", "runs", "serve", "verify", "worker"))


def test_an_unknown_command_is_a_bad_call(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "sevre")

    assert code == 2
    assert "sevre" in err
