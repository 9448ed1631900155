"""The process of a server: reading its files at start, and how it ends."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.config import Configuration, Loaded, ServerSettings
from foliot.engine.settings import Settings
from foliot.interfaces.cli import configuration
from foliot.interfaces.cli.server import process, stable_read
from foliot.interfaces.cli.server.reloader import Reloader
from foliot.interfaces.cli.server.signals import EarlyStop
from foliot.interfaces.line_writer import LineWriter

HALF = '[[jobs]]\nid = "a"\ncommand = "true"\n'
WHOLE = HALF + HALF.replace('"a"', '"b"')


class Writer:
    """Writes to the file during each of the first reads."""

    def __init__(self, file: Path, *texts: str) -> None:
        self._file = file
        self._texts = iter(texts)
        self.reads = 0

    def __call__(self, path: Path) -> Loaded:
        self.reads += 1
        loaded = configuration.read_config(path)
        if text := next(self._texts, None):
            self._file.write_text(text)
        return loaded


def long_ago(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the file look old. The change time of a file cannot be set."""
    later = file.stat().st_ctime_ns + 2 * 24 * 3_600 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: later)


def jobs(read: stable_read.StableRead) -> list[str]:
    assert read.loaded.configuration is not None
    return list(read.loaded.configuration.declared.jobs)


async def test_a_half_written_file_at_start_is_read_when_it_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "foliot.toml").write_text(HALF)
    monkeypatch.setattr(stable_read, "read_config", Writer(file, WHOLE))

    assert jobs(await process._read(file)) == ["a", "b"]


async def test_a_recently_changed_file_at_start_is_read_after_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file was half written before the read, and completed after it."""
    (file := tmp_path / "foliot.toml").write_text(HALF)
    moments: list[float] = []

    async def go_on_writing(seconds: float) -> None:
        moments.append(seconds)
        if len(moments) == 1:
            file.write_text(WHOLE)

    monkeypatch.setattr(asyncio, "sleep", go_on_writing)
    read = await process._read(file)

    assert jobs(read) == ["a", "b"]
    assert moments[0] == stable_read.QUIET / 1_000


async def test_the_fingerprint_belongs_to_the_files_that_were_read(tmp_path: Path) -> None:
    """A later write is noticed by the fingerprint."""
    (file := tmp_path / "foliot.toml").write_text(HALF)
    read = await process._read(file)
    assert stable_read.fingerprint(read.places) == read.seen

    file.write_text(WHOLE)

    assert stable_read.fingerprint(read.places) != read.seen


async def test_a_half_written_included_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jobs.d").mkdir()
    (included := tmp_path / "jobs.d/jobs.toml").write_text(HALF)
    (file := tmp_path / "foliot.toml").write_text('include = ["jobs.d/*.toml"]')
    monkeypatch.setattr(stable_read, "read_config", Writer(included, WHOLE))

    assert jobs(await process._read(file)) == ["a", "b"]


async def test_old_files_are_read_once_without_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jobs.d").mkdir()
    (tmp_path / "jobs.d/jobs.toml").write_text(HALF)
    (file := tmp_path / "foliot.toml").write_text('include = ["jobs.d/*.toml"]')
    reader = Writer(file)
    monkeypatch.setattr(stable_read, "read_config", reader)
    monkeypatch.delattr(asyncio, "sleep")
    long_ago(file, monkeypatch)

    assert jobs(await process._read(file)) == ["a"]
    assert reader.reads == 1


async def test_a_failed_reloader_is_logged_and_does_not_keep_the_node_from_stopping(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail() -> None:
        raise RuntimeError("out of order")

    async def go_on() -> None:
        await asyncio.Event().wait()

    async with process._beside([fail(), go_on()]):
        while not caplog.records:
            await asyncio.sleep(0)
        [record] = caplog.records

    assert (record.message, record.levelno) == ("reloading_ended", logging.ERROR)
    assert "out of order" in caplog.text


class Unread(LineWriter):
    """A line writer without a reader. A signal may arrive during a flush."""

    def __init__(self, *signals: BaseException) -> None:
        super().__init__(2, str)
        self._signals = list(signals)
        self.waits: list[float] = []

    def flush(self, longest: float = 10.0) -> bool:
        self.waits.append(longest)
        if self._signals:
            raise self._signals.pop()
        return False


def test_an_immediate_exit_does_not_wait_for_a_reader_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    lines = Unread()
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(logging, "shutdown", lambda: pytest.fail("it waits for all handlers"))

    process._end_at_once(lines)

    assert codes == [130]
    assert lines.waits == [0.2]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_any_second_signal_ends_the_process(monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    ended = asyncio.Event()
    monkeypatch.setattr(process, "_end_at_once", lambda lines: ended.set())
    process._end_at_the_next_signal(Unread())

    signal.raise_signal(number)

    async with asyncio.timeout(30):
        await ended.wait()


def test_a_signal_during_the_last_flush_shortens_it() -> None:
    lines = Unread(EarlyStop(0))

    with pytest.raises(EarlyStop):
        process.flush_lines(lines)

    assert lines.waits == [10.0, 0.2]


class NodeOf:
    """A node that fails when it is started, or cannot end some of its functions."""

    def __init__(self, failure: Exception | None = None, abandoned: int = 0) -> None:
        self._coming = failure
        self.failure: Exception | None = None
        self.abandoned = abandoned
        self.running_count = 0
        self.on_failure: Callable[[], None] = lambda: None
        self.is_stopped = False

    async def start(self) -> None:
        self.failure = self._coming
        if self.failure is None:
            os.kill(os.getpid(), signal.SIGTERM)
        else:
            self.on_failure()

    async def stop(self) -> None:
        self.is_stopped = True


async def serve(node: NodeOf, tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    async def this_node(*_: object) -> NodeOf:
        return node

    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    patch.setattr(app, "node", this_node)
    patch.setattr(process, "tune_garbage_collector", lambda: None)
    served = process.Served(app, None, None, Configuration(), frozenset())
    async with asyncio.timeout(30):
        await process._serve(served, Settings(label="test"), Unread(), applies=False)


async def test_a_failing_node_stops_its_server_in_order_and_raises_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = NodeOf(failure=RuntimeError("out of order"))

    with pytest.raises(RuntimeError, match="out of order"):
        await serve(node, tmp_path, monkeypatch)

    assert node.is_stopped


async def test_a_server_ends_while_functions_are_still_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[object] = []
    monkeypatch.setattr(logging, "shutdown", lambda: done.append("said all"))
    monkeypatch.setattr(os, "_exit", done.append)

    await serve(NodeOf(abandoned=2), tmp_path, monkeypatch)

    assert done == ["said all", 0]
    [told] = [vars(record) for record in caplog.records if record.message == "left_functions_running"]
    assert told["count"] == 2


@pytest.mark.parametrize(("watch", "duties"), [(True, ["reload", "watch"]), (False, ["reload"])])
async def test_files_are_watched_only_if_the_configuration_enables_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watch: bool, duties: list[str]
) -> None:
    begun: list[str] = []

    class Noted(Reloader):
        async def run(self) -> None:
            begun.append("reload")

        async def watch(self) -> None:
            begun.append("watch")

    monkeypatch.setattr(process, "Reloader", Noted)
    configuration = Configuration(server=ServerSettings(watch=watch))
    async with Foliot(f"sqlite:///{tmp_path}/foliot.db") as app:
        served = process.Served(app, None, tmp_path / "foliot.toml", configuration, frozenset())
        async with process._reloading(served, await app.open(), applies=True):
            await asyncio.sleep(0)

    assert begun == duties
