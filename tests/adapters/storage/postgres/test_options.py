"""DSNs of hosted databases, with options for other programs."""

import asyncio
import ssl
from pathlib import Path

import asyncpg
import pytest

from foliot.adapters.storage.postgres import PostgresStorage, open_postgres
from foliot.adapters.storage.postgres.database.dsn import CONNECT_TIMEOUT, parse_dsn, refused_option
from foliot.adapters.storage.postgres.database.errors import is_bad_data, translate
from foliot.adapters.storage.postgres.storage import _options
from foliot.errors import InvalidInput, StorageUnavailable
from foliot.testing.builders import a_run
from foliot.testing.postgres import PostgresServer


@pytest.mark.parametrize(
    "option",
    [
        "channel_binding=prefer",
        "channel_binding=disable",
        "gssencmode=disable",
        "sslcertmode=allow",
        "keepalives=1&keepalives_idle=30&keepalives_interval=10&keepalives_count=3",
        "connect_timeout=10",
        "client_encoding=latin1",
        "sslmode=",
        "options=-c%20geqo%3Doff",
        "search_path=public",
        "target_session_attrs=read-write",
    ],
)
async def test_a_harmless_option_is_accepted(dsn: str, option: str) -> None:
    async with await open_postgres(f"{dsn}&{option}") as storage:
        assert await storage.queries.get_runs([]) == {}


@pytest.mark.parametrize(
    ("option", "fact"),
    [
        ("channel_binding=require", "asyncpg. cannot promise channel_binding=require"),
        ("gssencmode=require", "cannot promise gssencmode=require"),
        ("require_auth=scram-sha-256", "cannot promise require_auth"),
        ("channel_binding=maybe", "channel_binding 'maybe' is not a choice"),
        ("sslmode=bogus", "sslmode 'bogus' is not a choice"),
        ("target_session_attrs=writable", "'writable' is not a choice"),
        ("connect_timeout=soon", "connect_timeout 'soon' is not a number"),
        ("sslrootcert=system&sslmode=prefer", "too little with sslmode=prefer"),
    ],
)
def test_an_option_that_cannot_be_guaranteed_is_refused(option: str, fact: str) -> None:
    with pytest.raises(InvalidInput, match=fact) as refusal:
        parse_dsn(f"postgresql://db/orders?{option}")

    assert "report" not in refusal.value.hint


def test_a_misspelt_choice_gets_a_suggestion() -> None:
    with pytest.raises(InvalidInput, match='Did you mean "verify-full"'):
        parse_dsn("postgresql://db/orders?sslmode=verify_full")


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("sslmod=require", 'Did you mean "sslmode"'),
        ("schma=jobs", 'Did you mean "schema"'),
        ("wishes=none", "Leave it out"),
        ("max_connections=5", "Leave it out"),
        ("TimeZone=Nowhere", "Leave it out"),
    ],
)
async def test_an_option_that_the_server_refuses_is_named(dsn: str, option: str, hint: str) -> None:
    with pytest.raises(InvalidInput, match=f"does not take option '{option.partition('=')[0]}'") as refusal:
        await open_postgres(f"{dsn}&{option}")

    assert hint in refusal.value.hint


def test_an_option_is_found_in_a_message_of_any_language() -> None:
    error = asyncpg.UndefinedObjectError("nicht erkannter Konfigurationsparameter »sslmod«")

    assert "'sslmod'" in str(refused_option(error, ["host", "mod", "sslmod"]))
    assert refused_option(error, ["host", "mod"]) is None


def test_a_word_in_a_server_message_is_not_mistaken_for_an_option() -> None:
    error = asyncpg.InsufficientPrivilegeError("permission denied for database orders")

    assert refused_option(error, ["database", "user"]) is None


@pytest.mark.parametrize(("text", "timeout"), [("3", 3.0), ("0", None), ("-1", None), ("", CONNECT_TIMEOUT)])
def test_connect_timeout_is_used(text: str, timeout: float | None) -> None:
    dsn = parse_dsn(f"postgresql://db/orders?connect_timeout={text}")

    assert dsn.connect_timeout == _options(dsn)["timeout"] == timeout
    assert dsn.url == "postgresql://db/orders"


