"""The scheduler role: turns ticks into runs, starts due runs, frees the leases of expired workers, and prunes."""

from collections.abc import Sequence

from foliot.engine.loop import Duty
from foliot.engine.scheduler.dispatcher import Dispatcher
from foliot.engine.scheduler.gates import Gates
from foliot.engine.scheduler.janitor import Janitor
from foliot.engine.scheduler.reaper import Reaper
from foliot.engine.scheduler.scheduler import Scheduler
from foliot.engine.settings import Parts, Settings


class SchedulerRole:
    """The duties of a scheduler. They hold no state that a crash could lose: any number of processes may run them."""

    def __init__(self, parts: Parts, settings: Settings) -> None:
        storage, clock = parts.storage, parts.clock
        self.scheduler = Scheduler(storage, clock, ids=parts.ids, make_run=parts.make_run, settings=settings.scheduler)
        self.dispatcher = Dispatcher(storage, parts.queue, clock, poll=settings.poll)
        self.gates = Gates(storage, every=settings.poll)
        self.reaper = Reaper(storage, sweep=parts.sweep, processes=parts.processes, every=settings.poll)
        self.janitor = Janitor(storage, clock, parts.ids.make(clock.now()), settings.retention)
        self.duties: Sequence[Duty] = (self.scheduler, self.dispatcher, self.gates, self.reaper, self.janitor)
