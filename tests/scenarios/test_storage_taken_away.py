"""A server that cannot go on with its storage ends by itself, in good order, so that whoever watches it notices."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.scenarios.server import Place

JOB = '[[jobs]]\nid = "often"\ncommand = "true"\nevery = "1s"\n'


def upgrade(file: Path) -> None:
    """A later Foliot has come by, and what it has made is not for this one to write any more."""
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
def test_a_server_ends_and_says_why(tmp_path: Path, take_away: Callable[[Path], None], reason: str) -> None:
    place = Place(tmp_path)
    place.file.write_text(JOB)

    with place.serve() as server:
        take_away(tmp_path / "foliot.db")
        said = server.output()

    assert server.code == 1
    assert "node_failed" in said
    assert "node_stopped" in said
    assert reason in said.splitlines()[-2]
