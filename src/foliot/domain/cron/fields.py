"""The fields of an expression, and the numbers of each item in a field.

    item   =  base [ "/" step ]
    base   =  "*"  |  "?"  |  value  |  value "-" value  |  "H" [ "(" value "-" value ")" ]
    value  =  digits  |  a name of three letters

Items of the day fields only (L, W, #) are in monthdays.py and weekdays.py.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from foliot.domain.cron.span import Span

MONTH_NAMES: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAY_NAMES: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_LONG_NAME: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field of an expression: its name and its range of numbers."""

    name: str
    low: int
    high: int
    names: Mapping[str, int] = field(default_factory=dict)
    top: int = -1
    """The largest number that may be written, if it is not `high`: 7 is another number for Sunday."""
    hash_high: int | None = None
    """The largest number for `H`, if it is not `high`: the 28th is the last day that every month has."""
    wraps: bool = True
    special: str = ""
    """Other items that the field accepts, for hints."""
    from_end: str = ""
    """How to count from the end, for the hint about a minus sign."""
    article: str = "a"

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    def limit(self) -> int:
        return max(self.top, self.high)

    @property
    def every(self) -> range:
        return range(self.low, self.high + 1)


SECOND: Final = Field("second", 0, 59)
MINUTE: Final = Field("minute", 0, 59)
HOUR: Final = Field("hour", 0, 23, article="an")
DAY_OF_MONTH: Final = Field(
    "day-of-month",
    1,
    31,
    hash_high=28,
    special="L, L-3, LW and 15W",
    from_end=" Write L for the last day of the month, L-1 for the day before it.",
)
MONTH: Final = Field("month", 1, 12, names={name: number for number, name in enumerate(MONTH_NAMES, 1)})
DAY_OF_WEEK: Final = Field(
    "day-of-week",
    0,
    6,
    names={name: number for number, name in enumerate(WEEKDAY_NAMES)},
    top=7,
    special="5L and 5#2",
)
YEAR: Final = Field("year", 1970, 9999, wraps=False)

_EVERY: Final = {each: tuple(each.every) for each in (SECOND, MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK)}


def is_star(text: str) -> bool:
    """Return whether a field begins with * or ?. Like Vixie cron, this tests the first character only."""
    return text[0] in "*?"


def values(text: Span, kind: Field, key: str | None) -> tuple[int, ...]:
    """Return the values of a field, which is a list of items, in order and without duplicates."""
    if text.text == "*" and kind in _EVERY:
        return _EVERY[kind]
    found: set[int] = set()
    for item in items(text, kind):
        found.update(numbers(item, kind, key))
    return tuple(sorted(found))


def items(text: Span, kind: Field) -> Iterable[Span]:
    """Return the items of a list without duplicates. An empty item is refused."""
    if "," not in text.text:
        return (text,)
    pieces = text.split(",")
    for piece in pieces:
        if not piece.text:
            raise piece.fault(
                f"the list in the {kind.name} field has an empty item",
                "Write a value between two commas, and no comma at the ends.",
            )
    return {piece.text: piece for piece in pieces}.values()


def numbers(item: Span, kind: Field, key: str | None) -> Iterable[int]:
    """Return the numbers of one item."""
    base, step = item.partition("/")
    if base.text[:1] in {"H", "h"}:
        return _hashed(base, step, kind, key)
    if base.text in {"*", "?"}:
        return kind.every[:: _stride(step, kind.size, kind)]
    if "-" in base.text:
        return between(base, kind, _stride(step, kind.size, kind))
    first = number(base, kind)
    if step is None:
        return (first,)
    return range(first, kind.high + 1, _stride(step, kind.size, kind))


