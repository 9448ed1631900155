"""Spans of time as people write them after `@every`: 90s, 1h30m, 1.5h, 2d."""

import re
from typing import Final

from foliot.domain.cron.span import Span

_UNITS: Final = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_PART: Final = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,9}))?(ms|[dhms])")
_LONGEST: Final = 36_500 * 86_400
_HINT: Final = "Write 90s, 15m, 1h30m, 1.5h or 2d, the larger units first."


def seconds(text: Span) -> int:
    """Read a span of whole seconds, from one second to a hundred years."""
    millis, place, unit_before = 0, 0, None
    while place < len(text.text):
        part = _PART.match(text.text, place)
        if part is None or (unit_before and _UNITS[part[3]] >= _UNITS[unit_before]):
            raise text.cut(place).fault(f"{text} is not a span of time", _HINT)
        millis += _millis(text.cut(place, part.end()), part)
        place, unit_before = part.end(), part[3]
    return _checked(text, millis)


def _millis(text: Span, part: re.Match[str]) -> int:
    fraction: str = part[2] or ""
    millis, rest = divmod(int(part[1] + fraction) * _UNITS[part[3]], int(f"1{'0' * len(fraction)}"))
    if rest:
        raise text.fault(f"{text} is not a number of whole seconds", "An interval counts whole seconds.")
    return millis


def _checked(text: Span, millis: int) -> int:
    span, rest = divmod(millis, 1_000)
    if rest:
        raise text.fault(f"{text} is not a number of whole seconds", "An interval counts whole seconds.")
    if not 1 <= span <= _LONGEST:
        raise text.fault(f"{text} is outside one second to a hundred years", _HINT)
    return span
