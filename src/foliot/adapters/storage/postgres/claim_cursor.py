"""Where to look for the runs that are next.

What was claimed lies dead at the front of a queue's index until vacuum has removed it, and one old snapshot, perhaps
that of a backup, keeps vacuum from it for hours. Every look from the very front passes by all of it. So when looks
keep being slow, for this or another reason, claims go on where the last one ended, for ten times as long as such a look
took. What comes in before that place meanwhile, a run of a higher priority for example, waits for so long.

Where claims find less than they ask for, nothing is gained by passing by what is dead: then one look from the very
front is followed by the next after no longer than it took.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lease import Claim
from foliot.domain.run.run import rank
from foliot.ports.clock import Clock

Place = tuple[int, str]
"""A rank and the id of a run: what is next stands behind it."""

VERY_FRONT: Final[Place] = -(2**63), ""
_SLOW: Final = Millis(20)
"""What no look should take, beside a moment for its runs."""
_RUNS_A_MILLISECOND: Final = 20
_PATIENCE: Final = 3
"""How many slow looks in a row tell more than that the machine is busy."""
_REST: Final = 10
_LONGEST_REST: Final = Millis(10 * SECOND)
_LATE: Final = Millis(5 * SECOND)
"""Runs do not become ready in the order of their ranks: by so much one may be behind the others."""


class Front:
    """What a process knows about the front of the queues that it claims from."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._reached: dict[str, Place] = {}
        self._slow_looks = 0
        self._rests_until = Millis(0)
        self._rests_if_idle_until = Millis(0)

    @contextmanager
    def looking(self, queues: Sequence[str], limit: int) -> Iterator[list[Place]]:
        """Behind which place of each queue to look, for whoever does it under this."""
        began = self._clock.elapsed()
        is_whole = began >= self._rests_until
        try:
            yield [VERY_FRONT if is_whole else self._reached.get(queue, VERY_FRONT) for queue in queues]
        except Exception:
            if is_whole:
                self._judge(began, limit, patience=1)  # one that was given up has told enough
            raise
        if is_whole:
            self._judge(began, limit, patience=_PATIENCE)

    def _judge(self, began: Millis, limit: int, patience: int) -> None:
        now = self._clock.elapsed()
        took = now - began
        is_slow = took > _SLOW + limit // _RUNS_A_MILLISECOND
        self._slow_looks = self._slow_looks + 1 if is_slow else 0
        if self._slow_looks >= patience:
            self._rests_until = Millis(now + min(_REST * took, _LONGEST_REST))
            self._rests_if_idle_until = Millis(now + min(took, _LONGEST_REST))

    def reached(self, claims: Sequence[Claim], limit: int) -> None:
        """These were found, in this order, where so many were asked for."""
        last = {claim.queue: claim for claim in claims}
        self._reached |= {queue: _place_of(claim) for queue, claim in last.items()}
        if len(claims) < limit:
            self._rests_until = min(self._rests_until, self._rests_if_idle_until)


def _place_of(claim: Claim) -> Place:
    """Well before the present, where all stand that become ready now, and before a low priority, which ranks as if it
    were due in the future."""
    own, late = rank(claim.due_at, claim.priority), claim.started_at - _LATE
    return (own, claim.run_id) if own <= late else (late, "")
