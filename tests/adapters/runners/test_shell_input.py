"""Stdin of a shell attempt."""

import asyncio
import hashlib
import os

import pytest

from foliot.adapters.runners.process.streams.stdin import StdinWriter
from foliot.domain.run.outcome import Failure, Reason, Success
from tests.adapters.runners.attempts import living, open_descriptors, output_of, run, unique, until

MEGABYTE = "0123456789abcde\n" * 65_536

WAYS = [{}, {"working_dir": "/"}, {"limits": {"files": 64}}]
"""Specifications that start the program in different ways."""


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_stdin_has_the_whole_text_and_then_ends(way: dict[str, object]) -> None:
    text = "ünï\ncode without a last newline"

    assert await output_of("cat", stdin=text, **way) == text.encode()


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_text_larger_than_a_pipe_arrives_completely(way: dict[str, object]) -> None:
    seen = await output_of("sleep 0.05; b2sum -l 256", stdin=MEGABYTE, **way)

    assert seen.split()[0].decode() == hashlib.blake2b(MEGABYTE.encode(), digest_size=32).hexdigest()


async def test_writing_stops_when_the_command_closes_stdin() -> None:
    feed = StdinWriter(MEGABYTE.encode())
    feed.start()

    os.close(feed.read_end)
    await until(lambda: not feed._is_open)


async def test_consecutive_runs_that_reuse_a_descriptor_get_their_text() -> None:
    seen = [await output_of("wc -c", stdin=MEGABYTE) for _ in range(3)]

    assert seen == [f"{len(MEGABYTE)}\n".encode()] * 3


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_empty_text_for_stdin_is_end_of_file(way: dict[str, object]) -> None:
    assert await output_of("cat; echo over", stdin="", **way) == b"over\n"


@pytest.mark.parametrize("command", ["true", "exec <&-; sleep 0.05", "head -c 10 >/dev/null"])
async def test_a_command_that_does_not_read_stdin_ends_normally(command: str, caplog: pytest.LogCaptureFixture) -> None:
    before = open_descriptors()

    assert await run(command, stdin=MEGABYTE) == Success(exit_code=0)

    assert (open_descriptors(), caplog.text) == (before, "")


async def test_a_leftover_process_that_holds_stdin_is_ended() -> None:
    word = unique()

    assert await run(f"setsid -f sleep {word}", stdin=MEGABYTE) == Success(exit_code=0)

    assert living(word) == []


async def test_a_command_that_does_not_read_stdin_can_be_cancelled() -> None:
    word = unique()
    before = open_descriptors()
    running = asyncio.create_task(run(f"sleep {word}", stdin=MEGABYTE))
    await until(lambda: living(f"sleep\0{word}"))

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert (living(word), open_descriptors()) == ([], before)


async def test_unread_text_is_not_written_after_the_command_has_ended() -> None:
    word = unique()
    running = asyncio.create_task(run(f"exec sleep {word}", stdin=MEGABYTE))
    await until(lambda: living(f"sleep\0{word}"))
    holder = os.open(f"/proc/{living(word)[0]}/fd/0", os.O_RDONLY)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    with os.fdopen(holder, "rb") as pipe:
        assert len(pipe.read()) < len(MEGABYTE)


async def test_stdin_with_a_lone_surrogate_is_refused_without_retry() -> None:
    outcome = await run("cat", stdin="\ud800")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.retryable) == (Reason.LAUNCH_FAILED, False)
    assert outcome.error.startswith("the text for stdin contains a lone surrogate. ")


async def test_a_failed_start_with_stdin_leaks_no_descriptor() -> None:
    await run("true")
    before = open_descriptors()

    for spec in ({}, {"working_dir": "/no/such/place"}, {"limits": {"files": 64}}):
        await run(argv=["/no/such/program"], stdin=MEGABYTE, **spec)

    assert open_descriptors() == before
