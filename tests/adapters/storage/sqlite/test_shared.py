"""What the databases share: queries by name, documents, and sorting of finished attempts."""

from pathlib import Path

import pytest

from foliot.adapters.storage.documents import storable
from foliot.adapters.storage.queries import load_queries
from foliot.adapters.storage.verdicts import is_repeated
from foliot.domain.instant import Millis
from foliot.domain.outcome import Reason
from foliot.domain.run import Again, Ended, GivenBack, Status, Verdict

SUCCESS = Ended(Status.SUCCESS)
FAILURE = Ended(Status.FAILED, Reason.EXIT_CODE, "exit 1", 1)
RETRY = Again(Millis(0), Status.FAILED, Reason.EXIT_CODE)
LOST = Again(Millis(0), Status.FAILED, Reason.LEASE_LOST, was_lost=True)


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
def test_text_that_no_database_takes_is_written_out(text: str | None, stored: str | None) -> None:
    assert storable(text) == stored


@pytest.mark.proves("L2", "M4")
@pytest.mark.parametrize(
    ("verdict", "status", "reason", "answer"),
    [
        (SUCCESS, "success", None, True),
        (FAILURE, "failed", "exit_code", True),
        (RETRY, "failed", "exit_code", True),
        (RETRY, "cancelled", "cancelled", True),
        (GivenBack(), "cancelled", "cancelled", True),
        (SUCCESS, "failed", "output", True),
        (RETRY, "failed", "output", True),
        (LOST, "failed", "lease_lost", True),
        (SUCCESS, "failed", "lease_lost", False),
        (SUCCESS, "cancelled", "cancelled", False),
        (FAILURE, "failed", "lease_lost", False),
        (RETRY, "failed", "lease_lost", False),
        (LOST, "success", None, False),
        (GivenBack(), "failed", "lease_lost", False),
    ],
)
def test_only_the_same_ending_is_the_same_finish_repeated(
    verdict: Verdict, status: str, reason: str | None, answer: bool
) -> None:
    assert is_repeated(verdict, status, reason) is answer
