"""Ids: 26 characters that sort by the time of their creation.

    01JQZ8W3F0 7M4T5V6W8X9YABCD
    time (ms)  entropy (80 bits)          Crockford's base 32: no I, L, O, U

Ids of one `IdSource` rise strictly, also within a millisecond and when the clock steps back, so that a batch of runs
keeps the order in which it was created.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NewType

from foliot.domain.instant import Instant

JobId = NewType("JobId", str)
RunId = NewType("RunId", str)
ScheduleId = NewType("ScheduleId", str)
ScheduleUid = NewType("ScheduleUid", str)
"""New each time a schedule with one id is created, so that a re-created schedule has a new ledger."""
WorkerId = NewType("WorkerId", str)
"""New at every start of a worker process; the worker's name is only a label."""
Token = NewType("Token", int)
"""Identifies one grant of a lease. Strictly rising and never used twice: a fencing token against former holders."""

DefinitionId = NewType("DefinitionId", str)
"""Identifies the definition that a run executes (`domain.job.definition`). The definition of an id never changes."""

ID_LENGTH: Final = 26
_ENTROPY_BITS: Final = 80
_BATCH_SIZE: Final = 100
_MAX_ID: Final = (1 << 128) - 1
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS: Final = tuple(a + b for a in _ALPHABET for b in _ALPHABET)
_SHIFTS: Final = tuple(range(120, -1, -10))


def encode(value: int) -> str:
    """Return a 128-bit number as 26 characters that sort like the number."""
    return "".join([_PAIRS[(value >> shift) & 1023] for shift in _SHIFTS])


def first_id_at(moment: Instant) -> str:
    """Return the smallest id of a moment: ids made then or later do not sort before it."""
    return encode(max(moment, 0) << _ENTROPY_BITS)


def _encode_range(first: int, count: int) -> list[str]:
    """Return the ids of successive numbers. All but the last two characters are equal for up to 1,024 of them."""
    ids: list[str] = []
    while len(ids) < count:
        value = first + len(ids)
        head, low = _head(value >> 10), value & 1023
        ids += [head + pair for pair in _PAIRS[low : low + count - len(ids)]]
    return ids


@lru_cache(maxsize=8)
def _head(upper: int) -> str:
    """Return the first 24 characters of an id. Numbers are successive, so most calls repeat the one before."""
    return encode(upper << 10)[:-2]


def is_id(text: str) -> bool:
    return len(text) == ID_LENGTH and text[0] <= "7" and all(char in _ALPHABET for char in text)


class IdSource:
    """Makes ids from the time and a source of 80-bit random numbers."""

    def __init__(self, entropy: Callable[[], int]) -> None:
        self._entropy = entropy
        self._last = 0

    def make(self, now: Instant) -> str:
        return self.batch(now, 1)[0]

    def stream(self, now: Instant) -> Iterator[str]:
        """Yield ids without end, made in batches."""
        while True:
            yield from self.batch(now, _BATCH_SIZE)

    def batch(self, now: Instant, count: int) -> list[str]:
        first = min(self._first(now), _MAX_ID - count)
        self._last = first + count - 1
        return _encode_range(first, count)

    def _first(self, now: Instant) -> int:
        """Return a random number in this millisecond, or the successor of the last one if that is not earlier."""
        if self._last >> _ENTROPY_BITS >= now:
            return self._last + 1
        return (now << _ENTROPY_BITS) | (self._entropy() & ((1 << _ENTROPY_BITS) - 1))
