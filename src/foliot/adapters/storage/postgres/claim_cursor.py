"""Remembers where in a queue's index a claim should begin.

Claimed rows stay as dead rows at the front of a queue's index until vacuum has removed them, and one old snapshot,
perhaps that of a backup, keeps vacuum from it for hours. A claim that begins at the front passes all of them. So when
claims are slow several times in a row, the next ones begin where the last one ended, for ten times as long as such a
claim took. A run that becomes ready before that place meanwhile, one of a higher priority for example, waits for so
long.

When claims find fewer runs than they ask for, beginning later gains nothing: then a claim from the front follows the
last one after no longer than that took.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lease import Claim
from foliot.domain.run.run import rank
from foliot.ports.clock import Clock

Place = tuple[int, str]
"""A rank and the id of a run: the next runs are those after it."""

FRONT: Final[Place] = -(2**63), ""
_SLOW: Final = Millis(20)
"""A claim should take less, beside the time for its runs."""
_RUNS_A_MILLISECOND: Final = 20
_PATIENCE: Final = 3
"""How many slow claims in a row mean more than a busy machine."""
_REST: Final = 10
_LONGEST_REST: Final = Millis(10 * SECOND)
_LATE: Final = Millis(5 * SECOND)
"""Runs do not become ready in the order of their ranks: a run may be later than others by so much."""


class ClaimCursor:
    """Where the claims of a process from its queues begin."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._reached: dict[str, Place] = {}
        self._slow_claims = 0
        self._rests_until = Millis(0)
        self._rests_if_idle_until = Millis(0)

    @contextmanager
    def claiming(self, queues: Sequence[str], limit: int) -> Iterator[list[Place]]:
        """The place of each queue after which the claim inside this context begins."""
        began = self._clock.elapsed()
        is_whole = began >= self._rests_until
        try:
            yield [FRONT if is_whole else self._reached.get(queue, FRONT) for queue in queues]
        except Exception:
            if is_whole:
                self._judge(began, limit, patience=1)  # a claim that failed counts at once
            raise
        if is_whole:
            self._judge(began, limit, patience=_PATIENCE)

    def _judge(self, began: Millis, limit: int, patience: int) -> None:
        now = self._clock.elapsed()
        took = now - began
        is_slow = took > _SLOW + limit // _RUNS_A_MILLISECOND
        self._slow_claims = self._slow_claims + 1 if is_slow else 0
        if self._slow_claims >= patience:
            self._rests_until = Millis(now + min(_REST * took, _LONGEST_REST))
            self._rests_if_idle_until = Millis(now + min(took, _LONGEST_REST))

    def reached(self, claims: Sequence[Claim], limit: int) -> None:
        """Remember the runs that a claim of `limit` runs found, in this order."""
        last = {claim.queue: claim for claim in claims}
        self._reached |= {queue: _place_of(claim) for queue, claim in last.items()}
        if len(claims) < limit:
            self._rests_until = min(self._rests_until, self._rests_if_idle_until)


def _place_of(claim: Claim) -> Place:
    """The place of a run, but well before the present, where runs become ready now. A run of low priority ranks as if
    it were due in the future."""
    own, late = rank(claim.due_at, claim.priority), claim.started_at - _LATE
    return (own, claim.run_id) if own <= late else (late, "")
