"""A server that cannot use its storage any more ends in order, so that a supervisor can restart it."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.scenarios.server import Place

JOB = '[[jobs]]\nid = "often"\ncommand = "true"\nevery = "1s"\n'


def upgrade(file: Path) -> None:
    """Upgrade the schema to one of a later Foliot that this one must not write to."""
    connection = apsw.Connection(str(file))
    connection.set_busy_timeout(5_000)
    connection.execute("UPDATE meta SET value = 999 WHERE key = 'min_code'")
    connection.close()


@pytest.mark.proves("M2", "M3")
@pytest.mark.parametrize(
    ("take_away", "reason"),
    [(Path.unlink, "was deleted while it was in use"), (upgrade, "has schema version 999")],
    ids=["deleted", "upgraded"],
)
def test_a_server_that_loses_its_storage_ends_with_the_reason(
    tmp_path: Path, take_away: Callable[[Path], None], reason: str
) -> None:
    place = Place(tmp_path)
    place.file.write_text(JOB)

    with place.serve() as server:
        take_away(tmp_path / "foliot.db")
        said = server.output()

    assert server.code == 1
    assert "node_failed" in said
    assert "node_stopped" in said
    assert reason in said.splitlines()[-2]
