"""Runs many small cases in one test, for tables where a report per case is not useful.

    @for_each(("text", "expected"), [("1m", 60), ("1h", 3600)])
    def test_a_duration_is_parsed(text: str, expected: int) -> None: ...

All cases run, also after one has failed. Their failures are raised together, and a note names the case of each. The
cases share the fixtures of the test: where each needs its own, use `pytest.mark.parametrize`. The test may be a
coroutine function.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeAlias

import pytest

Test: TypeAlias = Callable[..., Any]
Case: TypeAlias = Mapping[str, Any]


def for_each(names: str | Sequence[str], values: Iterable[Any]) -> Callable[[Test], Test]:
    """Call the test once for each item of `values`. With several names, an item has a value for each of them."""
    cases = [{names: item} if isinstance(names, str) else dict(zip(names, item, strict=True)) for item in values]
    assert cases, "a test without cases checks nothing"

    def decorate(test: Test) -> Test:
        run_all = _awaiting(test, cases) if inspect.iscoroutinefunction(test) else _calling(test, cases)
        # Pytest uses the remaining parameters as fixtures.
        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in cases[0]]
        run_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run_all

    return decorate


def _calling(test: Test, cases: Sequence[Case]) -> Test:
    @wraps(test)
    def run_all(*arguments: Any, **fixtures: Any) -> None:
        with _all_failures(len(cases)) as failures:
            for case in cases:
                with _failure_of(case, failures):
                    test(*arguments, **fixtures, **case)

    return run_all


def _awaiting(test: Test, cases: Sequence[Case]) -> Test:
    @wraps(test)
    async def run_all(*arguments: Any, **fixtures: Any) -> None:
        with _all_failures(len(cases)) as failures:
            for case in cases:
                with _failure_of(case, failures):
                    await test(*arguments, **fixtures, **case)

    return run_all


@contextmanager
def _all_failures(count: int) -> Iterator[list[BaseException]]:
    failures: list[BaseException] = []
    yield failures
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {count} cases failed", failures)


@contextmanager
def _failure_of(case: Case, failures: list[BaseException]) -> Iterator[None]:
    try:
        yield
    except (Exception, BaseExceptionGroup, pytest.fail.Exception) as failure:
        failure.add_note("case: " + ", ".join(f"{name}={value!r:.200}" for name, value in case.items()))
        failures.append(failure)
