"""The output of attempts is saved in order, with bounded memory."""

import asyncio
from collections.abc import Callable, Sequence
from threading import Thread
from typing import cast

import pytest

from foliot.domain.ids import Token
from foliot.domain.run.logs import LogChunk
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.worker.logbook import BATCH, BUFFER_SIZE, HOLD, MAX_HELD, MAX_WAIT, LogBook, RunLog
from foliot.ports.work import Work
from foliot.testing.builders import a_claim
from foliot.testing.clock import VirtualClock
from tests.engine.ease import ease


class Store:
    """A work port that keeps chunks, and can be unavailable or report a stale token."""

    def __init__(self) -> None:
        self.chunks: list[LogChunk] = []
        self.stale: set[Token] = set()
        self.is_away = False
        self.asked = 0
        self.on_append: Callable[[], None] = lambda: None

    async def append_log(self, chunks: Sequence[LogChunk]) -> list[Token]:
        self.asked += 1
        self.on_append()
        if self.is_away:
            raise OSError("away")
        self.chunks += [chunk for chunk in chunks if chunk.token not in self.stale]
        return [chunk.token for chunk in chunks if chunk.token in self.stale]

    @property
    def last(self) -> tuple[str, bytes]:
        return self.chunks[-1].stream, self.chunks[-1].data

    @property
    def text(self) -> bytes:
        return b"".join(chunk.data for chunk in self.chunks)


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def book(store: Store, clock: VirtualClock) -> LogBook:
    return LogBook(cast(Work, store), clock, hold=IMMEDIATELY)


@pytest.mark.proves("E4")
async def test_log_writes_are_saved_in_order(book: LogBook, store: Store) -> None:
    log = book.open(a_claim())
    log.write("stdout", b"one\n")
    log.write("stderr", b"two\n")

    await book.round()

    assert [(chunk.seq, chunk.stream, chunk.data) for chunk in store.chunks] == [
        (0, "stdout", b"one\n"),
        (1, "stderr", b"two\n"),
    ]


async def test_log_writes_of_a_thread_are_saved_in_order(book: LogBook, store: Store) -> None:
    log = book.open(a_claim())

    def count() -> None:
        for number in range(100):
            log.write("stdout", b"%d\n" % number)

    await asyncio.to_thread(count)
    await ease()
    await book.round()

    assert store.text.split() == [b"%d" % number for number in range(100)]
    assert book.wake.is_set()


async def test_log_writes_of_a_thread_are_handed_to_the_event_loop(book: LogBook, store: Store) -> None:
    log = book.open(a_claim())
    thread = Thread(target=log.write, args=("stdout", b"from elsewhere\n"))
    thread.start()
    thread.join()
    assert not book.wake.is_set()

    await ease()
    assert book.wake.is_set()
    await book.round()

    assert store.text == b"from elsewhere\n"


async def test_more_than_a_batch_of_chunks_is_saved_without_a_pause(book: LogBook, store: Store) -> None:
    log = book.open(a_claim())
    for _ in range(BATCH + 1):
        log.write("stdout", b".")

    assert await book.round() == IMMEDIATELY
    assert await book.round() is None

    assert (store.text, store.asked) == (b"." * (BATCH + 1), 2)


async def test_a_little_output_waits_for_more(store: Store, clock: VirtualClock) -> None:
    book = LogBook(cast(Work, store), clock)
    log = book.open(a_claim())
    log.write("meta", b"$ true\n")

    assert await book.round() == HOLD
    clock.advance(HOLD - 1)
    log.write("stdout", b"more\n")
    assert await book.round() == 1
    clock.advance(1)
    assert await book.round() is None

    assert (store.text, store.asked) == (b"$ true\nmore\n", 1)


async def test_the_log_of_an_attempt_that_has_ended_is_saved_at_once_by_one_write(
    store: Store, clock: VirtualClock
) -> None:
    book = LogBook(cast(Work, store), clock)
    log = book.open(a_claim())
    log.write("meta", b"$ true\n")
    await book.round()
    book.wake.clear()

    log.seal()
    closing = asyncio.create_task(log.wait_saved())
    await ease()
    assert book.wake.is_set()
    assert await book.round() is None
    await closing

    assert (store.text, store.asked) == (b"$ true\nend of log: complete\n", 1)


async def test_much_output_is_saved_without_waiting_for_more(store: Store, clock: VirtualClock) -> None:
    book = LogBook(cast(Work, store), clock)
    log = book.open(a_claim())
    log.write("stdout", b"a")
    book.wake.clear()

    log.write("stdout", b"x" * MAX_HELD)

    assert book.wake.is_set()
    assert await book.round() is None
    assert store.asked == 1


async def test_output_that_arrives_during_a_write_waits_for_more(store: Store, clock: VirtualClock) -> None:
    book = LogBook(cast(Work, store), clock)
    log = book.open(a_claim())
    log.write("stdout", b"first\n")
    clock.advance(HOLD)
    store.on_append = lambda: log.write("stdout", b"second\n")

    assert await book.round() == HOLD

    assert store.text == b"first\n"


async def test_unsaved_chunks_are_saved_again(book: LogBook, store: Store) -> None:
    log = book.open(a_claim())
    log.write("stdout", b"hello\n")
    store.is_away = True
    with pytest.raises(OSError, match="away"):
        await book.round()

    store.is_away = False
    await book.round()

    assert store.text == b"hello\n"


