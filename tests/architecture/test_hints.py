"""Errors about input have a hint that says what to write instead."""

import ast
from pathlib import Path
from typing import Final

import foliot
from tests.cases import for_each

ROOT: Final = Path(foliot.__file__).parent
FILES: Final = sorted(file for part in ("domain", "config", "service", "app") for file in (ROOT / part).rglob("*.py"))
REFUSALS: Final = (
    *("FoliotError", "InvalidInput", "InvalidCron", "InvalidJob", "InvalidRun", "InvalidSchedule", "OwnedElsewhere"),
    "refusal",  # the class that a caller of `domain.input.words` chooses
)
"""Errors that have a hint only if one is given. The other errors have their own."""


def without_hint(source: str) -> list[int]:
    """Return the lines that create an error without a hint."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    made = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in REFUSALS]
    return [call.lineno for call in made if "hint" not in {keyword.arg for keyword in call.keywords}]


def problems_without_hint(source: str) -> list[int]:
    """Return the lines that report a problem without a hint, or with a hint that may be empty (a similar name)."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [call.lineno for call in calls if _reports_problem(call) and not _has_hint(call)]


def _reports_problem(call: ast.Call) -> bool:
    called = call.func
    if not isinstance(called, ast.Attribute) or called.attr not in ("error", "warning"):
        return False
    return ast.unparse(called.value).lower().endswith(("problem", "problems"))


def _has_hint(call: ast.Call) -> bool:
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return True  # a whole problem, created elsewhere
    is_one = ast.unparse(call.func).startswith("Problem.")  # the others have the place as an argument
    given = [keyword.value for keyword in call.keywords if keyword.arg == "hint"] or call.args[1 if is_one else 2 :]
    return bool(given) and not _may_be_empty(given[0])


def _may_be_empty(hint: ast.expr) -> bool:
    if isinstance(hint, ast.Call) and ast.unparse(hint.func) == "suggest":
        return "otherwise" not in {keyword.arg for keyword in hint.keywords}
    return isinstance(hint, ast.Constant) and not hint.value


@for_each("file", FILES)
def test_every_refusal_of_an_input_has_a_hint(file: Path) -> None:
    assert without_hint(file.read_text()) == []


@for_each("file", FILES)
def test_every_problem_of_a_definition_has_a_hint(file: Path) -> None:
    assert problems_without_hint(file.read_text()) == []


def test_an_error_without_a_hint_is_detected() -> None:
    assert without_hint('x = 1\nraise InvalidJob("no", field="x")\nraise InvalidJob("no", hint="Do.")') == [2]


@for_each(
    ("source", "is_found"),
    [
        ('Problem.error("no")', True),
        ('Problem.warning("no", "")', True),
        ('Problem.error("no", suggest(name, known))', True),
        ('Problem.error("no", suggest(name, known, otherwise="Do."))', False),
        ('Problem.error("no", "Do.")', False),
        ('reading.problems.error(place, "no")', True),
        ('self._problems.warning(place, "no", "Do.")', False),
        ('self._problems.warning(place, "no", hint="")', True),
        ("problems.error(*found)", False),
        ('log.error("no")', False),
    ],
)
def test_a_problem_without_a_hint_is_detected(source: str, is_found: bool) -> None:
    assert problems_without_hint(source) == [1] * is_found
