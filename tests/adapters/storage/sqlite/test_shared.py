"""Shared code of the databases: queries by name, documents, and repeated finishes."""

from pathlib import Path

import pytest

from foliot.adapters.storage.shared.documents import storable
from foliot.adapters.storage.shared.finish_plan import is_repeated
from foliot.adapters.storage.shared.sql import load_queries
from foliot.domain.run.outcome import Cancelled, Failure, Interrupted, Lost, Outcome, Reason, Success, TimedOut

SUCCESS = Success()
FAILURE = Failure("exit 1", Reason.EXIT_CODE, 1, retryable=False)
RETRY = Failure("exit 1", Reason.EXIT_CODE, 1)


def test_queries_are_found_by_name_without_their_comments(tmp_path: Path) -> None:
    (tmp_path / "some.sql").write_text(
        "-- name: one\n-- why\nSELECT 1\n\n-- name: two\nSELECT 2\n    -- why\n    + 2;\n"
    )

    assert load_queries(tmp_path / "some.sql") == {"one": "SELECT 1", "two": "SELECT 2\n    + 2"}


def test_a_query_named_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "some.sql").write_text("-- name: one\nSELECT 1\n-- name: one\nSELECT 2\n")

    with pytest.raises(ValueError, match="twice"):
        load_queries(tmp_path / "some.sql")


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (None, None),
        ("plain", "plain"),
        ("naïve ✓", "naïve ✓"),
        ("half \udcff", "half \\udcff"),
        ("\ud800\0", "\\ud800\\0"),
    ],
)
def test_text_that_a_database_cannot_store_is_escaped(text: str | None, stored: str | None) -> None:
    assert storable(text) == stored


@pytest.mark.proves("L2", "M4")
@pytest.mark.parametrize(
    ("outcome", "status", "reason", "answer"),
    [
        (SUCCESS, "success", None, True),
        (FAILURE, "failed", "exit_code", True),
        (RETRY, "failed", "exit_code", True),
        (RETRY, "cancelled", "cancelled", True),
        (Interrupted(), "cancelled", "cancelled", True),
        (Interrupted(), "failed", "restart", True),
        (Cancelled(), "cancelled", "cancelled", True),
        (TimedOut("late"), "timeout", "timeout", True),
        (TimedOut("late"), "cancelled", "cancelled", True),
        (Lost(), "cancelled", "cancelled", True),
        (SUCCESS, "failed", "output", True),
        (RETRY, "failed", "output", True),
        (Lost(), "failed", "lease_lost", True),
        (SUCCESS, "failed", "lease_lost", False),
        (SUCCESS, "cancelled", "cancelled", False),
        (FAILURE, "failed", "lease_lost", False),
        (FAILURE, "cancelled", "cancelled", False),
        (TimedOut("late"), "failed", "lease_lost", False),
        (RETRY, "failed", "lease_lost", False),
        (Lost(), "success", None, False),
        (Interrupted(), "failed", "lease_lost", False),
    ],
)
def test_a_finish_is_repeated_only_if_the_stored_ending_matches(
    outcome: Outcome, status: str, reason: str | None, answer: bool
) -> None:
    assert is_repeated(outcome, status, reason) is answer
