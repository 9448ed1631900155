"""Checks invariants of chains after every step, from the runs of their steps and the documents of their classes."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from msgspec import convert

from foliot.domain.chain.class_state import read_class
from foliot.domain.chain.spec import CHAIN, ESCALATE, SCOUT, ChainSpec, Limits
from foliot.domain.events import Event, EventKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.job.job import JobSpec
from foliot.domain.run.run import Run
from foliot.ports.chains import ChainClass
from foliot.ports.storage import Storage
from foliot.testing.invariants import Violation


class ChainWatch:
    def __init__(self, storage: Storage, jobs: Mapping[JobId, JobSpec]) -> None:
        self._storage = storage
        self._limits = {
            job_id: convert(job.spec, ChainSpec, str_keys=True).limits
            for job_id, job in jobs.items()
            if job.kind == CHAIN
        }
        self._open: dict[RunId, JobId] = {}
        self._over: set[RunId] = set()
        self._children: Counter[RunId] = Counter()

    def on_event(self, event: Event) -> Event:
        """Record openings and ends of chains. Return the event without them."""
        others: list[Any] = []
        for item in event.items:
            run_id, job_id, _ = item
            if job_id not in self._limits:
                others.append(item)
            elif event.kind is EventKind.EXECUTIONS_OPENED:
                self._on_opened(RunId(run_id), JobId(job_id))
            else:
                self._on_ended(RunId(run_id))
        return event._replace(items=others)

    def _on_opened(self, run_id: RunId, job_id: JobId) -> None:
        if run_id in self._open or run_id in self._over:
            raise Violation(f"C4 chain {run_id} was opened twice")
        self._open[run_id] = job_id

    def _on_ended(self, run_id: RunId) -> None:
        if self._open.pop(run_id, None) is None:
            raise Violation(f"C4 chain {run_id} ended, and was not open")
        self._over.add(run_id)

    def on_new_run(self, run: Run) -> bool:
        """Check a new run. Return whether it is a step of a chain."""
        parent = run.parent_id
        if parent is None or not self.is_step(run):
            return False
        stage = (run.child_key or "").partition(".")[0]
        if stage in (SCOUT, ESCALATE):
            return True
        self._children[parent] += 1
        limits = self._limits[self._open[parent]] if parent in self._open else Limits()
        if parent in self._open and self._children[parent] > limits.max_children:
            raise Violation(f"C1 chain {parent} has {self._children[parent]} steps, not {limits.max_children}")
        return True

    def is_step(self, run: Run) -> bool:
        return run.parent_id in self._open or run.parent_id in self._over

    async def check(self) -> None:
        """Check the classes."""
        for one in await self._storage.queries.chain_classes():
            self._check_class(one)

    def _check_class(self, one: ChainClass) -> None:
        active = read_class(one.document.body).active
        limits = self._limits.get(JobId(one.class_id), Limits())
        if len(active) > limits.max_concurrent:
            raise Violation(f"C1 class {one.class_id} has {len(active)} active chains, not {limits.max_concurrent}")
        if len({chain.slot for chain in active}) < len(active):
            raise Violation(f"C2 class {one.class_id} has two chains for one incident: {active}")
        for chain in active:
            if chain.run_id in self._over:
                raise Violation(f"C5 class {one.class_id} lists {chain.run_id}, which has ended")
