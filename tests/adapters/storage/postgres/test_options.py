"""URLs as hosted databases hand them out, with options for other programs than ours."""

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
async def test_an_option_that_does_no_harm_keeps_nobody_out(dsn: str, option: str) -> None:
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
def test_an_option_that_nobody_could_keep_is_refused(option: str, fact: str) -> None:
    with pytest.raises(InvalidInput, match=fact) as refusal:
        parse_dsn(f"postgresql://db/orders?{option}")

    assert "report" not in refusal.value.hint


def test_a_misspelt_choice_is_met_with_the_one_that_was_meant() -> None:
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
async def test_an_option_that_the_server_does_not_take_is_named(dsn: str, option: str, hint: str) -> None:
    with pytest.raises(InvalidInput, match=f"does not take option '{option.partition('=')[0]}'") as refusal:
        await open_postgres(f"{dsn}&{option}")

    assert hint in refusal.value.hint


def test_an_option_is_found_in_a_message_of_any_language() -> None:
    error = asyncpg.UndefinedObjectError("nicht erkannter Konfigurationsparameter »sslmod«")

    assert "'sslmod'" in str(refused_option(error, ["host", "mod", "sslmod"]))
    assert refused_option(error, ["host", "mod"]) is None


def test_a_word_of_a_message_is_not_taken_for_an_option_of_the_driver() -> None:
    error = asyncpg.InsufficientPrivilegeError("permission denied for database orders")

    assert refused_option(error, ["database", "user"]) is None


@pytest.mark.parametrize(("text", "timeout"), [("3", 3.0), ("0", None), ("-1", None), ("", CONNECT_TIMEOUT)])
def test_how_long_to_wait_for_a_server_can_be_said(text: str, timeout: float | None) -> None:
    dsn = parse_dsn(f"postgresql://db/orders?connect_timeout={text}")

    assert dsn.connect_timeout == _options(dsn)["timeout"] == timeout
    assert dsn.url == "postgresql://db/orders"


async def test_a_server_that_says_nothing_is_given_up_after_the_time_of_the_url(tmp_path: Path) -> None:
    async def say_nothing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)

    writers: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_unix_server(say_nothing, tmp_path / ".s.PGSQL.5432")

    with pytest.raises(StorageUnavailable, match="no answer in time"):
        await open_postgres(f"postgresql://foliot@/orders?host={tmp_path}&connect_timeout=1")

    silent.close()
    for writer in writers:
        writer.close()


def test_the_certificates_of_this_machine_go_with_the_strictest_mode(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    paths = ssl.get_default_verify_paths()
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths._replace(cafile=str(tmp_path / "ca.pem")))

    options = parse_dsn("postgresql://db/orders?sslrootcert=system").options

    assert options == {"sslrootcert": str(tmp_path / "ca.pem"), "sslmode": "verify-full"}


@pytest.mark.parametrize("name", ["sslrootcert", "sslcert", "sslkey", "sslcrl"])
async def test_a_file_that_is_not_there_is_named(dsn: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"{name} '{tmp_path}/gone' cannot be read: No such file"):
        await open_postgres(f"{dsn}&{name}={tmp_path}/gone")


async def test_who_trusts_nobody_learns_where_certificates_are_looked_for(
    dsn: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    with pytest.raises(StorageUnavailable, match=r"root certificate file .*root\.crt") as refusal:
        await open_postgres(f"{dsn}&sslmode=verify-full")

    assert "sslrootcert" in refusal.value.hint


async def test_a_server_without_tls_is_told_from_one_that_is_not_there() -> None:
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


async def test_a_server_that_turns_us_away_is_given_the_word(dsn: str, server: PostgresServer, database: str) -> None:
    server.sql(f'ALTER DATABASE "{database}" SET session_preload_libraries = nowhere')

    with pytest.raises(StorageUnavailable, match='refused the connection: could not access file "nowhere"') as refusal:
        await open_postgres(dsn)

    assert "report" not in refusal.value.hint


async def test_no_host_of_the_wanted_kind_is_said_so(dsn: str) -> None:
    with pytest.raises(StorageUnavailable, match="is what target_session_attrs asks for"):
        await open_postgres(f"{dsn}&target_session_attrs=standby")


async def test_a_certificate_that_is_gone_meanwhile_is_no_fault_of_what_is_to_be_stored(
    storage: PostgresStorage, server: PostgresServer, database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.terminate_backends(database)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PGSSLMODE", "verify-full")

    with pytest.raises(StorageUnavailable, match="root certificate file"):
        await storage.orders.create([a_run()])


def test_a_certificate_that_is_not_right_is_no_fault_of_what_is_to_be_stored() -> None:
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
def test_a_server_that_turns_away_is_told_in_our_words(error: Exception, words: str) -> None:
    assert words in str(translate(error, "db"))


def test_a_full_disk_is_nothing_to_report_but_to_make_room_on() -> None:
    told = translate(asyncpg.DiskFullError("could not extend file"), "db")

    assert isinstance(told, StorageUnavailable)
    assert told.message == "the disk of db is full: could not extend file"
