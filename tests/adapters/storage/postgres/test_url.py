"""DSNs of PostgreSQL databases."""

import pytest

from foliot.adapters.storage.postgres import open_postgres
from foliot.adapters.storage.postgres.database.dsn import parse_dsn
from foliot.errors import InvalidInput, StorageError
from foliot.testing.postgres import PostgresServer


def test_options_of_foliot_are_removed_and_all_others_stay() -> None:
    dsn = parse_dsn("postgresql://anna:pw@db:5433/orders?sslmode=require&schema=jobs&pooler=transaction")

    assert dsn.url == "postgresql://anna:pw@db:5433/orders?sslmode=require"
    assert (dsn.schema, dsn.is_pooled) == ("jobs", True)


@pytest.mark.parametrize(
    "where",
    ["db", "db:5432", "db:65535", "[::1]", "[::1]:5432", "one:5432,two:5433", "one,two", "anna:a:b@db:1"],
)
def test_hosts_and_ports_are_kept(where: str) -> None:
    text = f"postgresql://{where}/orders?port=5432,5433"

    assert parse_dsn(text).url == text.replace(",5433", "%2C5433")


def test_the_schema_argument_overrides_the_option() -> None:
    assert parse_dsn("postgresql:///orders?schema=one", "two").schema == "two"
    assert parse_dsn("postgresql:///orders").schema == "foliot"


@pytest.mark.proves("Z48")
def test_the_server_name_contains_no_secret() -> None:
    assert parse_dsn("postgresql://anna:s3cret@db:5433/orders").server == "db:5433/orders"
    assert parse_dsn("postgresql://anna:s3cret@/orders?host=/run/pg").server == "/run/pg/orders"
    assert parse_dsn("postgresql://db/orders?host=elsewhere&password=s3cret").server == "db/orders"


@pytest.mark.proves("Z48")
@pytest.mark.parametrize(
    "text",
    [
        "mysql://anna:s3cret@db/orders",
        "anna:s3cret",
        "postgresql://anna:s3cret@db/orders?pooler=session",
        'postgresql://anna:s3cret@db/orders?schema="; DROP SCHEMA public; --',
        "postgresql://anna:s3cret@[db/orders",
        "postgresql://anna:s3cret/@db/orders",
        "postgresql://anna:s3cret@db:99999/orders",
        "postgresql://anna:s3cret@db:0/orders",
        "postgresql://anna:s3cret@db:http/orders",
        "postgresql://anna:s3cret@[::1]:99999/orders",
        "postgresql://anna:s3cret@one:5432,two:99999/orders",
        "postgresql://anna:s3cret@db/orders?port=99999",
        "postgresql://anna:12/s3cret@db/orders",
        "postgresql://anna:12?s3cret@db/orders",
        "postgresql://anna:12?s3cret=1@db/orders",
        "postgresql://anna:12#s3cret@db/orders",
        "postgresql://anna:1@s3cret@db/orders",
        "postgresql://anna:1@s3cret/4:5?6@db/orders",
        "postgresql://anna:1@s3cret/4?6=7@db/orders",
        "postgresql://db/orders?user=anna&password=1&s3cret",
        "postgresql://db/orders?user=anna&password=1@s3cret",
        "postgresql://db/orders?user=anna&password=1&s3cret?=2",
    ],
)
def test_an_invalid_dsn_is_refused_without_showing_the_password(text: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_dsn(text)

    assert "s3cret" not in str(refusal.value)


def test_a_special_character_in_a_dsn_gets_a_hint_for_escaping() -> None:
    with pytest.raises(InvalidInput, match="/ as %2F"):
        parse_dsn("postgresql://anna:12/s3cret@db/orders")

    assert parse_dsn("postgresql://anna:12%2Fs3cr%40t@db/orders").server == "db/orders"


@pytest.mark.parametrize("name", ["pg_jobs", "information_schema", "a" * 59, "Jobs", "1st", ""])
def test_an_unusable_schema_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="schema"):
        parse_dsn(f"postgresql:///orders?schema={name}")


async def test_a_database_that_does_not_exist_is_named(server: PostgresServer) -> None:
    with pytest.raises(StorageError, match=r"the database at .*nowhere does not exist"):
        await open_postgres(server.dsn("nowhere"))


async def test_a_user_that_does_not_exist_is_reported(server: PostgresServer) -> None:
    with pytest.raises(StorageError, match="does not let us in"):
        await open_postgres(server.dsn("postgres").replace("foliot@", "stranger:s3cret@"))
