"""Exit codes that count as success, and the last line of the output as a report."""

import json
import sys
import tracemalloc

import pytest

from foliot.adapters.runners.agent import AgentRunner
from foliot.adapters.runners.capture import Capture
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.output import LONGEST_LINE
from tests.adapters.runners.attempts import an_attempt, run
from tests.cases import for_each

REPORT = b'{"decision":"good"}'


@for_each("code", [0, 10, 255])
async def test_listed_exit_codes_are_successes(code: int) -> None:
    assert await run(f"exit {code}", success_codes=[0, 10, 255]) == Success(None, code)


@for_each("code", [0, 1, 11])
async def test_other_exit_codes_are_failures(code: int) -> None:
    outcome = await run(f"exit {code}", success_codes=[10])

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.exit_code, outcome.retryable) == (Reason.EXIT_CODE, code, True)
    assert outcome.error == f"exit code {code}"


async def test_a_signal_is_no_exit_code() -> None:
    outcome = await run("kill -TERM $$", success_codes=list(range(256)))

    assert isinstance(outcome, Failure)
    assert outcome.reason is Reason.SIGNAL


async def test_a_success_with_another_code_has_its_output() -> None:
    assert await run("echo 7; exit 10", success_codes=[10], output="json") == Success(b"7", 10)


async def test_agents_have_success_codes_too() -> None:
    cli = [sys.executable, "-c", "raise SystemExit(15)"]

    outcome = await AgentRunner().run(an_attempt(prompt="x", cli=cli, success_codes=[0, 15]))

    assert outcome == Success(None, 15)


@pytest.mark.parametrize("codes", [[], [256], [-1], ["x"]], ids=str)
async def test_wrong_success_codes_are_refused(codes: list[object]) -> None:
    outcome = await run("true", success_codes=codes)

    assert isinstance(outcome, Failure)
    assert not outcome.retryable


@for_each(
    "text",
    [
        '{"decision": "good"}',
        'working\n{"decision": "good"}\n',
        '{"decision": "retry"}\n{"decision": "good"}\n\n  \n',
        '   {"decision": "good"}   \r\n',
    ],
)
async def test_the_last_line_is_the_output_if_it_is_an_object(text: str) -> None:
    assert await run("cat", stdin=text, output="last_line") == Success(REPORT, 0)


@for_each(
    "text",
    [
        "",
        "\n",
        "done",
        "[1, 2]",
        '"text"',
        "7",
        "null",
        "{",
        "{decision: good}",
        '{"usd": NaN}',
        '{"a": 1, "a": 2}',
        '{"decision": "good"}\nand more',
        '{\n"decision": "good"\n}',
    ],
)
async def test_any_other_last_line_is_no_output_and_no_failure(text: str) -> None:
    assert await run("cat", stdin=text, output="last_line") == Success(None, 0)


async def test_a_failed_command_has_its_last_line_too() -> None:
    outcome = await run("cat; exit 7", stdin='{"decision": "good"}', output="last_line")

    assert outcome == Failure("exit code 7", Reason.EXIT_CODE, 7, output=REPORT)


async def test_bytes_that_are_not_utf8_are_no_output() -> None:
    assert await run(r"""printf '{"a": "\377"}'""", output="last_line") == Success(None, 0)


def read(*pieces: bytes) -> bytes | None:
    capture = Capture("last_line")
    for piece in pieces:
        capture.add(piece)
    return capture.read()


def an_object(size: int) -> bytes:
    """Return a JSON object of this many bytes."""
    return b'{"a":"' + b"x" * (size - 8) + b'"}'


@for_each("before", [b"", b"some text\n", b"y" * (5 * LONGEST_LINE) + b"\n"])
def test_the_longest_line_is_read_and_a_longer_one_is_not(before: bytes) -> None:
    assert read(before, an_object(LONGEST_LINE)) == an_object(LONGEST_LINE)
    assert read(before, an_object(LONGEST_LINE + 1)) is None
    assert read(before, an_object(10 * LONGEST_LINE)) is None


def test_an_object_inside_a_line_that_is_too_long_is_not_read() -> None:
    report = an_object(LONGEST_LINE)

    assert read(b"x" * (4 * LONGEST_LINE), report) is None


def test_a_hundred_megabytes_of_output_stay_bounded() -> None:
    piece = b"x" * 65_535 + b"\n"
    capture = Capture("last_line")
    tracemalloc.start()
    try:
        for _ in range(1_600):
            capture.add(piece)
        capture.add(REPORT)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert capture.read() == REPORT
    assert most < 2 << 20


async def test_the_last_line_of_a_long_output_is_read() -> None:
    command = "yes 'a line of output' | head -c 20000000; echo; echo '{\"decision\": \"good\"}'; exit 20"

    outcome = await run(command, output="last_line", success_codes=[20], output_cap=1_000)

    assert outcome == Success(REPORT, 20)


async def test_an_agent_reports_on_its_last_line() -> None:
    said = json.dumps({"result": "done", "total_cost_usd": 0.5})
    cli = [sys.executable, "-c", f"print({said!r})"]

    outcome = await AgentRunner().run(an_attempt(prompt="x", cli=cli, output="last_line"))

    assert isinstance(outcome, Success)
    assert json.loads(outcome.output or b"") == {"result": "done", "total_cost_usd": 0.5}
