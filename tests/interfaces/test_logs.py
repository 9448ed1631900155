"""foliot logs: the output of a run."""

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from msgspec.structs import replace

from foliot import Foliot
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.run.logs import Closing, LogEnd, LogState, closing_line
from foliot.errors import StorageUnavailable
from foliot.interfaces.cli import outage
from foliot.interfaces.cli.render.log import TextPrinter, cut, print_log
from foliot.service.queries.logs import Cursor, LogView
from foliot.service.services import Services
from foliot.testing.builders import a_chunk, given_back, succeeded
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from tests.interfaces.conftest import Call
from tests.interfaces.serving import outcome, served
from tests.interfaces.terminal import on_terminal

BOTH_WAYS = True

COMPLETE = closing_line(Closing())
STREAMS = ("stdout", "stderr")
AT = datetime(2026, 7, 1, 12, tzinfo=UTC)


def test_logs_prints_both_streams_in_order(call: Call, shop: Path) -> None:
    [run] = call("runs", "--status", "success", "--json").objects

    code, out, err = call("logs", run["id"])

    assert (code, sorted(out.splitlines())) == (0, ["one", "oops", "two"])
    assert err == "$ echo one; echo two; echo oops >&2\n"


def test_logs_prints_all_attempts_in_order(call: Call, shop: Path) -> None:
    code, out, err = call("logs", "broken@last")

    assert (code, out) == (0, "try\ntry\n")
    assert err.splitlines() == ["$ echo try; exit 3", "foliot: attempt 2", "$ echo try; exit 3"]
    assert call("logs", "broken@last", "--attempt", "2").out == "try\n"
    assert call("logs", "broken@last", "--attempt", "3").out == ""


def test_logs_and_show_print_what_a_function_in_the_worker_printed(call: Call, tmp_path: Path) -> None:
    app = Foliot(f"sqlite:///{tmp_path}/functions.db")

    @app.job
    def count() -> None:
        print("counting")
        logging.getLogger("shop").warning("two are missing")

    async def work() -> str:
        async with served(app):
            return (await outcome(app, "count")).id

    storage = ("--storage", f"sqlite:///{tmp_path}/functions.db")
    run_id = asyncio.run(work())

    assert call("logs", run_id, *storage) == (0, "counting\nWARNING shop: two are missing\n", "")
    assert call("logs", run_id, "--follow", *storage).out == "counting\nWARNING shop: two are missing\n"
    pieces = call("logs", run_id, "--json", *storage).objects
    # A line is printed in two writes, which a busy machine may store as two pieces.
    text = {stream: "".join(piece["text"] for piece in pieces[:-1] if piece["stream"] == stream) for stream in STREAMS}
    assert text == {"stdout": "counting\n", "stderr": "WARNING shop: two are missing\n"}
    assert "complete" in call("show", run_id, *storage).out


@pytest.mark.parametrize("attempt", ["1", "2"])
def test_tail_of_an_attempt_has_only_its_lines(call: Call, shop: Path, attempt: str) -> None:
    assert call("logs", "broken@last", "--attempt", attempt, "--tail", "9").out == "try\n"


def test_stdout_prints_only_standard_output(call: Call, shop: Path) -> None:
    [run] = call("runs", "--status", "success", "--json").objects

    assert call("logs", run["id"], "--stdout") == (0, "one\ntwo\n", "")


def test_stdout_of_a_run_without_attempts_is_an_error(call: Call, shop: Path) -> None:
    [run] = call("runs", "--status", "queued", "--json").objects

    code, out, err = call("logs", run["id"], "--stdout")

    assert (code, out) == (1, "")
    assert err.startswith("error: the output of run ")


@pytest.mark.parametrize("other", [["-f"], ["--json"], ["--timestamps"], ["--tail", "3"]])
def test_stdout_cannot_be_combined_with_other_options(call: Call, shop: Path, other: list[str]) -> None:
    assert call("logs", "broken@last", "--stdout", *other).code == 2


def test_logs_notes_that_an_open_log_may_continue(call: Call, shop: Path) -> None:
    [run] = call("runs", "--status", "queued", "--json").objects

    assert call("logs", run["id"]) == (0, "", "foliot: the log is open, more may follow\n")


def test_following_ends_when_the_run_is_over(call: Call, shop: Path) -> None:
    assert call("logs", "broken@last", "-f").out == "try\ntry\n"


def test_timestamps_prefix_lines_with_time_and_stream(call: Call, shop: Path) -> None:
    [run] = call("runs", "--status", "success", "--json").objects

    lines = [line.split() for line in call("logs", run["id"], "--timestamps").out.splitlines()]

    assert sorted(line[2:] for line in lines) == [["stderr", "oops"], ["stdout", "one"], ["stdout", "two"]]
    assert all(datetime.fromisoformat(" ".join(line[:2])) for line in lines)


def test_logs_as_json_has_pieces_and_an_end(call: Call, shop: Path) -> None:
    *pieces, end = call("logs", "broken@last", "--json").objects

    assert [(piece["attempt"], piece["stream"], piece["text"]) for piece in pieces if piece["stream"] != "meta"] == [
        (1, "stdout", "try\n"),
        (2, "stdout", "try\n"),
    ]
    assert end == {"end": "complete", "seen": None, "stored": None}


