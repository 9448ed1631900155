"""foliot trigger --follow and foliot logs: the output of the steps of an execution."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from foliot import Foliot, Workflow
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.logs import LogEnd, LogState, Stream
from foliot.interfaces.cli.render.step_log import StepTextPrinter
from foliot.service.queries.logs import LogView
from tests.interfaces.conftest import Call, working

AT = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.fixture
def speaker(elsewhere: Path) -> Iterator[None]:
    """A worker of a workflow `talk` with two steps that print, and one with two attempts."""
    asyncio.run(declare(f"sqlite:///{elsewhere}/foliot.db"))
    with working(elsewhere):
        yield


async def declare(url: str) -> None:
    app = Foliot(url)
    talk = Workflow("talk")
    talk.step("hello", shell="echo one; printf half")
    talk.step("and", shell="echo two >&2; exit 3", retries=1, retry_delay=0).after("hello")
    talk.step("quiet", shell="echo never").after("and")
    app.workflow(talk)
    async with app:
        pass


@pytest.mark.parametrize("command", [["trigger"], ["workflows", "start"]])
def test_following_an_execution_prints_its_steps_by_name(call: Call, speaker: None, command: list[str]) -> None:
    code, out, err = call(*command, "talk", "--follow")

    assert (code, out.splitlines()) == (1, ["hello | one", "hello | half", "and   | two", "and   | two"])
    assert "and   | foliot: attempt 2" in err.splitlines()
    assert err.splitlines()[-1] == "failed (step_failed): step and did not succeed"


def test_logs_of_an_execution_prints_the_followed_lines_again(call: Call, speaker: None) -> None:
    followed = call("trigger", "talk", "--follow")

    assert call("logs", "talk@last").out == call("logs", "talk@last", "-f").out == followed.out
    *pieces, end = call("logs", "talk@last", "--json").objects
    printed = [(piece["step"], piece["attempt"], piece["text"]) for piece in pieces if piece["stream"] != "meta"]
    assert printed[-2:] == [("and", 1, "two\n"), ("and", 2, "two\n")]
    assert {piece["run_id"] for piece in pieces} == {
        run["id"] for run in call("runs", "--root", "talk@last", "--json").objects
    }
    assert end["end"] == "complete"


def test_a_chain_prints_the_lines_of_its_steps(call: Call, elsewhere: Path) -> None:
    asyncio.run(declare_chain(f"sqlite:///{elsewhere}/foliot.db"))
    with working(elsewhere):
        followed = call("trigger", "disk", "--follow")

    lines = ["scout.1  | looking", "action.1 | removed", "verify.1 | gone"]
    assert (followed.code, followed.out.splitlines()) == (0, lines)
    assert call("logs", "disk@last").out == followed.out
    assert "--stdout" in call("logs", "disk@last", "--stdout").err


def test_a_chain_is_named_as_runs_are(call: Call, elsewhere: Path) -> None:
    asyncio.run(declare_chain(f"sqlite:///{elsewhere}/foliot.db"))
    with working(elsewhere):
        call("trigger", "disk", "--wait")

    [chain] = call("chains", "list", "--json").objects
    [step] = call("runs", "--job", "disk.action", "--json").objects
    for name in ("@last", "disk@last", chain["run_id"][-8:], step["id"][-8:], chain["id"]):
        assert call("chains", "show", name, "--json").objects[0]["run_id"] == chain["run_id"], name
    assert call("chains", "show", "nothing@last").code == 1
    assert call("chains").out.startswith("CLASS ")
    assert call("chains", "list").out.startswith("CHAIN ")


async def declare_chain(url: str) -> None:
    stages = {
        "scout": {"kind": "shell", "spec": {"command": "echo looking; exit 10"}},
        "action": {"kind": "shell", "spec": {"command": "echo removed"}, "delay": 0},
        "verify": {"kind": "shell", "spec": {"command": "echo gone"}, "delay": 0},
    }
    async with Foliot(url) as app:
        definitions = (await app.open()).storage.definitions
        spec = JobSpec(kind="chain", spec={"stages": stages}, options=Options(queue=TREES_QUEUE))
        await definitions.put_jobs([(JobId("disk"), spec)])


def test_logs_of_an_execution_can_have_timestamps(call: Call, speaker: None) -> None:
    call("trigger", "talk", "--wait")

    line = call("logs", "talk@last", "--timestamps").out.splitlines()[0].split()

    assert (line[:2], line[4:]) == (["hello", "|"], ["stdout", "one"])


@pytest.mark.parametrize("asked", [["--stdout"], ["--attempt", "1"], ["--tail", "3"]])
def test_options_for_a_single_run_are_refused_for_an_execution(call: Call, plant: Path, asked: list[str]) -> None:
    code, out, err = call("logs", "etl@last", *asked)

    assert (code, out) == (2, "")
    assert "has steps" in err
    assert "foliot runs --root" in err


def test_logs_of_a_running_execution_say_that_more_may_follow(call: Call, plant: Path) -> None:
    assert call("logs", "later@last") == (0, "", "foliot: the log is open, more may follow\n")


def test_lines_of_parallel_steps_do_not_mix(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    printer = StepTextPrinter(["a", "long"])
    for step, data in (("a", b"a begins "), ("long", b"long\nlo"), ("a", b"and ends\n"), ("long", b"ng")):
        printer.piece(step, view(step, data))
    printer.end(LogEnd(LogState.COMPLETE))

    assert capfdbinary.readouterr().out == b"long | long\na    | a begins and ends\nlong | long\n"


def test_a_very_long_line_is_printed_before_it_ends(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    printer = StepTextPrinter(["a"])

    for _ in range(4):
        printer.piece("a", view("a", b"x" * 20_000))

    assert len(capfdbinary.readouterr().out) == len(b"a | \n") + 80_000


def view(step: str, data: bytes, stream: Stream = "stdout") -> LogView:
    return LogView(run_id=step, attempt=1, at=AT, stream=stream, data=data, cursor=(1, 0))
