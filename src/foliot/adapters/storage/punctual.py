"""Which firings a storage can save the short way, whatever the database.

Ten thousand schedules that are due at the same second nearly all have one tick, on time, whose run starts at once. A
few statements save all of those, exactly as the long way would, which has to do with everything else.
"""

from typing import Final

from foliot.domain.run.run import NewRun
from foliot.domain.schedule.firing import Firing
from foliot.domain.schedule.tick import TickOutcome

_RAN: Final = TickOutcome.RAN


def is_punctual(firing: Firing) -> bool:
    """Whether it has one tick and nothing else, and the run of that tick is ready when it is due."""
    if len(firing.ticks) != 1 or len(firing.runs) != 1 or firing.waiting or firing.planned or firing.cancels_running:
        return False
    moment, [tick], [run] = firing.settled_until, firing.ticks, firing.runs
    return (
        firing.next_run_at is not None
        and firing.wake_at == firing.next_run_at
        and firing.behind_since is None
        and firing.last_scheduled_at == moment
        and tick == (moment, moment, 1, _RAN, tick.reason, moment, tick.revision, run.id, None)
        and run.tick is not None
        and (run.tick.uid, run.tick.scheduled_for) == (firing.uid, moment)
        and _is_plain(run)
    )


def _is_plain(run: NewRun) -> bool:
    options = run.options
    is_free = options.max_concurrent is None and options.concurrency_key is None and run.dedupe_key is None
    return is_free and run.overrides is None and run.parent_id is None and not run.is_gated
