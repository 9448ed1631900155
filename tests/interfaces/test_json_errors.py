"""With --json, errors and warnings are JSON too: one object per line on standard error."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.conftest import Call, Called


def problems(called: Called) -> list[dict[str, Any]]:
    return [json.loads(line) for line in called.err.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code", "hint"),
    [
        (("show", "reprot"), 1, "not_found", 'Did you mean "report"?'),
        (("trigger", "reprot"), 1, "not_found", 'Did you mean "report"?'),
        (("logs", "@last", "--storage", "sqlite:///empty.db"), 1, "not_found", "foliot trigger"),
        (("cancel", "no-such-run"), 1, "not_found", ""),
        (("runs", "--since", "yesterday"), 2, "invalid_input", ""),
        (("next", "61 * * * *"), 2, "invalid_cron", ""),
        (("runs", "--storage", "sqlite:///missing.db"), 1, "storage_missing", "foliot migrate"),
        (("runs", "--colour"), 2, "usage", "See: foliot runs --help"),
        (("show",), 2, "usage", "See: foliot show --help"),
    ],
)
def test_an_error_is_one_json_object(
    call: Call, shop: Path, arguments: tuple[str, ...], exit_code: int, code: str, hint: str
) -> None:
    call("migrate", "--storage", "sqlite:///empty.db")

    called = call(*arguments, "--json")

    [problem] = problems(called)
    assert (called.code, called.out) == (exit_code, "")
    assert (problem["severity"], problem["code"]) == ("error", code)
    assert problem["message"]
    assert hint in problem["hint"]


def test_problems_of_a_file_are_json_objects_with_their_place(call: Call, elsewhere: Path) -> None:
    Path("foliot.toml").write_text('[[jobs]]\nid = "a"\ncommand = "true"\ncron = "61 * * * *"\n')

    called = call("plan", "--json")

    wrong, last = problems(called)
    assert (wrong["code"], wrong["place"]) == ("configuration_problem", "foliot.toml:4")
    assert last["message"] == "foliot.toml has 1 error"


def test_a_warning_is_a_json_object(call: Call, elsewhere: Path) -> None:
    Path("foliot.toml").write_text("[server]\nadmin_token = 'x'\n")

    called = call("reload", "--json")

    [warning] = problems(called)
    assert (called.code, warning["severity"], warning["place"]) == (0, "warning", "foliot.toml:2")


def test_without_json_errors_are_text(call: Call, shop: Path) -> None:
    call("show", "reprot", "--json")

    assert call("show", "reprot").err.startswith("error: ")
