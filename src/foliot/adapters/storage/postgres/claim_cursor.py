"""Remembers where in a queue's index a claim should begin.

Claimed rows stay as dead rows at the front of a queue's index until vacuum has removed them. One old snapshot, for
example of a backup, prevents vacuum for hours. A claim that begins at the front reads all of them. Therefore, after
several slow claims in a row, the next claims begin where the last one ended, for ten times as long as the slow claim
took. A run that becomes ready before that position meanwhile, for example with a higher priority, waits for that time.

If claims find fewer runs than requested, beginning later gains nothing: then the next claim from the front follows
after no longer than the last one took.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lease import Claim
from foliot.domain.run.run import rank
from foliot.ports.clock import Clock

Position = tuple[int, str]
"""A rank and the id of a run: the next runs are those after it."""

QUEUE_START: Final[Position] = -(2**63), ""
_SLOW: Final = Millis(20)
"""Milliseconds. A claim should take less, apart from the time for its runs."""
_RUNS_PER_MILLISECOND: Final = 20
_SLOW_IN_A_ROW: Final = 3
"""This many slow claims in a row are not caused by a busy machine alone."""
_REST: Final = 10
_LONGEST_REST: Final = Millis(10 * SECOND)
_LATE: Final = Millis(5 * SECOND)
"""Runs do not become ready in the order of their ranks: a run may be later than others by this much."""


class ClaimCursor:
    """Where the claims of a process from its queues begin."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._reached: dict[str, Position] = {}
        self._slow_claims = 0
        self._rests_until = Millis(0)
        self._rests_if_idle_until = Millis(0)

    @contextmanager
    def claiming(self, queues: Sequence[str], limit: int) -> Iterator[list[Position]]:
        """Yield the position in each queue after which the claim inside this context begins."""
        began = self._clock.elapsed()
        is_whole = began >= self._rests_until
        try:
            yield [QUEUE_START if is_whole else self._reached.get(queue, QUEUE_START) for queue in queues]
        except Exception:
            if is_whole:
                self._record_duration(began, limit, slow_in_a_row=1)  # one failed claim is enough
            raise
        if is_whole:
            self._record_duration(began, limit, slow_in_a_row=_SLOW_IN_A_ROW)

    def _record_duration(self, began: Millis, limit: int, slow_in_a_row: int) -> None:
        now = self._clock.elapsed()
        took = now - began
        is_slow = took > _SLOW + limit // _RUNS_PER_MILLISECOND
        self._slow_claims = self._slow_claims + 1 if is_slow else 0
        if self._slow_claims >= slow_in_a_row:
            self._rests_until = Millis(now + min(_REST * took, _LONGEST_REST))
            self._rests_if_idle_until = Millis(now + min(took, _LONGEST_REST))

    def reached(self, claims: Sequence[Claim], limit: int) -> None:
        """Remember the runs that a claim of `limit` runs found, in this order."""
        last = {claim.queue: claim for claim in claims}
        self._reached |= {queue: _position_of(claim) for queue, claim in last.items()}
        if len(claims) < limit:
            self._rests_until = min(self._rests_until, self._rests_if_idle_until)


def _position_of(claim: Claim) -> Position:
    """Return the position of a run, limited to a time well before the present, where runs become ready now. A run of
    low priority is ranked as if it were due in the future."""
    own, late = rank(claim.due_at, claim.priority), claim.started_at - _LATE
    return (own, claim.run_id) if own <= late else (late, "")
