"""Which files are opened, and the errors for the others."""

import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from foliot.adapters.storage.sqlite.database.errors import translate
from foliot.adapters.storage.sqlite.database.schema import LOGS, open_any_version, open_file
from foliot.adapters.storage.sqlite.storage import open_url
from foliot.errors import SchemaTooNew, StorageCorrupt, StorageError, StorageUnavailable
from foliot.ports.pages import RunFilter
from foliot.testing.builders import LEASE, REPORT, a_chunk, a_job_spec, a_run, a_worker
from foliot.testing.clock import VirtualClock
from tests.adapters.storage.sqlite.files import names, opened, rights_of_others, rows

_FULL = 2


async def test_a_missing_directory_is_created(tmp_path: Path) -> None:
    async with opened(tmp_path / "deep" / "down" / "foliot.db"):
        pass

    assert (tmp_path / "deep" / "down" / "foliot.db").exists()


async def test_the_output_of_jobs_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    async with opened(tmp_path / "foliot.db") as storage:
        await storage.work.register(worker := a_worker(), LEASE)
        await storage.orders.create([a_run()])
        [claim] = (await storage.work.claim(worker.id, ["default"], 1)).claims
        await storage.work.append_log([a_chunk(claim)])

        rights = rights_of_others(tmp_path)

    assert {"foliot.db", "foliot.db-wal", "foliot.db-logs", "foliot.db.bell"} <= rights.keys()
    assert set(rights.values()) == {0}


@pytest.mark.proves("M7")
async def test_the_file_keeps_a_write_ahead_log(tmp_path: Path) -> None:
    async with opened(tmp_path / "foliot.db"):
        pass

    assert rows(tmp_path / "foliot.db", "PRAGMA journal_mode") == [("wal",)]


@pytest.mark.proves("M3")
async def test_by_default_every_write_survives_a_power_failure(tmp_path: Path) -> None:
    connections: list[apsw.Connection] = []
    apsw.connection_hooks.append(connections.append)
    try:
        storage = await open_url(f"sqlite:///{tmp_path / 'foliot.db'}", clock=VirtualClock(), faults=lambda _: None)
        await storage.work.register(worker := a_worker(), LEASE)
        await storage.orders.create([a_run()])
        [claim] = (await storage.work.claim(worker.id, ["default"], 1)).claims
        await storage.work.append_log([a_chunk(claim)])

        writing = [one for one in connections if one.pragma("query_only") == 0]
        kept = {Path(one.db_filename("main")).name: one.pragma("synchronous") for one in writing}
        await storage.close()
    finally:
        apsw.connection_hooks.remove(connections.append)

    assert kept == {"foliot.db": _FULL, "foliot.db-logs": _FULL}


async def test_saved_rows_are_there_after_opening_again(tmp_path: Path) -> None:
    async with opened(tmp_path / "foliot.db") as storage:
        [job] = await storage.definitions.put_jobs([(REPORT, a_job_spec())])

    async with opened(tmp_path / "foliot.db") as storage:
        assert await storage.definitions.get_jobs([REPORT]) == {REPORT: job}


async def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    (tmp_path / "foliot.db").touch()

    async with opened(tmp_path / "foliot.db") as storage:
        assert await storage.definitions.page_jobs() == []


def test_another_process_may_create_the_file_between_any_two_statements(tmp_path: Path) -> None:
    overtaken_before: list[str] = []

    for number in range(100):
        path = tmp_path / f"{number}.db"
        with _created_by_another(path, number) as statements:
            _open(path).close()
        if "BEGIN IMMEDIATE" in statements[: number + 1]:
            break
        overtaken_before.append(statements[number])

    assert 'pragma "application_id"' in overtaken_before


@contextmanager
def _created_by_another(path: Path, number: int) -> Iterator[list[str]]:
    """Let another connection create the file before the statement with this number."""
    statements: list[str] = []

    def trace(_cursor: apsw.Cursor, sql: str, _values: object) -> bool:
        statements.append(sql)
        if len(statements) == number + 1 and "BEGIN IMMEDIATE" not in statements:
            _open(path).close()
        return True

    def watch(connection: apsw.Connection) -> None:
        apsw.connection_hooks.remove(watch)
        connection.exec_trace = trace

    apsw.connection_hooks.append(watch)
    yield statements


def _open(path: Path) -> apsw.Connection:
    return open_file(path, LOGS, synchronous="NORMAL", cache_kib=1_024)


async def test_a_link_opens_the_same_database_and_log(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "foliot.db")
    async with opened(tmp_path / "real" / "foliot.db"), opened(tmp_path / "link.db") as by_link:
        await by_link.queries.read_log(a_run().id)

    assert names(tmp_path) == ["link.db", "real"]


