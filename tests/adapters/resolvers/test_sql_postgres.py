"""sql:// reads the first column of a query from a PostgreSQL server, and can do nothing else."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from foliot.adapters.resolvers.sql.resolver import SqlResolver
from foliot.errors import InputsRefused, InputsUnavailable
from foliot.testing.postgres import PostgresServer
from tests.adapters.resolvers.resolving import a_request, items, values
from tests.adapters.resolvers.sql_source import FixedDsns
from tests.adapters.storage.postgres.fresh import fresh_database

ROLE = "fanout_reader"
PASSWORD = "hunter2"


@dataclass
class Shop:
    server: PostgresServer
    name: str

    @property
    def dsn(self) -> str:
        return re.sub("://[^@]*@", f"://{ROLE}:{PASSWORD}@", self.server.dsn(self.name))

    def resolver(self, seconds: float = 60) -> SqlResolver:
        return SqlResolver(FixedDsns(main=self.dsn, root=self.server.dsn(self.name)), seconds=seconds)

    def sessions(self) -> int:
        statement = f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{ROLE}' AND datname = '{self.name}'"
        return int(self.server.sql(statement))


@pytest.fixture
def shop() -> Iterator[Shop]:
    with fresh_database(is_migrated=False) as (server, name):
        server.sql(
            f"DO $$ BEGIN CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'; EXCEPTION WHEN duplicate_object THEN END $$"
        )
        server.sql(
            "CREATE TABLE targets (url text, enabled int);"
            "INSERT INTO targets VALUES ('https://a', 1), ('https://b', 0), ('https://c', 1);"
            f"GRANT ALL ON targets TO {ROLE}",
            database=name,
        )
        yield Shop(server, name)


@pytest.mark.proves("R0-47")
async def test_the_first_column_has_the_items(shop: Shop) -> None:
    query = "sql://main?SELECT url, enabled FROM targets WHERE enabled = 1 ORDER BY url"

    assert await items(shop.resolver(), query) == [b"https://a", b"https://c"]


@pytest.mark.parametrize(
    ("value", "item"),
    [
        ("7", 7),
        ("true", True),
        ("2.5::float8", 2.5),
        ("1.10::numeric", "1.10"),
        ("'\\xff41'::bytea", {"item_base64": "/0E="}),
        ("date '2026-01-31'", "2026-01-31"),
        ("'6ba7b810-9dad-11d1-80b4-00c04fd430c8'::uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        ("'{\"a\": 1}'::jsonb", '{"a": 1}'),
        ("'NaN'::float8", "nan"),
    ],
)
async def test_values_of_every_type_are_items(shop: Shop, value: str, item: object) -> None:
    assert await values(shop.resolver(), f"sql://main?SELECT {value}") == [item]


async def test_a_large_result_is_read_in_batches(shop: Shop) -> None:
    found = await values(shop.resolver(), "sql://main?SELECT i FROM generate_series(1, 20000) AS i")

    assert found == list(range(1, 20_001))


@pytest.mark.proves("Z26")
async def test_rows_are_read_from_a_cursor_and_not_all_at_once(shop: Shop) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"

    with pytest.raises(InputsRefused, match="more than 2,000 items"):
        await items(shop.resolver(), f"sql://main?{endless}", items=2_000)


@pytest.mark.proves("Z26")
async def test_a_query_past_its_timeout_is_ended_on_the_server(shop: Shop) -> None:
    with pytest.raises(InputsUnavailable, match=r"took (too long|longer than 0.5 s)"):
        await items(shop.resolver(seconds=0.5), "sql://main?SELECT pg_sleep(60)")


async def test_the_session_ends_when_the_reader_stops_early(shop: Shop) -> None:
    batches = shop.resolver().resolve(a_request("sql://main?SELECT i FROM generate_series(1, 100000) AS i"))
    await anext(batches)
    assert shop.sessions() == 1

    await batches.aclose()

    while shop.sessions():  # the server notices the closed connection a moment later
        pass


@pytest.mark.proves("Z26")
@pytest.mark.parametrize(
    "query",
    [
        "WITH gone AS (DELETE FROM targets RETURNING url) SELECT url FROM gone",
        "SELECT nextval('numbers')",
        "SELECT url FROM targets FOR UPDATE",
        "SELECT set_config('transaction_read_only', 'off', false)",
        "SELECT pg_read_file('postgresql.conf')",
        "SELECT lo_import('postgresql.conf')",
    ],
)
async def test_the_server_permits_nothing_but_reading(shop: Shop, query: str) -> None:
    shop.server.sql(f"CREATE SEQUENCE numbers; GRANT ALL ON SEQUENCE numbers TO {ROLE}", database=shop.name)

    with pytest.raises(InputsRefused, match='DSN "main": the query'):
        await items(shop.resolver(), f"sql://main?{query}")

    assert shop.server.sql("SELECT count(*) FROM targets", database=shop.name).strip() == "3"


@pytest.mark.proves("Z26")
async def test_two_statements_are_refused_by_the_server_too(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foliot.domain.fanout.inputs.check_query", lambda text: text)

    with pytest.raises(InputsRefused, match="cannot insert multiple commands"):
        await items(shop.resolver(), "sql://main?SELECT 1; DELETE FROM targets")


@pytest.mark.proves("Z26")
async def test_a_superuser_is_refused(shop: Shop) -> None:
    with pytest.raises(InputsRefused, match='DSN "root": the role is a superuser') as refused:
        await items(shop.resolver(), "sql://root?SELECT 1")

    assert "GRANT SELECT" in refused.value.hint


async def test_an_error_in_the_query_is_shown_without_the_dsn(shop: Shop) -> None:
    with pytest.raises(InputsRefused, match='relation "missing" does not exist') as refused:
        await items(shop.resolver(), "sql://main?SELECT url FROM missing")

    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((f"{ROLE}:", "nobody:"), "refused the user or the password"),
        (("/test_", "/missing_"), "the database does not exist"),
        (("port=", "port=1"), "could not connect"),
        (("host=", "host=/missing"), "no such file or directory"),
    ],
    ids=["user", "database", "port", "host"],
)
async def test_a_database_that_cannot_be_reached_is_reported_without_the_dsn(
    shop: Shop, change: tuple[str, str], message: str
) -> None:
    dsn = shop.dsn.replace(*change)
    assert dsn != shop.dsn

    with pytest.raises(InputsUnavailable, match=message) as refused:
        await items(SqlResolver(FixedDsns(main=dsn)), "sql://main?SELECT 1")

    for part in (PASSWORD, ROLE, "nobody", str(shop.server.directory)):
        assert part not in str(refused.value)


async def test_a_query_without_a_column_is_refused(shop: Shop) -> None:
    with pytest.raises(InputsRefused, match="no column"):
        await items(shop.resolver(), "sql://main?SELECT FROM targets")


async def test_a_lost_connection_is_a_failure(shop: Shop) -> None:
    batches = shop.resolver().resolve(a_request("sql://main?SELECT i FROM generate_series(1, 1000000) AS i"))
    await anext(batches)
    shop.server.terminate_backends(shop.name)

    with pytest.raises(InputsUnavailable, match="the connection to the server was lost"):
        async for _ in batches:
            pass
