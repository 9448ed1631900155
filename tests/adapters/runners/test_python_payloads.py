"""Arguments and results of functions: the same in the worker's process and in isolation."""

import importlib.util
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from foliot.adapters.runners.function import Handler
from foliot.adapters.runners.python import PythonRunner
from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import Instant
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.payload import MAX_BYTES
from foliot.domain.run.run import Tick
from tests.adapters.runners.attempts import an_attempt
from tests.cases import for_each

FUNCTIONS = """
import datetime, functools, sys
from foliot import current_run

def plain(*args, **kwargs): return [args, kwargs]
async def coroutine(*args, **kwargs): return [args, kwargs]
def named(a, b=2, *, c=3): return [a, b, c]
@functools.wraps(named)
def wrapped(*args, **kwargs): return named(*args, **kwargs)
def positional(a, /): return a
def told():
    run = current_run()
    return [run.job_id, run.attempt, run.idempotency_key, run.scheduled_for.isoformat()]
def around():
    run = current_run()
    return [str(run.scheduled_for), run.execution_id]

def nothing(): pass
def scalars(): return [1, -1.5, 1e22, True, None, "\\u2028ü\\x00", 2**70]
def nested(): return {"a": [{"b": (1, 2)}], "": {}}
def moment(): return datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
def as_large_as_possible(): return "x" * (MAX_BYTES - 2)
def too_large(): return "x" * (MAX_BYTES - 1)
def huge(): return [0] * 1_000_000
def a_set(): return {1}
def an_object(): return object()
def numbers_as_keys(): return {1: 2}
def not_a_number(): return [float("nan")]
def raw_bytes(): return {"a": b"b"}
def half_a_character(): return "\\ud800"
def endless():
    found = []
    found.append(found)
    return found
def deep():
    found = []
    for _ in range(100_000): found = [found]
    return found
"""

Call = Callable[..., Awaitable[Success | Failure]]


@pytest.fixture(params=["in the worker", "isolated"])
async def call(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Call]:
    path = tmp_path / "functions.py"
    path.write_text(FUNCTIONS.replace("MAX_BYTES", str(MAX_BYTES)))
    runner = PythonRunner(_handlers(path), threads=1)

    async def run(function: str, payload: object = None, **given: Any) -> Success | Failure:
        isolated = {"call": f"functions:{function}", "working_dir": str(tmp_path)}
        spec = isolated if request.param == "isolated" else {"handler": function}
        return await runner.run(replace(an_attempt(payload=payload, number=2), spec=spec, **given))

    yield run
    await runner.close()


def _handlers(path: Path) -> dict[str, Handler]:
    spec = importlib.util.spec_from_file_location("functions", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: Handler.of(value) for name, value in vars(module).items() if callable(value)}


@for_each("function", ["plain", "coroutine"])
@for_each(
    ("payload", "arguments"),
    [
        (None, b"[[],{}]"),
        ({}, b"[[],{}]"),
        ({"a": 1, "self": [2], "function": None}, b'[[],{"a":1,"self":[2],"function":null}]'),
        ([1, 2], b"[[[1,2]],{}]"),
        ("text", b'[["text"],{}]'),
        (0, b"[[0],{}]"),
        (False, b"[[false],{}]"),
    ],
)
async def test_a_dict_payload_becomes_keywords_and_any_other_one_argument(
    call: Call, function: str, payload: object, arguments: bytes
) -> None:
    assert await call(function, payload) == Success(arguments)


@for_each("function", ["named", "wrapped"])
@for_each(
    ("payload", "fault"),
    [
        ({"b": 1}, "the payload lacks a"),
        ({"a": 1, "d": 4, "e": 5}, "the function does not take d, e"),
        ({"a": 1, "1": 4}, "the function does not take 1"),
    ],
)
async def test_a_payload_that_does_not_match_the_function_is_not_retried(
    call: Call, function: str, payload: object, fault: str
) -> None:
    assert await call(function, payload) == Failure(fault, Reason.PAYLOAD, retryable=False)


async def test_a_payload_that_matches_the_function_is_passed(call: Call) -> None:
    assert await call("named", {"a": 1, "c": 5}) == Success(b"[1,2,5]")
    assert await call("positional", 7) == Success(b"7")


@pytest.mark.parametrize(("function", "payload"), [("named", None), ("nothing", 3)])
async def test_a_call_that_python_refuses_is_an_exception(call: Call, function: str, payload: object) -> None:
    outcome = await call(function, payload)

    assert isinstance(outcome, Failure)
    assert outcome.reason is Reason.EXCEPTION
    assert outcome.error.startswith("TypeError")


@for_each(
    ("function", "output"),
    [
        ("nothing", None),
        ("scalars", '[1,-1.5,1e22,true,null,"\u2028ü\\u0000",1180591620717411303424]'.encode()),
        ("nested", b'{"a":[{"b":[1,2]}],"":{}}'),
        ("moment", b'"2026-01-02T00:00:00Z"'),
        ("as_large_as_possible", b'"' + b"x" * (MAX_BYTES - 2) + b'"'),
    ],
)
async def test_the_result_is_stored_as_json(call: Call, function: str, output: bytes | None) -> None:
    assert await call(function) == Success(output)


REFUSED = {
    "too_large": f"the output has {MAX_BYTES + 1} bytes, more than {MAX_BYTES}",
    "huge": f"the output has 2000001 bytes, more than {MAX_BYTES}",
    "a_set": None,
    "an_object": "the output is not JSON",
    "numbers_as_keys": "the output is not JSON: the key 1 is not text",
    "not_a_number": "the output is not JSON: nan is not a JSON number",
    "raw_bytes": "the output is not JSON: bytes are not text",
    "half_a_character": "the output is not JSON",
    "endless": "the output is nested deeper than 200 levels",
    "deep": "the output is nested deeper than 200 levels",
}


@for_each("function", [name for name, fault in REFUSED.items() if fault is not None])
async def test_a_result_that_is_not_json_fails_without_retry(call: Call, function: str) -> None:
    outcome = await call(function)

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.retryable) == (Reason.OUTPUT, False)
    assert outcome.error.startswith(REFUSED[function] or "")


async def test_a_set_in_a_result_becomes_a_list(call: Call) -> None:
    assert await call("a_set") == Success(b"[1]")


async def test_current_run_has_the_planned_time_of_the_tick(call: Call) -> None:
    tick = Tick(ScheduleUid("u"), ScheduleId("s"), Instant(1_000), "the-key")

    outcome = await call("told", tick=tick)

    assert outcome == Success(b'["a-job",2,"the-key","1970-01-01T00:00:01+00:00"]')


async def test_current_run_has_the_planned_time_given_by_a_launcher(call: Call) -> None:
    assert await call("around", scheduled_for=Instant(1_000)) == Success(b'["1970-01-01 00:00:01+00:00",null]')
    assert await call("around") == Success(b'["None",null]')


async def test_current_run_has_the_execution_of_a_step(call: Call) -> None:
    assert await call("around", execution="01J") == Success(b'["None","01J"]')
