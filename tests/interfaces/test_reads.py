"""Commands read the database once."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from foliot.adapters.storage.sqlite.database.reader import Reader
from tests.interfaces.conftest import Call


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the reads of each file, by its name; a peek counts as a read."""
    counts: Counter[str] = Counter()
    read, peek = Reader.read, Reader.peek

    async def count_read(self: Reader, look: Any) -> Any:
        counts[self.path.name] += 1
        return await read(self, look)

    def count_peek(self: Reader, *asked: Any) -> Any:
        counts[self.path.name] += 1
        return peek(self, *asked)

    monkeypatch.setattr(Reader, "read", count_read)
    monkeypatch.setattr(Reader, "peek", count_peek)
    return counts


@pytest.mark.parametrize("name", ["good@last", "etl@last", "etl.alarm@last", "later@last", "digest@last"])
def test_show_run_reads_its_page_its_trail_and_its_log_once_each(
    call: Call, plant: Path, reads: Counter[str], name: str
) -> None:
    assert call("show", name).code == 0

    assert reads == {"foliot.db": 2, "foliot.db-logs": 1}


def test_status_reads_health_breakers_and_deliveries_once_each(call: Call, plant: Path, reads: Counter[str]) -> None:
    assert call("status").code == 2

    assert reads == {"foliot.db": 3}


@pytest.mark.parametrize(
    "command",
    [
        *("show good", "runs", "runs --root etl@last", "jobs", "schedules", "workflows", "workflows show etl"),
        *("workflows active", "top --once", "explain etl@last", "explain digest@last"),
    ],
)
def test_a_read_only_command_reads_the_database_once(
    call: Call, plant: Path, reads: Counter[str], command: str
) -> None:
    assert call(*command.split()).code == 0

    assert reads == {"foliot.db": 1}
