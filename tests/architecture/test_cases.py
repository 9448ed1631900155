"""The decorator that runs many cases in one test."""

import asyncio

import pytest

from tests.cases import for_each


def failures_of(test: object) -> tuple[str, list[list[str]]]:
    assert callable(test)
    with pytest.raises(BaseExceptionGroup) as raised:
        test()
    return raised.value.message, [failure.__notes__ for failure in raised.value.exceptions]


def test_every_case_runs_and_every_failure_is_reported() -> None:
    seen = []

    @for_each(("number", "limit"), [(1, 2), (3, 2), (1, 3), (4, 3)])
    def test(number: int, limit: int) -> None:
        seen.append(number)
        assert number < limit

    assert failures_of(test) == ("2 of 4 cases failed", [["case: number=3, limit=2"], ["case: number=4, limit=3"]])
    assert seen == [1, 3, 1, 4]


def test_a_missing_exception_is_a_failure() -> None:
    @for_each("text", ["1", "x"])
    def test(text: str) -> None:
        with pytest.raises(ValueError):
            int(text)

    assert failures_of(test) == ("1 of 2 cases failed", [["case: text='1'"]])


def test_two_tables_are_multiplied() -> None:
    seen = []

    @for_each("left", "ab")
    @for_each("right", [1, 2])
    def test(left: str, right: int) -> None:
        seen.append((left, right))
        assert (left, right) != ("b", 1)

    message, notes = failures_of(test)
    assert (message, notes) == ("1 of 2 cases failed", [["case: left='b'"]])
    assert seen == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]


async def test_cases_of_a_coroutine_are_awaited() -> None:
    seen = []

    @for_each("number", [1, 2, 3])
    async def test(number: int) -> None:
        await asyncio.sleep(0)
        seen.append(number)
        assert number != 2

    with pytest.raises(BaseExceptionGroup, match="1 of 3 cases failed"):
        await test()
    assert seen == [1, 2, 3]


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(AssertionError, match="checks nothing"):
        for_each("text", [])


def test_fixtures_come_from_pytest_and_marks_are_kept(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(
        """
        import pytest
        from tests.cases import for_each

        @pytest.mark.xfail(strict=True)
        @for_each("number", [1, 2])
        def test_numbers(tmp_path, number):
            assert tmp_path.is_dir()
            assert number == 1
        """
    )

    pytester.runpytest().assert_outcomes(xfailed=1)