async def test_a_file_that_is_not_a_database_is_refused_and_unchanged(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("buy milk\n" * 1_000)

    with pytest.raises(StorageCorrupt, match="is not a SQLite database"):
        await opened(text).__aenter__()

    assert text.read_text() == "buy milk\n" * 1_000


async def test_a_database_of_another_program_is_refused_and_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "photos.db"
    rows(path, "CREATE TABLE photos (id)")
    before = path.read_bytes()

    with pytest.raises(StorageCorrupt, match="another program"):
        await opened(path).__aenter__()

    assert path.read_bytes() == before


async def test_a_second_hard_link_is_refused_and_the_file_unchanged(tmp_path: Path) -> None:
    async with opened(tmp_path / "foliot.db") as storage:
        (tmp_path / "second.db").hardlink_to(tmp_path / "foliot.db")
        await storage.orders.create([run := a_run()])

        for create in (True, False):
            with pytest.raises(StorageUnavailable, match=r"second\.db has a second hard link") as refused:
                await opened(tmp_path / "second.db", create=create).__aenter__()
        with pytest.raises(StorageUnavailable, match="has a second hard link"):
            open_any_version(tmp_path / "second.db")
        async with opened(tmp_path / "foliot.db", create=False) as other:
            assert set(await other.queries.get_runs([run.id])) == {run.id}

    assert "ln -s" in refused.value.hint
    assert names(tmp_path) == ["foliot.db", "second.db"]


async def test_a_cycle_of_links_is_reported(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")

    with pytest.raises(StorageUnavailable, match=r"loop could not be \w+: "):
        await opened(tmp_path / "loop").__aenter__()


async def test_a_relative_path_in_a_deleted_directory_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    with pytest.raises(
        StorageUnavailable, match=r"foliot\.db could not be found: the current directory no longer exists"
    ):
        await opened(Path("foliot.db")).__aenter__()


@pytest.mark.skipif(os.geteuid() != 0, reason="takes rights away from itself")
async def test_a_user_without_write_access_can_read_while_a_server_runs(public: Path) -> None:
    async with opened(public / "foliot.db") as storage:
        await storage.orders.create([run := a_run()])
        make_readable_by_all(public)
        with as_nobody():
            async with opened(public / "foliot.db", create=False, inline=True) as reader:
                assert set(await reader.queries.get_runs([run.id])) == {run.id}
                with pytest.raises(StorageUnavailable, match="cannot be written"):
                    await reader.orders.create([a_run()])

    with (
        as_nobody(),
        pytest.raises(StorageUnavailable, match="without the right to write it, unless a server is running") as refused,
    ):
        await opened(public / "foliot.db", create=False, inline=True).__aenter__()
    assert "Read it while a server runs" in refused.value.hint
    assert names(public) == ["foliot.db"]


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory that every user can read."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def make_readable_by_all(directory: Path) -> None:
    for file in directory.iterdir():
        file.chmod(0o755 if file.is_dir() else 0o644)


@contextmanager
def as_nobody() -> Iterator[None]:
    os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.proves("M2", "R1-47")
async def test_a_newer_schema_is_refused_and_both_versions_are_named(tmp_path: Path) -> None:
    async with opened(tmp_path / "foliot.db"):
        pass
    rows(tmp_path / "foliot.db", "PRAGMA user_version = 99")

    with pytest.raises(SchemaTooNew, match=r"schema version 99, this Foliot supports up to \d") as refused:
        await opened(tmp_path / "foliot.db").__aenter__()

    assert refused.value.hint


@pytest.mark.parametrize("place", ["", "a-file/foliot.db"])
async def test_a_path_where_no_file_can_exist_is_reported_with_a_hint(tmp_path: Path, place: str) -> None:
    (tmp_path / "a-file").touch()

    with pytest.raises(StorageUnavailable) as refused:
        await opened(tmp_path / place).__aenter__()

    assert str(tmp_path) in refused.value.message
    assert refused.value.hint


async def test_a_damaged_schema_is_detected_when_opening(tmp_path: Path) -> None:
    async with opened(tmp_path / "foliot.db"):
        pass
    _overwrite(tmp_path / "foliot.db", begin=100, end=4_096)

    with pytest.raises(StorageCorrupt, match="is damaged") as refused:
        await opened(tmp_path / "foliot.db").__aenter__()

    assert "restore a backup" in refused.value.hint


async def test_damage_inside_the_file_is_reported_by_the_call_that_reads_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "foliot.db") as storage:
        await storage.definitions.put_jobs([(REPORT, a_job_spec())])
    [(page,)] = rows(tmp_path / "foliot.db", "SELECT rootpage FROM sqlite_schema WHERE name = 'jobs'")
    _overwrite(tmp_path / "foliot.db", begin=(page - 1) * 4_096, end=page * 4_096)

    async with opened(tmp_path / "foliot.db") as storage:
        with pytest.raises(StorageCorrupt, match="is damaged"):
            await storage.definitions.page_jobs()
        with pytest.raises(StorageCorrupt, match="is damaged"):
            await storage.definitions.put_jobs([(REPORT, a_job_spec(priority=1))])


@pytest.mark.parametrize("damage", ["text", "schema", "cut", "foreign"])
async def test_a_damaged_log_file_is_detected_when_opening(tmp_path: Path, damage: str) -> None:
    path, logs = await _with_logs(tmp_path)
    match damage:
        case "text":
            logs.write_text("buy milk\n" * 1_000)
        case "schema":
            _overwrite(logs, begin=100, end=4_096)
        case "cut":
            logs.write_bytes(logs.read_bytes()[:4_096])
        case "foreign":
            rows(logs, "PRAGMA application_id = 1")
    before = logs.read_bytes()

    with pytest.raises(StorageCorrupt, match=r"foliot\.db-logs") as refused:
        await opened(path).__aenter__()

    assert "move it away" in refused.value.hint
    assert logs.read_bytes() == before


async def test_runs_are_kept_without_the_damaged_log_file(tmp_path: Path) -> None:
    path, logs = await _with_logs(tmp_path)
    logs.unlink()

    async with opened(path) as storage:
        [run] = await storage.queries.page_runs(RunFilter())
        assert await storage.queries.read_log(run.id) == []


async def test_a_storage_that_failed_to_open_closes_its_files(tmp_path: Path) -> None:
    path, logs = await _with_logs(tmp_path)
    logs.write_text("buy milk\n" * 1_000)

    with pytest.raises(StorageCorrupt):
        await opened(path).__aenter__()

    # The write-ahead log is removed when the last connection is closed.
    assert names(tmp_path) == ["foliot.db", "foliot.db-logs"]


async def test_reading_needs_no_log_file(tmp_path: Path) -> None:
    path, logs = await _with_logs(tmp_path)
    logs.write_text("buy milk\n" * 1_000)

    async with opened(path, create=False) as storage:
        [run] = await storage.queries.page_runs(RunFilter())
        with pytest.raises(StorageCorrupt, match=r"foliot\.db-logs"):
            await storage.queries.read_log(run.id)


async def test_a_closed_storage_raises_an_error(tmp_path: Path) -> None:
    async with opened(tmp_path / "foliot.db") as storage:
        pass
    await storage.close()

    with pytest.raises(StorageUnavailable, match="is closed"):
        await storage.orders.create([a_run()])


async def test_a_closed_storage_leaves_one_file(tmp_path: Path) -> None:
    async with opened(tmp_path / "foliot.db") as storage:
        await storage.orders.create([a_run()])

    assert names(tmp_path) == ["foliot.db"]


async def test_a_copy_made_after_closing_is_a_backup(tmp_path: Path) -> None:
    async with opened(tmp_path / "foliot.db") as storage:
        await storage.orders.create([run := a_run()])
    shutil.copy(tmp_path / "foliot.db", tmp_path / "copy.db")

    async with opened(tmp_path / "copy.db") as storage:
        assert set(await storage.queries.get_runs([run.id])) == {run.id}


@pytest.mark.parametrize(
    ("error", "kind", "fact"),
    [
        (apsw.FullError(), StorageUnavailable, "the disk is full"),
        (apsw.ReadOnlyError(), StorageUnavailable, "cannot be written"),
        (apsw.PermissionsError(), StorageUnavailable, "cannot be written"),
        (apsw.CantOpenError(), StorageUnavailable, "could not be opened"),
        (apsw.IOError(), StorageUnavailable, "could not be read or written"),
        (apsw.BusyError(), StorageUnavailable, "locked by another process"),
        (apsw.CorruptError("malformed"), StorageCorrupt, "is damaged: malformed"),
        (apsw.NotADBError(), StorageCorrupt, "is not a SQLite database"),
        (apsw.SQLError("no such table"), StorageError, "refused a statement: no such table"),
    ],
)
def test_every_sqlite_error_has_a_message_and_a_hint(error: apsw.Error, kind: type[StorageError], fact: str) -> None:
    told = translate(error, Path("foliot.db"))

    assert type(told) is kind
    assert fact in told.message
    assert told.hint


async def _with_logs(directory: Path) -> tuple[Path, Path]:
    """Return a closed database, and the file with the output of its one run."""
    path = directory / "foliot.db"
    async with opened(path) as storage:
        await storage.work.register(worker := a_worker(), LEASE)
        await storage.orders.create([a_run()])
        [claim] = (await storage.work.claim(worker.id, ["default"], 1)).claims
        await storage.work.append_log([a_chunk(claim)])
    return path, directory / "foliot.db-logs"


def _overwrite(path: Path, *, begin: int, end: int) -> None:
    data = bytearray(path.read_bytes())
    data[begin:end] = b"\xa5" * (end - begin)
    path.write_bytes(data)