async def test_a_silent_server_is_given_up_after_connect_timeout(tmp_path: Path) -> None:
    async def stay_silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)

    writers: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_unix_server(stay_silent, tmp_path / ".s.PGSQL.5432")

    with pytest.raises(StorageUnavailable, match="no answer in time"):
        await open_postgres(f"postgresql://foliot@/orders?host={tmp_path}&connect_timeout=1")

    silent.close()
    for writer in writers:
        writer.close()


def test_sslrootcert_system_sets_verify_full(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    paths = ssl.get_default_verify_paths()
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths._replace(cafile=str(tmp_path / "ca.pem")))

    options = parse_dsn("postgresql://db/orders?sslrootcert=system").options

    assert options == {"sslrootcert": str(tmp_path / "ca.pem"), "sslmode": "verify-full"}


@pytest.mark.parametrize("name", ["sslrootcert", "sslcert", "sslkey", "sslcrl"])
async def test_a_missing_certificate_file_is_named(dsn: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"{name} '{tmp_path}/gone' cannot be read: No such file"):
        await open_postgres(f"{dsn}&{name}={tmp_path}/gone")


async def test_a_missing_root_certificate_error_names_its_path(
    dsn: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    with pytest.raises(StorageUnavailable, match=r"root certificate file .*root\.crt") as refusal:
        await open_postgres(f"{dsn}&sslmode=verify-full")

    assert "sslrootcert" in refusal.value.hint


async def test_a_server_without_tls_differs_from_an_unreachable_one() -> None:
    async def decline(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(8)
        writer.write(b"N")
        writers.append(writer)

    writers: list[asyncio.StreamWriter] = []
    async with await asyncio.start_server(decline, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(StorageUnavailable, match="does not speak TLS, which sslmode asks for") as refusal:
            await open_postgres(f"postgresql://foliot@127.0.0.1:{port}/orders?sslmode=require")
        for writer in writers:
            writer.close()  # from 3.12 on a server waits for its connections to end

    assert "ssl = on" in refusal.value.hint


async def test_the_reason_of_a_refused_connection_is_shown(dsn: str, server: PostgresServer, database: str) -> None:
    server.sql(f'ALTER DATABASE "{database}" SET session_preload_libraries = nowhere')

    with pytest.raises(StorageUnavailable, match='refused the connection: could not access file "nowhere"') as refusal:
        await open_postgres(dsn)

    assert "report" not in refusal.value.hint


async def test_a_missing_standby_is_reported(dsn: str) -> None:
    with pytest.raises(StorageUnavailable, match="is what target_session_attrs asks for"):
        await open_postgres(f"{dsn}&target_session_attrs=standby")


async def test_a_certificate_removed_meanwhile_does_not_make_items_unstorable(
    storage: PostgresStorage, server: PostgresServer, database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.terminate_backends(database)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PGSSLMODE", "verify-full")

    with pytest.raises(StorageUnavailable, match="root certificate file"):
        await storage.orders.create([a_run()])


def test_an_invalid_certificate_does_not_make_items_unstorable() -> None:
    error = ssl.SSLCertVerificationError(1, "certificate has expired")

    assert not is_bad_data(error)
    assert "could not connect to db with TLS" in str(translate(error, "db"))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (asyncpg.CannotConnectNowError("the database system is starting up"), "db takes no connections now: the data"),
        (asyncpg.InterfaceError("cannot call X: the underlying connection is closed"), "at db: the connection broke"),
        (ConnectionError("unexpected connection_lost() call"), "at db: the connection broke"),
    ],
)
def test_driver_errors_of_connections_are_reworded(error: Exception, words: str) -> None:
    assert words in str(translate(error, "db"))


def test_a_full_disk_is_unavailable_and_not_a_bug_report() -> None:
    error = translate(asyncpg.DiskFullError("could not extend file"), "db")

    assert isinstance(error, StorageUnavailable)
    assert error.message == "the disk of db is full: could not extend file"
