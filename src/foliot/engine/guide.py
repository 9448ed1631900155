"""Leads one passage through an execution: answers its questions from the storage until nothing more follows."""

from collections.abc import Collection, Iterable, Mapping
from typing import cast

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import LATEST
from foliot.domain.run import Ended
from foliot.domain.workflow.execution import Execution, StepFacts
from foliot.domain.workflow.keeping import NOTHING, kept_in, with_kept
from foliot.domain.workflow.passage import Passage, Plan, Surroundings, job_of
from foliot.domain.workflow.progress import Advance, Questions, Resolved, StepState, advance
from foliot.domain.workflow.spec import StepOverlap
from foliot.ports.storage import Storage


class Guide:
    """Leads one execution from the steps that have resolved to all that follows from them.

    `known` are the states of steps that are at hand; the others are read when they are asked for. `before` is where
    steps have left something behind: the execution itself, or, of a new one that is not stored yet, the one it repeats.
    """

    def __init__(
        self,
        storage: Storage,
        plan: Plan,
        execution: Execution,
        passage: Passage,
        known: Mapping[str, StepState],
        before: RunId | None = None,
    ) -> None:
        self._storage = storage
        self._plan = plan
        self._execution = execution
        self._passage = passage
        self._known = dict(known)
        self._before = before or execution.run_id

    @property
    def _run_id(self) -> RunId:
        return self._execution.run_id

    async def tell(self, news: Mapping[str, Resolved]) -> None:
        """Steps have resolved: do all that follows."""
        while news:
            self._known.update(self._passage.changed)
            news = await self.take(await self._answer(advance(self._plan.graph, news)))

    async def take(self, followed: Advance) -> Mapping[str, Resolved]:
        """Start what fires. Steps that could not be started have resolved by that and come back."""
        news = self._passage.follow(followed, await self._surroundings(followed.fire))
        if news:
            return news
        wanted = self._passage.wanted_facts
        return self._passage.start(await self._facts(wanted) if wanted else {})

    async def _facts(self, wanted: Collection[str]) -> Mapping[str, StepFacts]:
        """What these steps left behind. Where that is nothing, it may have been forgotten, and carried along."""
        found = await self._storage.executions.facts(self._before, wanted)
        if all(known.facts != NOTHING for known in found.values()):
            return found
        return with_kept(found, kept_in(await self._storage.runs.overrides(self._run_id)))

    async def ending(self) -> Ended | None:
        """How the execution has ended; None while steps are unresolved."""
        if self._passage.unresolved:
            return None
        missing = self._plan.steps.keys() - self._known.keys()
        if missing:
            self._known = {**await self._storage.executions.states(self._run_id), **self._known}
        return self._passage.ending(self._known)

    async def _answer(self, questions: Questions) -> Advance:
        try:
            wanted = next(questions)
            while True:
                missing = wanted - self._known.keys()
                if missing:
                    self._known.update(await self._storage.executions.states(self._run_id, missing))
                wanted = questions.send({name: self._known[name] for name in wanted})
        except StopIteration as end:
            return cast(Advance, end.value)

    async def _surroundings(self, fire: Iterable[str]) -> Surroundings:
        """What may keep these steps from starting; nothing is read where nothing can."""
        steps = [self._plan.steps[name] for name in fire]
        if not steps:
            return Surroundings()
        named = {step.job for step in steps if step.job is not None}
        found = await self._storage.jobs.get(named) if named else {}
        workflow_id = self._execution.workflow_id
        exclusive = {job_of(step, workflow_id) for step in steps if step.overlap is StepOverlap.SKIP}
        return Surroundings(
            paused=await self._storage.workflows.paused_steps(workflow_id),
            disabled={job_id for job_id, job in found.items() if not job.spec.enabled},
            gone=named - found.keys(),
            busy=await self._busy(exclusive) if exclusive else (),
        )

    async def _busy(self, job_ids: Collection[JobId]) -> set[JobId]:
        """Jobs with a run that is due and not over: one that takes a place, or, of jobs without limits, any."""
        sights = await self._storage.runs.sights(job_ids, after=LATEST, until=self._passage.now)
        expected = {job_id for job_id, sight in sights.items() if sight.is_expected}
        return expected | await self._storage.executions.busy(job_ids)
