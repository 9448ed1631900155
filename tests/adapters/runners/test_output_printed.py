"""Stdout of a command as the output of its run."""

import asyncio
import tracemalloc
from pathlib import Path

import pytest

from foliot.adapters.runners.agent import AgentRunner
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.payload import MAX_BYTES
from tests.adapters.runners.attempts import ListLog, an_attempt, run

FULL = "printf '\"'; head -c {size} /dev/zero | tr '\\0' x; printf '\"'"
"""A command that prints a JSON string of this many letters."""


def refused(outcome: Success | Failure) -> str:
    """Return the error of a refused output. The exit code is 0, and the failure is retryable."""
    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.exit_code, outcome.retryable) == (Reason.OUTPUT, 0, True)
    return outcome.error


@pytest.mark.parametrize("mode", [{}, {"output": "none"}], ids=str)
async def test_a_command_has_no_output_unless_the_job_asks_for_it(mode: dict[str, str]) -> None:
    assert await run("echo 1", **mode) == Success(None, 0)


async def test_stdout_becomes_a_text_output() -> None:
    assert await run("echo hello; echo world", output="text") == Success(b'"hello\\nworld"', 0)


async def test_a_command_without_stdout_has_an_empty_text_output() -> None:
    assert await run("true", output="text") == Success(b'""', 0)


async def test_stdout_is_parsed_as_json() -> None:
    assert await run("""echo '{"path": "/tmp/x", "rows": 3}'""", output="json") == Success(
        b'{"path":"/tmp/x","rows":3}', 0
    )


async def test_json_output_may_be_printed_by_several_processes() -> None:
    assert await run("printf '['; sh -c 'printf 1,'; sleep 0.05; printf '2]\n'", output="json") == Success(b"[1,2]", 0)


async def test_stderr_is_not_part_of_the_output() -> None:
    assert await run("echo working >&2; echo 1; echo done >&2", output="json") == Success(b"1", 0)


async def test_stdout_is_logged_even_if_it_is_the_output() -> None:
    log = ListLog()
    await run("echo 1; echo 2 >&2", output="json", log=log)

    assert (log.text("stdout"), log.text("stderr")) == (b"1\n", b"2\n")


@pytest.mark.parametrize("mode", ["text", "json"])
async def test_the_cap_of_the_log_does_not_cut_the_output(mode: str) -> None:
    log = ListLog()
    outcome = await run("echo 12345678; echo '#####' >&2", output=mode, output_cap=4, log=log)

    assert outcome == Success(b'"12345678"' if mode == "text" else b"12345678", 0)
    assert log.sizes == (15, 4)


async def test_stdout_that_is_not_json_fails_with_the_position() -> None:
    error = refused(await run("echo '{'; echo '  oops }'", output="json"))

    assert error.startswith("the output is not JSON: expecting property name enclosed in double quotes at line 2, col")
    assert "print messages to stderr" in error


@pytest.mark.parametrize("printed", ["NaN", '{"a": 1, "a": 2}', "", "\\377\\000"])
async def test_invalid_json_variants_are_refused(printed: str) -> None:
    assert "the output is not JSON" in refused(await run(f"printf '{printed}'", output="json"))


async def test_invalid_utf_8_in_a_text_output_is_escaped() -> None:
    assert await run("printf 'a\\377\\000'", output="text") == Success(b'"a\\\\xff\\u0000"', 0)


async def test_an_output_of_one_mebibyte_on_stdout_is_accepted() -> None:
    outcome = await run(FULL.format(size=MAX_BYTES - 2), output="json")

    assert isinstance(outcome, Success)
    assert len(outcome.output or b"") == MAX_BYTES


async def test_an_output_over_one_mebibyte_on_stdout_is_refused() -> None:
    assert "1048577 bytes, more than 1048576" in refused(await run(FULL.format(size=MAX_BYTES - 1), output="json"))


@pytest.mark.parametrize("mode", ["text", "json"])
async def test_a_too_large_output_is_counted_and_not_kept_in_memory(mode: str) -> None:
    await run("true", output=mode)
    tracemalloc.start()
    try:
        outcome = await run("head -c 100000000 /dev/zero", output=mode, output_cap=0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert "100000000 bytes, more than 1048576" in refused(outcome)
    assert peak < 4 * MAX_BYTES


@pytest.mark.parametrize("mode", ["text", "json", "file"])
@pytest.mark.parametrize(
    ("command", "reason", "code"), [("exit 3", Reason.EXIT_CODE, 3), ("kill -9 $$", Reason.SIGNAL, 137)]
)
async def test_a_command_that_fails_keeps_its_failure(mode: str, command: str, reason: Reason, code: int) -> None:
    outcome = await run(f"echo no json; {command}", output=mode)

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.exit_code) == (reason, code)


async def test_the_end_of_stdout_is_read_if_another_process_holds_the_pipe() -> None:
    assert await run("sleep 600 & echo 1", output="json") == Success(b"1", 0)


async def test_outputs_of_concurrent_runs_do_not_mix() -> None:
    outcomes = await asyncio.gather(*(run(f"echo {number}", output="json") for number in range(20)))

    assert outcomes == [Success(b"%d" % number, 0) for number in range(20)]


async def test_stdout_of_an_agent_can_be_its_output(tmp_path: Path) -> None:
    (tmp_path / "claude").write_text('#!/bin/sh\nprintf \'{"said": "%s"}\' "$2"\n')
    (tmp_path / "claude").chmod(0o755)
    runner = AgentRunner({"PATH": f"{tmp_path}:/usr/bin:/bin"})

    outcome = await runner.run(an_attempt(prompt="hello", output="json"))

    assert outcome == Success(b'{"said":"hello"}', 0)
