"""Many small cases in one test, for tables where a report per case says nothing.

    @for_each(("text", "expected"), [("1m", 60), ("1h", 3600)])
    def test_a_duration_is_parsed(text: str, expected: int) -> None: ...

All cases run, also after one has failed. Their failures are raised together, and a note names the case of each. The
cases share the fixtures of the test: where each needs its own, use `pytest.mark.parametrize`.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeAlias

import pytest

Test: TypeAlias = Callable[..., None]
Case: TypeAlias = Mapping[str, Any]


def for_each(names: str | Sequence[str], values: Iterable[Any]) -> Callable[[Test], Test]:
    """Call the test once for each item of `values`. With several names, an item has a value for each of them."""
    cases = [{names: item} if isinstance(names, str) else dict(zip(names, item, strict=True)) for item in values]
    assert cases, "a test without cases checks nothing"

    def decorate(test: Test) -> Test:
        assert not inspect.iscoroutinefunction(test), "for_each calls the test and does not await it"

        @wraps(test)
        def run_all(*arguments: Any, **fixtures: Any) -> None:
            failures = [
                failure for case in cases if (failure := _failure(test, case, *arguments, **fixtures)) is not None
            ]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(cases)} cases failed", failures)

        # Pytest takes what is left for fixtures.
        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in cases[0]]
        run_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run_all

    return decorate


def _failure(test: Test, case: Case, *arguments: Any, **fixtures: Any) -> BaseException | None:
    try:
        test(*arguments, **fixtures, **case)
    except (Exception, BaseExceptionGroup, pytest.fail.Exception) as failure:
        failure.add_note("case: " + ", ".join(f"{name}={value!r:.200}" for name, value in case.items()))
        return failure
    return None
