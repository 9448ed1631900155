"""Serving: how a server reads its files when it starts, and how what goes on beside its node ends."""

import asyncio
import logging
import os
import time
from pathlib import Path

import pytest

from foliot.config import Loaded
from foliot.interfaces.cli import at_rest, configuration, serving
from foliot.interfaces.cli.signals import EarlyStop
from foliot.interfaces.line_writer import LineWriter

HALF = '[[jobs]]\nid = "a"\ncommand = "true"\n'
WHOLE = HALF + HALF.replace('"a"', '"b"')


class Writer:
    """Somebody who goes on writing while the file is read, so often."""

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
    """As if the file had been written before yesterday. Nobody can set the time at which a file was changed."""
    later = file.stat().st_ctime_ns + 2 * 24 * 3_600 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: later)


def jobs(read: at_rest.AtRest) -> list[str]:
    assert read.loaded.configuration is not None
    return list(read.loaded.configuration.declared.jobs)


async def test_a_file_that_is_half_written_when_a_server_starts_is_read_when_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "foliot.toml").write_text(HALF)
    monkeypatch.setattr(at_rest, "read_config", Writer(file, WHOLE))

    assert jobs(await serving._read(file)) == ["a", "b"]


async def test_what_the_files_were_like_is_what_was_read(tmp_path: Path) -> None:
    """A write that comes later is noticed: it is told by what they are like."""
    (file := tmp_path / "foliot.toml").write_text(HALF)
    read = await serving._read(file)
    assert at_rest.fingerprint(read.places) == read.seen

    file.write_text(WHOLE)

    assert at_rest.fingerprint(read.places) != read.seen


async def test_an_included_file_that_is_half_written_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jobs.d").mkdir()
    (included := tmp_path / "jobs.d/jobs.toml").write_text(HALF)
    (file := tmp_path / "foliot.toml").write_text('include = ["jobs.d/*.toml"]')
    monkeypatch.setattr(at_rest, "read_config", Writer(included, WHOLE))

    assert jobs(await serving._read(file)) == ["a", "b"]


async def test_files_that_were_written_long_ago_are_read_once_and_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jobs.d").mkdir()
    (tmp_path / "jobs.d/jobs.toml").write_text(HALF)
    (file := tmp_path / "foliot.toml").write_text('include = ["jobs.d/*.toml"]')
    reader = Writer(file)
    monkeypatch.setattr(at_rest, "read_config", reader)
    monkeypatch.delattr(asyncio, "sleep")
    long_ago(file, monkeypatch)

    assert jobs(await serving._read(file)) == ["a"]
    assert reader.reads == 1


async def test_what_goes_on_beside_a_node_says_that_it_failed_and_does_not_keep_it_from_stopping(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail() -> None:
        raise RuntimeError("out of order")

    async def go_on() -> None:
        await asyncio.Event().wait()

    async with serving._beside([fail(), go_on()]):
        while not caplog.records:
            await asyncio.sleep(0)
        [record] = caplog.records

    assert (record.message, record.levelno) == ("reloading_ended", logging.ERROR)
    assert "out of order" in caplog.text


class Unread(LineWriter):
    """Lines that nobody reads. A signal may come while they are waited for."""

    def __init__(self, *signals: BaseException) -> None:
        super().__init__(2, str)
        self._signals = list(signals)
        self.waits: list[float] = []

    def flush(self, longest: float = 10.0) -> bool:
        self.waits.append(longest)
        if self._signals:
            raise self._signals.pop()
        return False


def test_who_is_to_end_at_once_does_not_wait_for_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    lines = Unread()
    monkeypatch.setattr(os, "_exit", codes.append)
    monkeypatch.setattr(logging, "shutdown", lambda: pytest.fail("it waits for all handlers"))

    serving._end_at_once(lines)

    assert codes == [130]
    assert lines.waits == [0.2]


def test_a_signal_while_the_last_lines_are_waited_for_ends_that_wait_and_all_others() -> None:
    lines = Unread(EarlyStop(0))

    with pytest.raises(EarlyStop):
        serving._flush(lines)

    assert lines.waits == [10.0, 0.2]
