"""Locks end with their transaction, so that nothing depends on the session of the next statement."""

import re
from pathlib import Path

import pytest

import foliot.adapters.storage.postgres as adapter
from foliot.adapters.storage.postgres.database.schema import _LOCK

_SESSION_LOCK = re.compile(r"pg_(?:try_)?advisory_(?:unlock|lock)", re.IGNORECASE)


@pytest.mark.proves("L9")
def test_no_statement_takes_a_lock_that_outlives_its_transaction() -> None:
    files = [file for file in Path(adapter.__file__).parent.rglob("*") if file.suffix in {".py", ".sql"}]

    assert len(files) > 40
    assert [file.name for file in files if _SESSION_LOCK.search(file.read_text())] == []


def test_a_session_lock_would_be_detected() -> None:
    assert _SESSION_LOCK.search("SELECT pg_try_advisory_lock(1)")
    assert "pg_advisory_xact_lock" in _LOCK
    assert not _SESSION_LOCK.search(_LOCK)
