"""The logged output of a shell attempt."""

import asyncio
import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from foliot.domain.run.logs import Stream
from foliot.domain.run.outcome import Success
from tests.adapters.runners.attempts import ListLog, living, output_of, run, unique, until

MIB = 1024 * 1024


class Measure:
    """Counts the written bytes and keeps a checksum."""

    def __init__(self) -> None:
        self.bytes: Counter[Stream] = Counter()
        self.digest = hashlib.blake2b()
        self.sizes: tuple[int, int] | None = None

    def write(self, stream: Stream, data: bytes) -> None:
        self.bytes[stream] += len(data)
        if stream != "meta":
            self.digest.update(data)

    async def drain(self) -> None:
        pass

    def truncated(self, seen: int, stored: int) -> None:
        self.sizes = (seen, stored)


class Gate(Measure):
    """A log that is full until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked = False
        self.open = asyncio.Event()

    async def drain(self) -> None:
        self.is_asked = True
        await self.open.wait()


async def test_the_first_line_of_the_log_is_the_command() -> None:
    log = ListLog()
    await run("echo hello", log=log)

    assert log.written[0] == ("meta", b"$ echo hello\n")


async def test_arguments_are_logged_with_shell_quotes() -> None:
    log = ListLog()
    await run(argv=["echo", "a b", "$c"], log=log)

    assert log.written[0] == ("meta", b"$ echo 'a b' '$c'\n")


@pytest.mark.parametrize(
    "given",
    [
        {"command": "curl -H 'Authorization: Bearer s3cret' https://ada:s3cret@shop.example"},
        {"argv": ["curl", "-H", "Authorization: Bearer s3cret", "https://ada:s3cret@shop.example"]},
    ],
    ids=["command", "argv"],
)
async def test_credentials_in_a_logged_command_are_masked(given: dict[str, Any]) -> None:
    log = ListLog()
    await run(**given, working_dir="/no/such/place", log=log)

    [(stream, told)] = log.written
    assert (stream, told.replace(b"'", b"")) == (
        "meta",
        b"$ curl -H Authorization: Bearer *** https://***@shop.example\n",
    )


async def test_stdout_and_stderr_are_logged_separately() -> None:
    log = ListLog()
    await run("echo out; echo err >&2", log=log)

    assert (log.text("stdout"), log.text("stderr")) == (b"out\n", b"err\n")


@pytest.mark.proves("E4")
async def test_the_order_within_a_stream_is_preserved() -> None:
    seen = await output_of("seq 1 20000")

    assert seen == b"".join(b"%d\n" % number for number in range(1, 20001))


@pytest.mark.proves("E4")
async def test_every_byte_is_logged_unchanged(tmp_path: Path) -> None:
    every = bytes(range(256)) * 1000
    (tmp_path / "bytes").write_bytes(every)

    assert await output_of(argv=["cat", str(tmp_path / "bytes")]) == every


async def test_output_is_logged_while_the_command_runs(tmp_path: Path) -> None:
    log = ListLog()
    go_on = tmp_path / "go-on"
    running = asyncio.create_task(run(f"echo early; until test -e {go_on}; do sleep 0.01; done", log=log))

    await until(lambda: log.text("stdout") == b"early\n")

    assert not running.done()
    go_on.touch()
    assert await running == Success(exit_code=0)


@pytest.mark.proves("E4")
async def test_output_beyond_the_cap_is_counted_and_its_size_logged() -> None:
    log = ListLog()
    await run("printf 0123456789; printf abcde >&2; sleep 0.1; printf X", log=log, output_cap=12)

    assert len(log.text("stdout") + log.text("stderr")) == 12
    assert log.sizes == (16, 12)


async def test_output_of_exactly_the_cap_is_not_truncated() -> None:
    log = ListLog()
    await run("printf 0123456789", log=log, output_cap=10)

    assert (log.written[1:], log.sizes) == ([("stdout", b"0123456789")], None)


@pytest.mark.proves("E4")
async def test_a_flood_of_a_gibibyte_is_cut_in_bounded_memory() -> None:
    log = Measure()
    before = forget_peak()

    outcome = await run("head -c 1073741824 /dev/zero", log=log)

    assert outcome == Success(exit_code=0)
    assert log.bytes["stdout"] == 4 * MIB
    assert log.sizes == (1073741824, 4194304)
    assert peak_memory() - before < 8 * MIB


async def test_a_hundred_megabytes_without_a_newline_are_logged_completely() -> None:
    log = Measure()
    await run("head -c 100000000 /dev/zero", log=log, output_cap=200_000_000)

    assert log.digest.digest() == hashlib.blake2b(bytes(100_000_000)).digest()


@pytest.mark.proves("E5")
async def test_a_full_log_blocks_the_command_until_it_has_room() -> None:
    log, word = Gate(), unique()
    running = asyncio.create_task(run(f"head -c 1048576 /dev/zero; : {word}", log=log))
    await until(lambda: log.is_asked)
    await until(lambda: is_asleep(living(word)))

    held_back = log.bytes["stdout"]
    log.open.set()

    assert await running == Success(exit_code=0)
    assert held_back <= 2 * 65_536
    assert log.bytes["stdout"] == MIB


@pytest.mark.proves("E5", "S5")
async def test_a_full_log_does_not_keep_a_cancelled_command_alive() -> None:
    log, word = Gate(), unique()
    running = asyncio.create_task(run(f"yes {word}", log=log))
    await until(lambda: log.is_asked)

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert living(word) == []


@pytest.mark.proves("E6")
async def test_the_last_output_is_logged_if_another_process_holds_the_pipe() -> None:
    log = ListLog()
    await run("sleep 600 & echo last words", log=log)

    assert log.text("stdout") == b"last words\n"


async def test_logs_of_concurrent_runs_do_not_mix() -> None:
    words = [unique() for _ in range(100)]
    gate = asyncio.Semaphore(32)

    async def one(word: str) -> bytes:
        async with gate:
            return await output_of(f"echo {word}; echo {word}")

    assert await asyncio.gather(*map(one, words)) == [f"{word}\n{word}\n".encode() for word in words]


def is_asleep(pids: list[int]) -> bool:
    states = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in pids]
    return bool(states) and all(state == "S" for state in states)


def forget_peak() -> int:
    """Reset the peak of used memory, and return the memory in use."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def peak_memory() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
