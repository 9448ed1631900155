"""What a shell attempt reads."""

import asyncio
import hashlib
import os

import pytest

from foliot.adapters.runners.process.streams.stdin import StdinWriter
from foliot.domain.run.outcome import Failure, Reason, Success
from tests.adapters.runners.attempts import living, open_descriptors, output_of, run, unique, until

MEGABYTE = "0123456789abcde\n" * 65_536

WAYS = [{}, {"working_dir": "/"}, {"limits": {"files": 64}}]
"""Each starts the program in another way."""


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_the_text_arrives_whole_and_then_ends(way: dict[str, object]) -> None:
    text = "ünï\ncode without a last newline"

    assert await output_of("cat", stdin=text, **way) == text.encode()


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_text_larger_than_any_pipe_arrives_whole(way: dict[str, object]) -> None:
    seen = await output_of("sleep 0.05; b2sum -l 256", stdin=MEGABYTE, **way)

    assert seen.split()[0].decode() == hashlib.blake2b(MEGABYTE.encode(), digest_size=32).hexdigest()


async def test_whoever_closes_its_end_is_not_written_to_any_more() -> None:
    feed = StdinWriter(MEGABYTE.encode())
    feed.start()

    os.close(feed.read_end)
    await until(lambda: not feed._is_open)


async def test_one_text_after_the_other_arrives_though_their_pipes_have_the_same_number() -> None:
    seen = [await output_of("wc -c", stdin=MEGABYTE) for _ in range(3)]

    assert seen == [f"{len(MEGABYTE)}\n".encode()] * 3


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_an_empty_text_is_the_end_at_once(way: dict[str, object]) -> None:
    assert await output_of("cat; echo over", stdin="", **way) == b"over\n"


@pytest.mark.parametrize("command", ["true", "exec <&-; sleep 0.05", "head -c 10 >/dev/null"])
async def test_a_command_that_does_not_read_its_text_ends_as_it_likes(
    command: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = open_descriptors()

    assert await run(command, stdin=MEGABYTE) == Success(exit_code=0)

    assert (open_descriptors(), caplog.text) == (before, "")


async def test_a_leftover_that_holds_the_unread_text_is_ended() -> None:
    word = unique()

    assert await run(f"setsid -f sleep {word}", stdin=MEGABYTE) == Success(exit_code=0)

    assert living(word) == []


async def test_a_command_that_reads_slowly_can_be_cancelled() -> None:
    word = unique()
    before = open_descriptors()
    running = asyncio.create_task(run(f"sleep {word}", stdin=MEGABYTE))
    await until(lambda: living(f"sleep\0{word}"))

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert (living(word), open_descriptors()) == ([], before)


async def test_the_rest_of_the_text_is_kept_from_whoever_holds_the_pipe_after_the_end() -> None:
    word = unique()
    running = asyncio.create_task(run(f"exec sleep {word}", stdin=MEGABYTE))
    await until(lambda: living(f"sleep\0{word}"))
    holder = os.open(f"/proc/{living(word)[0]}/fd/0", os.O_RDONLY)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    with os.fdopen(holder, "rb") as pipe:
        assert len(pipe.read()) < len(MEGABYTE)


async def test_a_text_that_has_no_bytes_is_refused_for_good() -> None:
    outcome = await run("cat", stdin="\ud800")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.retryable) == (Reason.LAUNCH_FAILED, False)
    assert outcome.error.startswith("the text for stdin contains half a character. ")


async def test_a_program_that_cannot_be_started_costs_no_descriptor() -> None:
    await run("true")
    before = open_descriptors()

    for spec in ({}, {"working_dir": "/no/such/place"}, {"limits": {"files": 64}}):
        await run(argv=["/no/such/program"], stdin=MEGABYTE, **spec)

    assert open_descriptors() == before
