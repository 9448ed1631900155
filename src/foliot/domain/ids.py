"""Names of things: 26 characters, sorted by the time they were made.

    01JQZ8W3F0 7M4T5V6W8X9YABCD
    time (ms)  entropy (80 bits)          Crockford's base 32: no I, L, O, U

Ids made by one `IdSource` rise strictly, also within a millisecond and when the clock steps back,
so that a batch of runs keeps the order in which it was created.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NewType

from foliot.domain.instant import Instant

JobId = NewType("JobId", str)
RunId = NewType("RunId", str)
ScheduleId = NewType("ScheduleId", str)
ScheduleUid = NewType("ScheduleUid", str)
"""New each time a schedule of that name is created, so that a re-created schedule has a ledger of its own."""
WorkerId = NewType("WorkerId", str)
"""New at every start of a worker process; the worker's name is only a label."""
Token = NewType("Token", int)
"""Identifies one grant of one lease. Never used twice, strictly rising: the fence against former holders."""

DefinitionId = NewType("DefinitionId", str)
"""Identifies what a run is to do (`domain.job.definition`). The same id never means two things."""

ID_LENGTH: Final = 26
_ENTROPY_BITS: Final = 80
_STOCK: Final = 100
_MAX_ID: Final = (1 << 128) - 1
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS: Final = tuple(a + b for a in _ALPHABET for b in _ALPHABET)
_SHIFTS: Final = tuple(range(120, -1, -10))


def encode(value: int) -> str:
    """Write a 128-bit number as 26 characters that sort as the number does."""
    return "".join([_PAIRS[(value >> shift) & 1023] for shift in _SHIFTS])


def first_id_at(moment: Instant) -> str:
    """No id that is made at that moment or later sorts before it."""
    return encode(max(moment, 0) << _ENTROPY_BITS)


def _encode_range(first: int, count: int) -> list[str]:
    """Write successive numbers: all but the last two characters are the same for a thousand of them."""
    ids: list[str] = []
    while len(ids) < count:
        value = first + len(ids)
        head, low = _head(value >> 10), value & 1023
        ids += [head + pair for pair in _PAIRS[low : low + count - len(ids)]]
    return ids


@lru_cache(maxsize=8)
def _head(upper: int) -> str:
    """Numbers follow each other, so most ask for the one before."""
    return encode(upper << 10)[:-2]


def is_id(text: str) -> bool:
    return len(text) == ID_LENGTH and text[0] <= "7" and all(char in _ALPHABET for char in text)


class IdSource:
    """Makes ids out of the time and a source of 80-bit random numbers."""

    def __init__(self, entropy: Callable[[], int]) -> None:
        self._entropy = entropy
        self._last = 0

    def make(self, now: Instant) -> str:
        return self.batch(now, 1)[0]

    def stream(self, now: Instant) -> Iterator[str]:
        """As many ids as are asked for, made by the hundred."""
        while True:
            yield from self.batch(now, _STOCK)

    def batch(self, now: Instant, count: int) -> list[str]:
        first = min(self._first(now), _MAX_ID - count)
        self._last = first + count - 1
        return _encode_range(first, count)

    def _first(self, now: Instant) -> int:
        """A random number of this millisecond, or the one after the last: within one, chance is asked once."""
        if self._last >> _ENTROPY_BITS >= now:
            return self._last + 1
        return (now << _ENTROPY_BITS) | (self._entropy() & ((1 << _ENTROPY_BITS) - 1))
