"""Many more runs of one job, to see how lists behave: created, claimed and ended in batches, as a busy worker does."""

from typing import Final

from foliot.domain.ids import IdSource, JobId, RunId, WorkerId
from foliot.domain.instant import HOUR
from foliot.domain.job.job import DEFAULT_QUEUE, Options
from foliot.domain.run.lease import Finish, Worker
from foliot.domain.run.outcome import DONE, Failure, Reason
from foliot.domain.run.run import NewRun
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage

_JOB: Final = JobId("stock-levels")
_BATCH: Final = 1_000
_FAILED: Final = Failure("exit code 1", Reason.EXIT_CODE, 1)
_FAILS: Final = 50
"""One run of so many fails."""


async def add_runs(storage: Storage, clock: Clock, ids: IdSource, count: int) -> None:
    """Add runs that begin and end now."""
    worker = Worker(WorkerId(ids.make(clock.now())), "crowd", (DEFAULT_QUEUE,), _BATCH, "")
    await storage.work.register(worker, HOUR)
    finishes: list[Finish] = []
    for start in range(0, count, _BATCH):
        new = ids.batch(clock.now(), min(_BATCH, count - start))
        runs = [NewRun(id=RunId(one), job_id=_JOB, due_at=clock.now(), options=Options(), trigger="api") for one in new]
        await storage.orders.create(runs)
        _, claims, _ = await storage.work.exchange(finishes, worker.id, worker.queues, _BATCH)
        finishes = [
            Finish(claim.run_id, worker.id, claim.token, _FAILED if number % _FAILS == 0 else DONE)
            for number, claim in enumerate(claims)
        ]
    await storage.work.finish(finishes)
    await storage.work.retire(worker.id)
