"""An error about what somebody wrote says what to write instead."""

import ast
from pathlib import Path
from typing import Final

import pytest

import foliot

ROOT: Final = Path(foliot.__file__).parent
FILES: Final = sorted(file for part in ("domain", "config", "service", "app") for file in (ROOT / part).rglob("*.py"))
REFUSALS: Final = (
    *("FoliotError", "InvalidInput", "InvalidCron", "InvalidJob", "InvalidRun", "InvalidSchedule", "OwnedElsewhere"),
    "refusal",  # one of them, as `domain.input.words` was told
)
"""Errors that have a hint only where one is given. The others bring their own."""


def without_hint(source: str) -> list[int]:
    """The lines on which an error is made that has none."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    made = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in REFUSALS]
    return [call.lineno for call in made if "hint" not in {keyword.arg for keyword in call.keywords}]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_refusal_of_an_input_has_a_hint(file: Path) -> None:
    assert without_hint(file.read_text()) == []


def test_one_without_a_hint_is_found() -> None:
    assert without_hint('x = 1\nraise InvalidJob("no", field="x")\nraise InvalidJob("no", hint="Do.")') == [2]
