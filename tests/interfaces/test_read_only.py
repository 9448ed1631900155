"""Read-only commands create nothing, migrate nothing, and need no write permission."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from foliot.adapters.storage.postgres.database.schema import migrations
from foliot.adapters.storage.sqlite.database.schema import MAIN
from foliot.testing.postgres import PostgresServer
from tests.adapters.storage.postgres.fresh import fresh_database
from tests.adapters.storage.sqlite.files import names
from tests.interfaces.conftest import Call, fill

LOOKS = [
    "runs",
    "jobs",
    "schedules",
    "workflows",
    "workflows active",
    "top --once",
    "verify",
    "show report",
    "logs @last",
]
ACTS = ["trigger report", "cancel @last", "pause report", "workflows start etl"]
ROLE = """
CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA foliot TO reader;
GRANT SELECT ON ALL TABLES IN SCHEMA foliot TO reader;
ALTER ROLE reader SET default_transaction_read_only = on
"""


@pytest.fixture(params=["sqlite", "postgres"])
def empty(request: pytest.FixtureRequest, elsewhere: Path) -> Iterator[tuple[str, Callable[[], bool]]]:
    """A URL without a database, and a function that returns whether it still does not exist."""
    if request.param == "sqlite":
        yield "sqlite:///foliot.db", lambda: names(elsewhere) == []
        return
    with fresh_database(is_migrated=False) as (server, name):
        count = "SELECT count(*) FROM pg_namespace WHERE nspname = 'foliot'"
        yield server.dsn(name), lambda: server.sql(count, database=name) == "0"


@pytest.fixture
def served() -> Iterator[tuple[PostgresServer, str]]:
    """A PostgreSQL database in which a few jobs have run."""
    with fresh_database() as (server, name):
        asyncio.run(fill(server.dsn(name)))
        yield server, name


@pytest.mark.parametrize("command", LOOKS + ACTS)
def test_read_only_commands_do_not_create_a_missing_database(
    call: Call, empty: tuple[str, Callable[[], bool]], command: str
) -> None:
    url, is_empty = empty

    code, out, err = call(*command.split(), "--storage", url)

    assert (code, out) == (1, "")
    assert err.startswith("error: there is no Foliot database ")
    assert "foliot migrate" in err
    assert is_empty()


@pytest.mark.parametrize("command", ["migrate", "reload"])
def test_reload_and_migrate_create_a_missing_database(
    call: Call, elsewhere: Path, empty: tuple[str, Callable[[], bool]], command: str
) -> None:
    url, _ = empty
    config = elsewhere / "foliot.toml"
    config.write_text('[[jobs]]\nid = "report"\ncommand = "true"\n')

    assert call(command, "--storage", url).code == 0
    assert call("jobs", "--storage", url).code == 0


def test_a_plan_without_a_database_shows_everything_as_created(
    call: Call, elsewhere: Path, empty: tuple[str, Callable[[], bool]]
) -> None:
    url, is_empty = empty
    config = elsewhere / "foliot.toml"
    config.write_text('[[jobs]]\nid = "report"\ncommand = "true"\n')

    code, out, _ = call("plan", "--storage", url)

    config.unlink()
    assert (code, "report" in out) == (0, True)
    assert is_empty()


def test_read_only_commands_leave_an_empty_database_file_unchanged(call: Call, elsewhere: Path) -> None:
    (elsewhere / "foliot.db").touch()

    code, _, err = call("runs")

    assert (code, err.splitlines()[0]) == (1, f"error: there is no Foliot database in {elsewhere}/foliot.db")
    assert (elsewhere / "foliot.db").read_bytes() == b""


@pytest.mark.parametrize("command", ["runs", "verify", "trigger report"])
def test_read_only_commands_refuse_an_old_sqlite_schema_and_leave_it_unchanged(
    call: Call, shop: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cast(dict[int, str], MAIN), 2, "")
    before = (shop / "foliot.db").read_bytes()

    code, out, err = call(*command.split())

    assert (code, out) == (1, "")
    assert err.startswith(f"error: the database has schema version 1, this Foliot needs {max(MAIN)}\n")
    assert "foliot migrate" in err
    assert (shop / "foliot.db").read_bytes() == before


@pytest.mark.parametrize("command", ["runs", "verify", "trigger report"])
def test_read_only_commands_refuse_an_old_postgresql_schema_and_leave_it_unchanged(
    call: Call, served: tuple[PostgresServer, str], command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, name = served
    known = {**migrations(), 2: ""}
    monkeypatch.setattr("foliot.adapters.storage.postgres.database.schema.migrations", lambda _schema: known)

    code, out, err = call(*command.split(), "--storage", server.dsn(name))

    assert (code, out) == (1, "")
    assert err.startswith("error: the database has schema version 1, this Foliot needs 2\n")
    assert server.sql("SELECT value FROM foliot.meta WHERE key = 'schema_version'", database=name) == "1"


def test_a_postgresql_role_with_select_can_use_every_read_only_command(
    call: Call, served: tuple[PostgresServer, str]
) -> None:
    server, name = served
    server.sql(ROLE, database=name)
    url = server.dsn(name).replace("foliot@", "reader@")

    codes = {command: call(*command.split(), "--storage", url).code for command in LOOKS}

    server.sql("DROP OWNED BY reader; DROP ROLE reader", database=name)
    assert codes == dict.fromkeys(LOOKS, 0)


def test_a_postgresql_role_without_rights_gets_an_error_that_names_them(
    call: Call, served: tuple[PostgresServer, str]
) -> None:
    server, name = served
    server.sql("CREATE ROLE visitor LOGIN", database=name)

    code, _, err = call("runs", "--storage", server.dsn(name).replace("foliot@", "visitor@"))

    server.sql("DROP ROLE visitor", database=name)
    assert code == 1
    assert "USAGE on the schema and SELECT on its tables" in err


def test_reading_a_log_does_not_create_the_log_database(call: Call, shop: Path) -> None:
    (shop / "foliot.db-logs").unlink()

    assert call("show", "report@last").code == 0
    assert call("logs", "broken@last").code == 0
    assert "foliot.db-logs" not in names(shop)
