"""Lists of numbers and names as people say them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

_SHORTEST_RUN: Final = 3
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}


def listed(words: Sequence[str]) -> str:
    """a; a and b; a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def ranges(values: Sequence[int], name: Callable[[int], str] = str, to: str = "-") -> str:
    """1; 1 and 2; 1-3; 1-5, 8 and 10: values in order, those that follow one another drawn together."""
    return listed(range_words(values, name, to))


def range_words(values: Sequence[int], name: Callable[[int], str] = str, to: str = "-") -> list[str]:
    """The same, word by word."""
    words: list[str] = []
    for run in _runs(values):
        if len(run) >= _SHORTEST_RUN:
            words.append(f"{name(run[0])}{to}{name(run[-1])}")
        else:
            words.extend(name(value) for value in run)
    return words


def _runs(values: Sequence[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for value in values:
        if run and value != run[-1] + 1:
            yield run
            run = []
        run.append(value)
    yield run


def ordinal(number: int) -> str:
    is_teen = number // 10 % 10 == 1
    return f"{number}{'th' if is_teen else _ENDINGS.get(number % 10, 'th')}"
