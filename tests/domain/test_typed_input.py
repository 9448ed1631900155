"""The types of keyword options have the names of the table, and a type checker finds a misspelled option."""

import subprocess
import sys
from pathlib import Path
from typing import Any, get_args, get_type_hints

from foliot.domain.input import typed
from foliot.domain.vocabulary.field import Schema
from foliot.domain.vocabulary.kind import LIMITS
from foliot.domain.vocabulary.places import (
    APPLICATION_CALL,
    JOB_CALL,
    KIND_CALLS,
    MAP_CALL,
    RUN_CALL,
    SCHEDULE_CALL,
    STEP_CALL,
    UPSERT_CALL,
)
from tests.cases import for_each

TYPES: dict[type, Schema] = {
    typed.DefaultOptions: APPLICATION_CALL,
    typed.RunOptions: RUN_CALL,
    typed.JobOptions: JOB_CALL,
    typed.ShellOptions: KIND_CALLS["shell"],
    typed.HttpOptions: KIND_CALLS["http"],
    typed.CallOptions: KIND_CALLS["python"],
    typed.AgentOptions: KIND_CALLS["agent"],
    typed.ScheduleOptions: SCHEDULE_CALL,
    typed.UpsertOptions: UPSERT_CALL,
    typed.StepOptions: STEP_CALL,
    typed.MapOptions: MAP_CALL,
    typed.LimitOptions: LIMITS,
}
WORDS = {"or", "and"}
"""Words of `dom_dow`, which cannot be told from the word between two words."""

RIGHT = """
from datetime import timedelta

from foliot import Foliot, Workflow

app = Foliot()


@app.job(retries=3, timeout="30s", retry_delay=timedelta(seconds=5), depends_on=["other"], window="2h")
def report() -> None: ...


app.shell("a", "true", env={"A": "1"}, limits={"memory": "1GB"}, kill_after=5)
app.http("b", "https://example.com", expect_status=[200, "300-399"])
app.call("c", "a:b", working_dir="/tmp")
app.agent("d", "hello", model="x")
app.schedule("s", report, every="5m", overlap="queue", jitter="10s")
Workflow("w", timeout="1h").step("a", shell="true", retries=1).step("b", job="a", overlap="skip")


async def use() -> None:
    await app.enqueue("a", timeout=5, priority=3)
    await app.schedules.upsert("s", job_id="a", cron="@daily", paused=True)
"""
WRONG = """
from foliot import Foliot, Workflow

app = Foliot()
app.job(retrys=3)
app.shell("a", "true", envv={})
app.http("b", "https://example.com", header={})
app.call("c", "a:b", working_directory="/tmp")
app.agent("d", "hello", modl="x")
app.schedule("s", "a", every="5m", timout="30s")
app.schedule("t", "a", every="5m", overlap="sikp")
Workflow("w", timeot="1h")
Workflow("w").step("a", shell="true", retrys=1)


async def use() -> None:
    await app.enqueue("a", priorty=3)
    await app.schedules.upsert("s", job_id="a", crn="@daily")
"""


@for_each("type_", TYPES)
def test_the_type_of_a_call_has_the_names_of_the_table(type_: type) -> None:
    assert set(get_type_hints(type_)) == {field.name for field in TYPES[type_]}


@for_each("type_", TYPES)
def test_the_words_of_an_option_are_those_of_its_type(type_: type) -> None:
    for name, hint in get_type_hints(type_).items():
        field = TYPES[type_].find(name)
        assert field is not None
        for word in literals(hint) - WORDS:
            field.read(word)


def literals(hint: Any) -> set[str]:
    found: set[str] = {argument for argument in get_args(hint) if isinstance(argument, str)}
    for argument in get_args(hint):
        found |= literals(argument)
    return found


def complaints(source: str, tmp_path: Path) -> set[int]:
    """The numbers of the lines that mypy complains about."""
    file = tmp_path / "snippet.py"
    file.write_text(source)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file=", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.stderr == ""
    return {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error: " in line}


def test_a_type_checker_accepts_every_option(tmp_path: Path) -> None:
    assert complaints(RIGHT, tmp_path) == set()


def test_a_type_checker_finds_a_misspelled_option(tmp_path: Path) -> None:
    wrong = {
        number
        for number, line in enumerate(WRONG.splitlines(), 1)
        if "(" in line and not line.startswith(("app =", "async def"))
    }

    assert complaints(WRONG, tmp_path) == wrong