def between(text: Span, kind: Field, stride: int = 1) -> Sequence[int]:
    """Return the numbers of a range. It may wrap around from the end of the field to its start."""
    left, right = text.partition("-")
    assert right is not None
    if not left.text and right.text[:1].isdigit():
        raise text.fault(f"{text} in the {kind.name} field begins with a sign", f"{_allowed(kind)}{kind.from_end}")
    first, last = _written(left, kind), _written(right, kind)
    if first > last and not kind.wraps:
        raise text.fault(f"the {kind.name} range {text} runs backwards", "Write the smaller number first.")
    found = range(first, (last if first <= last else last + kind.size) + 1, stride)
    return found if found[-1] <= kind.high else [_fold(number, kind) for number in found]


def number(text: Span, kind: Field) -> int:
    """Return the value of one number or name, checked against the range of the field."""
    return _fold(_written(text, kind), kind)


def _fold(number: int, kind: Field) -> int:
    return kind.low + (number - kind.low) % kind.size


def _written(text: Span, kind: Field) -> int:
    if not text.text.isdigit():
        return _named(text, kind)
    value = int(text.text)
    if not kind.low <= value <= kind.limit:
        # Other programs have 6 fields with the year last and without the second.
        year = " A year is the last of 7 fields, the first of which is the second." if value in YEAR.every else ""
        raise text.fault(f"{kind.name} {text} is outside {kind.low}-{kind.limit}", f"{_allowed(kind)}{year}")
    return value


def _named(text: Span, kind: Field) -> int:
    name = text.text.upper()
    if name in kind.names:
        return kind.names[name]
    if not name:
        raise text.fault(f"a value is missing in the {kind.name} field", _allowed(kind))
    if len(name) >= _LONG_NAME and name[:3] in kind.names and name.isalpha():
        raise text.fault(f"{text} is not a {kind.name}", f'Names have three letters: write "{name[:3]}".')
    raise text.fault(f"{text} is not {kind.article} {kind.name}", _allowed(kind))


def _allowed(kind: Field) -> str:
    names = f" or names ({', '.join(kind.names)})" if kind.names else ""
    special = f", and {kind.special}" if kind.special else ""
    return f"The {kind.name} field holds numbers from {kind.low} to {kind.limit}{names}{special}."


def _stride(step: Span | None, size: int, kind: Field) -> int:
    if step is None:
        return 1
    if not step.text.isdigit():
        raise step.fault(
            f"the step {step} in the {kind.name} field is not a number", f"Write a number from 1 to {size}."
        )
    stride = int(step.text)
    if not stride:
        raise step.fault("a step cannot be 0", f"Write a step from 1 to {size}.")
    if stride > size:
        stepped = f"the {kind.name} field" if size == kind.size else "the range of H"
        raise step.fault(
            f"the step {step} is larger than {stepped}",
            f"There are {size} values: write a step from 1 to {size}.",
        )
    return stride


def _hashed(base: Span, step: Span | None, kind: Field, key: str | None) -> Iterable[int]:
    choices = _hash_range(base, kind)
    drawn = _hash(key, kind.name, base)
    if step is None:
        return (choices[drawn % len(choices)],)
    stride = _stride(step, len(choices), kind)
    return choices[drawn % stride :: stride]


def _hash_range(base: Span, kind: Field) -> Sequence[int]:
    if not kind.wraps:
        raise base.fault(f"H is not allowed in the {kind.name} field", "Write the years as numbers.")
    if len(base.text) == 1:
        return range(kind.low, (kind.hash_high or kind.high) + 1)
    inner = base.text[1:]
    if not (inner.startswith("(") and inner.endswith(")") and "-" in inner):
        raise base.fault(f"{base} cannot be hashed", "Write H, H/15, H(0-29) or H(0-29)/10.")
    return between(base.cut(2, len(base.text) - 1), kind)


def _hash(key: str | None, field: str, item: Span) -> int:
    """Return a large number that depends on the key and the field alone: the same on every machine."""
    if key is None:
        raise item.fault(
            "H needs the name that its value is computed from",
            "Give the id of the schedule as key, or write a number instead of H.",
        )
    digest = sha256(f"{field}\n{key}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big")
