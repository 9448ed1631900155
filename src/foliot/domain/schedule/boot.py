"""Decides about `@reboot`: one tick of each such schedule for each boot of a host."""

from foliot.domain.instant import SECOND, Instant
from foliot.domain.schedule.catchup import plan_firing
from foliot.domain.schedule.firing import Boot, DueSchedule, Firing, RoundContext


def fire_after_boot(due: DueSchedule, boot_id: str, context: RoundContext) -> Firing | None:
    """Return the decision about a schedule that has not fired for this boot. None: ask again in the next second.

    The planned moment is the current second. A boot has no earlier moment that all schedulers agree on, and the
    watermark may already be later than the start of the host: another host may have booted meanwhile.
    """
    moment = Instant(context.now // SECOND * SECOND)
    if moment <= max(due.settled_until, due.revisions[-1].opened_at):
        return None
    firing = plan_firing(due._replace(boot=moment), context)
    decided = {tick.scheduled_for for tick in firing.ticks} | {tick.scheduled_for for tick in firing.planned}
    if moment in decided:
        firing.boot = Boot(boot_id, moment)
    elif firing.behind_since is None:
        firing.boot = Boot(boot_id, None)  # the boot is before `start_at` or after `end_at`
    return firing
