"""sql:// reads the first column of a query from a SQLite file, and can do nothing else."""

import asyncio
from pathlib import Path

import apsw
import pytest

from foliot.adapters.resolvers.sql.resolver import SqlResolver
from foliot.errors import InputsRefused, InputsUnavailable, InvalidInput, SecretUnreadable
from tests.adapters.resolvers.resolving import a_request, items, values
from tests.adapters.resolvers.sql_source import FixedDsns

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with apsw.Connection(str(path)) as connection:
        connection.execute("""
            CREATE TABLE targets (url, enabled);
            INSERT INTO targets VALUES ('https://a', 1), ('https://b', 0), ('https://c', 1);
        """)
    connection.close()
    return path


@pytest.fixture
def resolver(path: Path) -> SqlResolver:
    return SqlResolver(FixedDsns(main=f"sqlite:///{path}"))


@pytest.mark.proves("R0-47")
async def test_the_first_column_has_the_items(resolver: SqlResolver) -> None:
    query = "sql://main?SELECT url, enabled FROM targets WHERE enabled = 1 ORDER BY url"

    assert await items(resolver, query) == [b"https://a", b"https://c"]


async def test_values_of_every_type_are_items(resolver: SqlResolver) -> None:
    query = "sql://main?VALUES (1), (2.5), ('text'), (x'ff00fe'), ('it''s; ?')"

    with pytest.raises(InputsRefused, match=r"item 4: .*NUL"):
        await values(resolver, query)
    assert await values(resolver, query.replace("00", "41")) == [1, 2.5, "text", {"item_base64": "/0H+"}, "it's; ?"]


async def test_null_is_refused(resolver: SqlResolver) -> None:
    with pytest.raises(InputsRefused, match='DSN "main": item 2 is NULL'):
        await values(resolver, "sql://main?VALUES (1), (NULL)")


async def test_a_query_without_rows_has_no_items(resolver: SqlResolver) -> None:
    assert await items(resolver, "sql://main?SELECT url FROM targets WHERE enabled = 7") == []


async def test_a_large_result_is_read_in_batches(resolver: SqlResolver) -> None:
    query = f"sql://main?{ENDLESS.format('i')} LIMIT 100000"

    assert await values(resolver, query) == list(range(1, 100_001))


@pytest.mark.proves("Z26")
async def test_more_rows_than_the_limit_are_refused(resolver: SqlResolver) -> None:
    with pytest.raises(InputsRefused, match="more than 10,000 items"):
        await items(resolver, f"sql://main?{ENDLESS.format('i')}", items=10_000)


@pytest.mark.proves("Z26")
@pytest.mark.parametrize("column", ["i", "count(*)"], ids=["rows", "no row"])
async def test_a_query_past_its_timeout_is_ended(path: Path, column: str) -> None:
    resolver = SqlResolver(FixedDsns(main=f"sqlite:///{path}"), seconds=0.2)

    with pytest.raises(InputsUnavailable, match=r"took (too long|longer than 0.2 s)"):
        await items(resolver, f"sql://main?{ENDLESS.format(column)}", items=1 << 60, total_bytes=1 << 60)


async def test_a_query_is_interrupted_when_the_reader_is_cancelled(resolver: SqlResolver) -> None:
    reading = asyncio.create_task(items(resolver, f"sql://main?{ENDLESS.format('count(*)')}"))
    await asyncio.sleep(0)

    reading.cancel()

    with pytest.raises(asyncio.CancelledError):
        await reading


async def test_the_file_is_closed_when_the_reader_stops_early(resolver: SqlResolver, path: Path) -> None:
    connection = apsw.Connection(str(path))
    batches = resolver.resolve(a_request(f"sql://main?{ENDLESS.format('url')}, targets"))
    await anext(batches)
    with pytest.raises(apsw.BusyError):
        connection.execute("BEGIN EXCLUSIVE")

    await batches.aclose()

    connection.execute("BEGIN EXCLUSIVE; ROLLBACK")
    connection.close()


@pytest.mark.proves("R0-63", "Z26")
async def test_a_dsn_that_is_not_registered_is_refused(resolver: SqlResolver) -> None:
    with pytest.raises(InputsRefused, match='DSN "mian" is not registered') as refused:
        await items(resolver, "sql://mian?SELECT 1")

    assert "foliot dsn add mian" in refused.value.hint
    assert 'Did you mean "main"?' in refused.value.hint


@pytest.mark.proves("Z26")
@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM targets",
        "INSERT INTO targets VALUES (1, 2) RETURNING url",
        "ATTACH 'other.db' AS other",
        "PRAGMA user_version = 7",
        "SELECT 1; DELETE FROM targets",
        "VACUUM INTO 'copy.db'",
    ],
)
def test_what_is_not_a_single_query_is_refused_when_a_definition_is_read(resolver: SqlResolver, query: str) -> None:
    with pytest.raises(InvalidInput):
        resolver.check(f"sql://main?{query}")


@pytest.mark.proves("Z26")
@pytest.mark.parametrize(
    "query",
    [
        "WITH x AS (SELECT 1) DELETE FROM targets RETURNING url",
        "WITH x AS (SELECT 1) INSERT INTO targets SELECT 1, 2 FROM x RETURNING url",
        "SELECT load_extension('libevil')",
        "SELECT name FROM pragma_table_info('targets')",
        "SELECT name FROM pragma_database_list",
        "SELECT zeroblob(100000000)",
        "SELECT fts3_tokenizer('simple')",
    ],
)
async def test_the_database_permits_nothing_but_reading(resolver: SqlResolver, path: Path, query: str) -> None:
    before = content(path)

    with pytest.raises(InputsRefused):
        await items(resolver, f"sql://main?{query}")

    assert content(path) == before


def content(path: Path) -> bytes:
    return path.read_bytes()


async def test_an_error_in_the_query_is_shown_without_the_dsn(resolver: SqlResolver, path: Path) -> None:
    with pytest.raises(InputsRefused, match=r'DSN "main": the query failed: .*no such table: missing') as refused:
        await items(resolver, "sql://main?SELECT url FROM missing")

    assert str(path) not in str(refused.value)


async def test_a_file_that_is_missing_or_no_database_is_reported_without_its_path(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"not a database, but long enough to be read as the header of one" * 20)
    resolver = SqlResolver(FixedDsns(gone=f"sqlite:///{tmp_path}/gone", text=f"sqlite:///{tmp_path}/text"))

    with pytest.raises(InputsUnavailable, match="could not be opened") as missing:
        await items(resolver, "sql://gone?SELECT 1")
    with pytest.raises(InputsRefused, match="not a SQLite database") as wrong:
        await items(resolver, "sql://text?SELECT * FROM sqlite_schema")

    assert not (tmp_path / "gone").exists()
    assert str(tmp_path) not in f"{missing.value}{wrong.value}"


async def test_a_dsn_that_cannot_be_decrypted_is_a_failure() -> None:
    class Locked:
        async def find(self, name: str) -> str:
            raise SecretUnreadable("dsn:main was encrypted with another key", hint="Set FOLIOT_SECRET_KEY.")

    with pytest.raises(InputsUnavailable, match="encrypted with another key"):
        await items(SqlResolver(Locked()), "sql://main?SELECT 1")
