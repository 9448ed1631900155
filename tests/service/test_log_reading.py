"""Reading logs: all of it, the tail, or continuously."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from foliot.domain.ids import Token
from foliot.domain.instant import DAY, HOUR
from foliot.domain.run.lease import Claim, Finish
from foliot.domain.run.logs import Closing, LogEnd, LogState, Stream, closing_line, cut_line, given_back_line
from foliot.errors import (
    FoliotError,
    NotFound,
    OutputLost,
    OutputPruned,
    OutputTruncated,
    OutputUnfinished,
)
from foliot.service.queries.logs import LogView
from foliot.service.services import Services
from foliot.testing.builders import a_chunk, a_run, failed, given_back, lost, retention, succeeded, to_retry
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from tests.engine.ease import ease

COMPLETE = closing_line(Closing())


async def write(scene: Scene, claim: Claim, *pieces: bytes, first: int = 0, stream: Stream = "stdout") -> None:
    chunks = [a_chunk(claim, first + index, data, stream) for index, data in enumerate(pieces)]
    assert await scene.storage.work.append_log(chunks) == []


async def close(scene: Scene, claim: Claim, finish: Finish, closing: Closing | None = None) -> None:
    await write(scene, claim, closing_line(closing or Closing()), first=1_000, stream="meta")
    await scene.finish(finish)


async def collect(items: AsyncIterator[LogView | LogEnd]) -> tuple[list[tuple[int, bytes]], LogEnd]:
    found = [item async for item in items]
    *pieces, end = found
    assert isinstance(end, LogEnd)
    return [(piece.attempt, piece.data) for piece in pieces if isinstance(piece, LogView)], end


async def test_the_log_of_an_ended_run_is_read_as_complete(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, b"one\n", b"two\n")
    await close(scene, claim, succeeded(claim))

    pieces, end = await collect(services.logs.read(claim.run_id))

    assert pieces == [(1, b"one\n"), (1, b"two\n"), (1, COMPLETE)]
    assert end == LogEnd(LogState.COMPLETE)


async def test_a_log_piece_has_time_stream_and_cursor(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, b"\xff\n", stream="stderr")

    items = [item async for item in services.logs.read(claim.run_id)]

    [piece, end] = items
    assert isinstance(piece, LogView)
    assert (piece.stream, piece.text, piece.is_closing) == ("stderr", "\\xff\n", False)
    assert (piece.at.timestamp() * 1_000, piece.cursor) == (claim.started_at, (claim.token, 0))
    assert end == LogEnd(LogState.OPEN)


async def test_following_a_log_covers_all_attempts_until_the_run_has_ended(
    services: Services, scene: Scene, clock: VirtualClock
) -> None:
    first = await scene.start()
    await write(scene, first, b"first\n")
    following = asyncio.create_task(collect(services.logs.follow(first.run_id)))
    await ease()

    await close(scene, first, to_retry(first))
    [second] = await scene.claim()
    await write(scene, second, b"second\n")
    await ease()
    assert not following.done()
    await close(scene, second, succeeded(second))

    pieces, end = await following
    assert pieces == [(1, b"first\n"), (1, COMPLETE), (2, b"second\n"), (2, COMPLETE)]
    assert end == LogEnd(LogState.COMPLETE)


GIVEN_BACK = (1, given_back_line(1))


@pytest.mark.proves("S10")
async def test_an_attempt_given_back_has_the_number_of_the_next_and_another_token(
    services: Services, scene: Scene
) -> None:
    first = await scene.start()
    await write(scene, first, b"interrupted\n")
    await scene.finish(given_back(first))
    [second] = await scene.claim()
    await write(scene, second, b"again\n")
    await scene.finish(to_retry(second))
    [third] = await scene.claim()
    await write(scene, third, b"third\n")

    pieces, _ = await collect(services.logs.read(first.run_id))
    tail = await services.logs.tail(first.run_id)

    assert pieces == [(1, b"interrupted\n"), GIVEN_BACK, (1, b"again\n"), (2, b"third\n")]
    assert [(piece.attempt, piece.data) for piece in tail.pieces] == pieces
    assert [piece.token for piece in tail.pieces] == [first.token, first.token, second.token, third.token]
    run, attempts = await scene.run(first.run_id), await scene.storage.queries.attempts(first.run_id)
    assert (await services.logs.summary(run, attempts, None)).given_back == 1


@pytest.mark.proves("S10")
async def test_a_followed_log_has_one_line_about_an_attempt_given_back(
    services: Services, scene: Scene, clock: VirtualClock
) -> None:
    first = await scene.start()
    await write(scene, first, b"interrupted\n")
    following = asyncio.create_task(collect(services.logs.follow(first.run_id)))
    await ease()

    await scene.finish(given_back(first))
    for second in await scene.claim():
        await ease()
        await write(scene, second, b"again\n")
        await scene.finish(succeeded(second))

    pieces, _ = await following
    assert pieces == [(1, b"interrupted\n"), GIVEN_BACK, (1, b"again\n")]


@pytest.mark.proves("S10")
async def test_a_followed_log_has_a_line_about_a_restart_without_output(services: Services, scene: Scene) -> None:
    first = await scene.start()
    await write(scene, first, b"interrupted\n")
    await scene.finish(given_back(first))
    queued, _ = await collect(services.logs.read(first.run_id))
    [second] = await scene.claim()
    running, _ = await collect(services.logs.read(first.run_id))
    await scene.finish(succeeded(second))

    over, _ = await collect(services.logs.read(first.run_id))
    rest, _ = await collect(services.logs.read(first.run_id, after=(first.token, 0)))
    none, _ = await collect(services.logs.read(first.run_id, after=(first.token, (1 << 63) - 1)))

    assert queued == [(1, b"interrupted\n")]
    assert running == over == [(1, b"interrupted\n"), GIVEN_BACK]
    assert (rest, none) == ([GIVEN_BACK], [])


@pytest.mark.proves("S10")
async def test_an_attempt_given_back_and_cancelled_is_logged_as_not_restarted(services: Services, scene: Scene) -> None:
    first = await scene.start()
    await write(scene, first, b"interrupted\n")
    await scene.finish(given_back(first))
    await scene.cancel(first.run_id)

    pieces, _ = await collect(services.logs.read(first.run_id))

    assert pieces == [(1, b"interrupted\n"), (1, given_back_line(1, restarted=False))]


async def test_a_failed_attempt_cancelled_before_its_retry_is_not_logged_as_given_back(
    services: Services, scene: Scene, clock: VirtualClock
) -> None:
    first = await scene.start(a_run(retry_delay=HOUR))
    await write(scene, first, b"failed\n")
    following = asyncio.create_task(collect(services.logs.follow(first.run_id)))
    await ease()
    await scene.finish(to_retry(first))
    await scene.cancel(first.run_id)

    assert (await following)[0] == [(1, b"failed\n")]


async def test_a_log_is_read_on_from_a_cursor(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, b"one\n", b"two\n")
    seen = [item async for item in services.logs.read(claim.run_id)]
    assert isinstance(seen[0], LogView)

    pieces, _ = await collect(services.logs.read(claim.run_id, after=seen[0].cursor))

    assert pieces == [(1, b"two\n")]


async def test_a_long_log_is_read_page_by_page(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, *[b"x"] * 2_500)
    await scene.storage.work.append_log([a_chunk(claim, 3_000, COMPLETE, "meta")])
    await scene.finish(succeeded(claim))

    pieces, _ = await collect(services.logs.read(claim.run_id))

    assert len(pieces) == 2_501
    assert await services.logs.raw_stdout(claim.run_id) == b"x" * 2_500


async def test_the_log_of_a_run_without_output_is_complete(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await scene.finish(succeeded(claim))
    [never] = await scene.create(a_run())
    await scene.cancel(never)

    assert await collect(services.logs.read(claim.run_id)) == ([], LogEnd(LogState.COMPLETE))
    assert await collect(services.logs.follow(never)) == ([], LogEnd(LogState.COMPLETE))
    assert await services.logs.raw_stdout(claim.run_id) == b""


async def test_a_truncated_log_has_the_number_of_missing_bytes(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, b"xxxx")
    await close(scene, claim, failed(claim), Closing(seen=9, stored=4))

    _, end = await collect(services.logs.follow(claim.run_id))

    assert end == LogEnd(LogState.TRUNCATED, 9, 4)
    with pytest.raises(OutputTruncated, match="4 of 9 bytes"):
        await services.logs.raw_stdout(claim.run_id)


@pytest.mark.proves("S10")
async def test_the_log_of_a_vanished_worker_ends_as_worker_lost(services: Services, scene: Scene) -> None:
    claim = await scene.start(a_run(overrides=b'{"max_lost":0}'))
    await write(scene, claim, b"half a li")
    await scene.finish(lost(claim))

    _, end = await collect(services.logs.read(claim.run_id))

    assert end == LogEnd(LogState.WORKER_LOST)
    with pytest.raises(OutputLost, match="was lost"):
        await services.logs.raw_stdout(claim.run_id)


async def test_a_pruned_log_differs_from_an_empty_one(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, b"one\n")
    await close(scene, claim, succeeded(claim))
    scene.clock.advance(DAY)
    young = await scene.start(a_run(due_at=scene.now))
    await scene.finish(succeeded(young))

    await scene.prune(retention(logs_age=HOUR))

    assert await collect(services.logs.read(claim.run_id)) == ([], LogEnd(LogState.PRUNED))
    assert await collect(services.logs.read(young.run_id)) == ([], LogEnd(LogState.COMPLETE))
    with pytest.raises(OutputPruned):
        await services.logs.raw_stdout(claim.run_id)


async def test_following_a_log_ends_when_its_run_is_removed(
    services: Services, scene: Scene, clock: VirtualClock
) -> None:
    claim = await scene.start()
    following = asyncio.create_task(collect(services.logs.follow(claim.run_id)))
    await ease()

    await scene.finish(succeeded(claim))
    clock.advance(1)
    await scene.prune(retention(runs_age=0))

    assert await following == ([], LogEnd(LogState.PRUNED))


async def test_reading_the_log_of_a_missing_run_raises(services: Services) -> None:
    for ask in (services.logs.follow, services.logs.read):
        with pytest.raises(NotFound):
            await collect(ask("nobody"))
    with pytest.raises(NotFound):
        await services.logs.raw_stdout("nobody")


# -- the raw output of one attempt


@pytest.mark.proves("E4")
async def test_the_raw_output_is_every_byte_of_stdout_and_nothing_else(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, bytes(range(256)), b"no newline")
    await write(scene, claim, b"oops\n", first=2, stream="stderr")
    await write(scene, claim, b"note\n", first=3, stream="meta")
    await close(scene, claim, succeeded(claim))

    assert await services.logs.raw_stdout(claim.run_id) == bytes(range(256)) + b"no newline"


async def test_each_attempt_has_its_own_output(services: Services, scene: Scene) -> None:
    first = await scene.start()
    await write(scene, first, b"first")
    await close(scene, first, to_retry(first))
    with pytest.raises(OutputUnfinished):
        await services.logs.raw_stdout(first.run_id)
    [second] = await scene.claim()
    await write(scene, second, b"second")
    with pytest.raises(OutputUnfinished):
        await services.logs.raw_stdout(first.run_id, 2)
    await close(scene, second, failed(second))

    assert await services.logs.raw_stdout(first.run_id) == b"second"
    assert await services.logs.raw_stdout(first.run_id, 1) == b"first"
    assert await services.logs.raw_stdout(first.run_id, 2) == b"second"
    with pytest.raises(NotFound, match="has 2 attempts"):
        await services.logs.raw_stdout(first.run_id, 3)


async def test_a_lost_attempt_does_not_affect_the_output_of_others(services: Services, scene: Scene) -> None:
    first = await scene.start()
    await write(scene, first, b"half")
    await scene.finish(lost(first))
    [second] = await scene.claim()
    await write(scene, second, b"whole")
    await close(scene, second, succeeded(second))

    assert await services.logs.raw_stdout(first.run_id) == b"whole"
    with pytest.raises(OutputLost):
        await services.logs.raw_stdout(first.run_id, 1)
    _, end = await collect(services.logs.read(first.run_id))
    assert end == LogEnd(LogState.COMPLETE)


async def test_every_refused_output_has_a_hint(services: Services, scene: Scene) -> None:
    claim = await scene.start()

    with pytest.raises(FoliotError) as refused:
        await services.logs.raw_stdout(claim.run_id)

    assert refused.value.code == "output_unfinished"
    assert refused.value.hint


async def test_the_tail_of_a_log_is_read(services: Services, scene: Scene) -> None:
    claim = await scene.start()
    await write(scene, claim, b"1", b"2", b"3")

    tail = await services.logs.tail(claim.run_id, 2)

    assert [piece.data for piece in tail.pieces] == [b"2", b"3"]
    assert tail.end == LogEnd(LogState.OPEN)
    assert tail.pieces[0].cursor == (Token(claim.token), 1)


# -- an attempt that was cut off


async def cut_off_and_tried_again(scene: Scene) -> tuple[Claim, Claim]:
    first = await scene.start()
    await write(scene, first, b"one\n")
    await scene.finish(lost(first))
    await scene.release()
    [second] = await scene.claim()
    await write(scene, second, b"two\n")
    return first, second


async def test_the_log_has_a_line_where_an_attempt_was_cut_off(services: Services, scene: Scene) -> None:
    first, _ = await cut_off_and_tried_again(scene)

    pieces, end = await collect(services.logs.read(first.run_id))
    tail = await services.logs.tail(first.run_id, 2)

    assert pieces == [(1, b"one\n"), (1, cut_line(1)), (2, b"two\n")]
    assert end == LogEnd(LogState.OPEN)
    assert [(piece.attempt, piece.data) for piece in tail.pieces] == pieces


async def test_the_log_has_a_line_about_a_cut_off_attempt_without_output(services: Services, scene: Scene) -> None:
    first = await scene.start()
    await scene.finish(lost(first))
    await scene.release()
    [second] = await scene.claim()
    await write(scene, second, b"two\n")

    assert (await collect(services.logs.read(first.run_id)))[0] == [(1, cut_line(1)), (2, b"two\n")]


@pytest.mark.parametrize("seen", [1, 2, 3])
async def test_reading_on_from_a_cursor_has_the_cut_off_line_once(services: Services, scene: Scene, seen: int) -> None:
    first, _ = await cut_off_and_tried_again(scene)
    items = [item async for item in services.logs.read(first.run_id)]
    last = items[seen - 1]
    assert isinstance(last, LogView)

    later = [item async for item in services.logs.read(first.run_id, last.cursor)]

    assert later == items[seen:]


async def test_the_tail_of_a_log_has_no_cut_off_line_of_earlier_attempts(services: Services, scene: Scene) -> None:
    first, _ = await cut_off_and_tried_again(scene)

    tail = await services.logs.tail(first.run_id, 1)

    assert [piece.data for piece in tail.pieces] == [b"two\n"]