@pytest.mark.parametrize(("count", "out"), [(0, ""), (1, "try\n"), (2, "try\ntry\n"), (99, "try\ntry\n")])
def test_tail_prints_only_the_last_lines(call: Call, shop: Path, count: int, out: str) -> None:
    assert call("logs", "broken@last", "--tail", str(count)).out == out
    assert call("logs", "broken@last", "-f", "--tail", str(count)).out == out


@pytest.mark.parametrize(
    ("pieces", "lines", "kept"),
    [
        ([b"a\nb\nc\n"], 2, [b"b\nc\n"]),
        ([b"a\nb\nc"], 2, [b"b\nc"]),
        ([b"a\nb", b"c\nd", b"\n"], 1, [b"d", b"\n"]),
        ([b"a\nb", b"c\nd", b"\n"], 2, [b"b", b"c\nd", b"\n"]),
        ([b"a\n", b"b\n"], 1, [b"", b"b\n"]),
        ([b"a\n"], 0, [b""]),
        ([], 3, []),
    ],
)
def test_tail_counts_lines_across_pieces(pieces: list[bytes], lines: int, kept: list[bytes]) -> None:
    assert [piece.data for piece in cut([view(data) for data in pieces], lines)] == kept


def view(data: bytes) -> LogView:
    return LogView(run_id="x", attempt=1, at=AT, stream="stdout", data=data, cursor=(1, 0), is_closing=False)


@pytest.mark.proves("Z15")
def test_a_pipe_gets_raw_bytes_and_a_terminal_gets_only_colours(call: Call, tmp_path: Path) -> None:
    asyncio.run(print_trouble(f"sqlite:///{tmp_path}/foliot.db"))

    screen = on_terminal("logs", "@last", directory=tmp_path)

    assert call("logs", "@last").out == "\x1b[31mred\x1b]0;title\x07\x1b[2J\rover\n"
    assert screen.partition("\r\n")[2] == "\x1b[31mred\r\nover\r\n\x1b[0m"


async def print_trouble(url: str) -> None:
    app = Foliot(url)
    app.shell("trouble", r"printf '\033[31mred\033]0;title\007\033[2J\rover\n'")
    async with served(app):
        await outcome(app, "trouble")


@pytest.mark.proves("S10")
def test_the_two_starts_of_a_given_back_attempt_are_separated(call: Call, tmp_path: Path) -> None:
    asyncio.run(stop_amid_a_run(tmp_path / "foliot.db"))
    given_back = "attempt 1 was interrupted when its worker stopped, and started again\n"

    for more in ([], ["--attempt", "1"], ["-f"], ["--tail", "9"]):
        assert call("logs", "@last", *more) == (0, "first half\nsecond start\n", given_back)
    first, note, second, _ = call("logs", "@last", "--json").objects
    assert [piece["attempt"] for piece in (first, note, second)] == [1, 1, 1]
    assert (note["stream"], note["text"]) == ("meta", given_back)
    assert first["token"] == note["token"] < second["token"]
    assert call("logs", "@last", "--stdout").out == "second start\n"
    assert "attempt       1, 1 given back when a worker stopped\n" in call("show", "@last").out
    assert call("show", "@last", "--json").objects[0]["given_back"] == 1


class Flaky:
    """Logs of a database that is unavailable for a while after the first piece."""

    def __init__(self) -> None:
        self.asked: list[Cursor | None] = []

    async def follow(self, run_id: str, after: Cursor | None = None) -> AsyncIterator[LogView | LogEnd]:
        self.asked.append(after)
        if after is None:
            yield replace(view(b"one\n"), cursor=(1, 0))
            raise StorageUnavailable("the database is away")
        yield replace(view(b"two\n"), cursor=(1, 1))
        yield LogEnd(LogState.COMPLETE)

    read = follow


async def test_following_continues_after_an_outage_of_the_database(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(outage, "_RETRY_AFTER", 0)
    logs = Flaky()

    await print_log(cast(Services, SimpleNamespace(logs=logs)), "run", TextPrinter(), is_following=True)

    assert logs.asked == [None, (1, 0)]
    assert capfd.readouterr() == ("one\ntwo\n", "foliot: the database is away; trying again\n")


async def test_reading_a_log_fails_immediately_during_an_outage() -> None:
    with pytest.raises(StorageUnavailable):
        await print_log(cast(Services, SimpleNamespace(logs=Flaky())), "run", TextPrinter(), is_following=False)


@pytest.mark.proves("S10")
def test_an_unfinished_line_is_not_joined_with_the_next_start(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    printer = TextPrinter(timestamps=True)

    for token, data in ((1, b"half"), (2, b"whole\n")):
        printer.piece(replace(view(data), cursor=(token, 0)))

    stamps = [line.split()[-1] for line in capfdbinary.readouterr().out.splitlines()]
    assert stamps == [b"half", b"whole"]


async def stop_amid_a_run(path: Path) -> None:
    clock = VirtualClock()
    storage = await SqliteStorage.open(path, clock=clock, inline=True, synchronous="NORMAL")
    scene = Scene(storage, clock)
    first = await scene.start()
    await storage.work.append_log([a_chunk(first, 0, b"first half\n"), a_chunk(first, 1, COMPLETE, "meta")])
    await scene.finish(given_back(first))
    [second] = await scene.claim()
    await storage.work.append_log([a_chunk(second, 0, b"second start\n"), a_chunk(second, 1, COMPLETE, "meta")])
    await scene.finish(succeeded(second))
    await storage.close()