@pytest.mark.proves("E5")
async def test_drain_waits_while_the_log_buffer_is_full(book: LogBook) -> None:
    log = book.open(a_claim())
    log.write("stdout", b"x" * BUFFER_SIZE)
    held = asyncio.create_task(log.drain())
    await ease()
    assert not held.done()

    await book.round()
    await ease()

    assert held.done()


async def without_room(book: LogBook, clock: VirtualClock) -> RunLog:
    """Return a full log whose writer has waited for the maximum time."""
    log = book.open(a_claim())
    log.write("stdout", b"x" * BUFFER_SIZE)
    held = asyncio.create_task(log.drain())
    await ease()
    clock.advance(MAX_WAIT)
    await held
    return log


@pytest.mark.proves("E5")
async def test_drain_gives_up_after_the_maximum_wait_and_drops_output(
    book: LogBook, store: Store, clock: VirtualClock
) -> None:
    log = await without_room(book, clock)

    log.write("stdout", b"never seen")
    await book.round()

    assert b"is dropped" in store.text
    assert b"never seen" not in store.text


@pytest.mark.proves("L2", "S10")
async def test_a_log_with_a_stale_token_saves_nothing(book: LogBook, store: Store) -> None:
    claim = a_claim()
    store.stale = {claim.token}
    log = book.open(claim)
    log.write("stdout", b"before anybody noticed")
    await book.round()

    log.write("stdout", b"after")

    assert await book.round() is None
    assert (store.chunks, store.asked) == ([], 1)


async def test_closing_a_log_waits_until_everything_is_saved(book: LogBook, store: Store) -> None:
    log = book.open(a_claim())
    log.write("stdout", b"last words")
    closing = asyncio.create_task(log.wait_saved())
    await ease()
    assert not closing.done()

    await book.round()
    await closing

    assert store.text == b"last words"


@pytest.mark.proves("S6")
async def test_closing_a_log_has_a_time_limit(
    book: LogBook, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    claim = a_claim()
    log = book.open(claim)
    log.write("stdout", b"last words")
    closing = asyncio.create_task(log.wait_saved())
    await ease()
    clock.advance(MAX_WAIT - 1)
    await ease()
    assert not closing.done()

    clock.advance(1)
    await ease()

    assert closing.done()
    [told] = [vars(record) for record in caplog.records if record.message == "log_flush_timed_out"]
    assert (told["token"], told["chunks_unsaved"], told["levelname"]) == (claim.token, 1, "ERROR")


async def test_output_after_closing_is_dropped(book: LogBook, store: Store) -> None:
    log = book.open(a_claim())
    log.seal()
    await log.wait_saved()

    log.write("stdout", b"from a thread that was given up")
    await book.round()

    assert store.chunks == []


# -- the closing line


@pytest.mark.proves("E4")
async def test_a_log_with_output_ends_with_a_closing_line(book: LogBook, store: Store) -> None:
    log = book.open(a_claim())
    log.write("stderr", b"one\n")

    log.seal()
    log.seal()
    await book.round()

    assert store.text == b"one\nend of log: complete\n"
    assert store.last == ("meta", b"end of log: complete\n")


async def test_a_log_without_output_writes_nothing(book: LogBook, store: Store) -> None:
    log = book.open(a_claim())

    assert not log.seal()
    assert await book.round() is None
    assert store.chunks == []


@pytest.mark.proves("E4")
async def test_output_left_out_by_the_runner_is_in_the_closing_line(book: LogBook, store: Store) -> None:
    log = book.open(a_claim())
    log.write("stdout", b"x" * 4)
    log.truncated(9, 4)

    log.seal()
    await book.round()

    assert store.last == ("meta", b"end of log: truncated, 4 of 9 bytes kept\n")


@pytest.mark.proves("E5")
async def test_dropped_output_is_in_the_closing_line(book: LogBook, store: Store, clock: VirtualClock) -> None:
    log = await without_room(book, clock)

    log.write("stdout", b"dropped")
    log.seal()
    await book.round()

    assert store.last == ("meta", f"end of log: truncated, {BUFFER_SIZE} of {BUFFER_SIZE + 7} bytes kept\n".encode())


@pytest.mark.proves("E4")
async def test_lines_of_foliot_do_not_count_as_output(book: LogBook, store: Store, clock: VirtualClock) -> None:
    log = await without_room(book, clock)

    log.write("meta", b"a note")
    log.write("stdout", b"dropped")
    log.seal()
    await book.round()

    assert store.last == ("meta", f"end of log: truncated, {BUFFER_SIZE} of {BUFFER_SIZE + 7} bytes kept\n".encode())


async def test_left_out_and_dropped_output_add_up(book: LogBook, store: Store, clock: VirtualClock) -> None:
    log = await without_room(book, clock)

    log.write("stdout", b"dropped")
    log.truncated(BUFFER_SIZE + 100, BUFFER_SIZE + 7)
    log.seal()
    await book.round()

    assert store.last == ("meta", f"end of log: truncated, {BUFFER_SIZE} of {BUFFER_SIZE + 100} bytes kept\n".encode())


@pytest.mark.proves("S10")
async def test_a_lost_attempt_writes_no_closing_line(book: LogBook, store: Store) -> None:
    log = book.open(a_claim())
    log.write("stdout", b"one\n")

    log.seal(is_lost=True)
    await book.round()

    assert store.text == b"one\n"
