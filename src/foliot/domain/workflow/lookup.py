"""Access to the loaded data of an execution. Data that is not loaded yet ends the decision with `NotLoaded`."""

from collections.abc import Collection, Mapping

from foliot.domain.ids import JobId, RunId
from foliot.domain.job.job import JobSpec
from foliot.domain.tree.kind import Loaded, Wanted
from foliot.domain.workflow.output import StepOutput
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.rerun import NO_OUTPUT, CarriedOutputs, carried_outputs, with_carried


class NotLoaded(Exception):
    """A decision needs data that has not been read yet."""

    def __init__(self, wanted: Wanted) -> None:
        super().__init__("not loaded yet")
        self.wanted = wanted


class Lookup:
    """Reads from what was loaded for one tree.

    `steps_of` is the execution whose steps are read, if it is not the tree itself: the one that a rerun repeats.
    `known` are states that need not be read.
    """

    def __init__(
        self,
        run_id: RunId,
        loaded: Loaded,
        *,
        steps_of: RunId | None = None,
        known: Mapping[str, StepState] | None = None,
    ) -> None:
        self._run_id = run_id
        self._loaded = loaded
        self._steps_of = steps_of
        self._known = dict(known or {})

    def states(self, names: Collection[str]) -> dict[str, StepState]:
        missing = frozenset(names) - self._known.keys() - self._loaded.states.keys()
        if missing:
            raise NotLoaded(Wanted(run_id=self._run_id, steps_of=self._steps_of, states=missing))
        return {name: self._known[name] if name in self._known else self._loaded.states[name] for name in names}

    def all_states(self, names: Collection[str]) -> dict[str, StepState]:
        """Return the states of all steps, in the order of `names`, which are the names of all steps."""
        if not self._known.keys() | self._loaded.states.keys() >= set(names):
            raise NotLoaded(Wanted(run_id=self._run_id, steps_of=self._steps_of, all_states=True))
        return self.states(names)

    def stored_states(self) -> Mapping[str, StepState]:
        """Return the states of all stored steps."""
        if not self._loaded.has_all_states:
            raise NotLoaded(Wanted(run_id=self._run_id, steps_of=self._steps_of, all_states=True))
        return self._loaded.states

    def stored_outputs(self, names: Collection[str]) -> dict[str, StepOutput]:
        """Return the stored outputs of these steps."""
        missing = frozenset(names) - self._loaded.outputs.keys()
        if missing:
            raise NotLoaded(Wanted(run_id=self._run_id, steps_of=self._steps_of, outputs=missing))
        return {name: self._loaded.outputs[name] for name in names}

    def outputs(self, names: Collection[str]) -> dict[str, StepOutput]:
        """Return the outputs of these steps. In a rerun, outputs of kept steps whose runs may have been removed come
        from those carried along.

        A step without a run has no output; it may not be stored yet.
        """
        silent = {name for name in names if name in self._known and self._known[name].run_id is None}
        if silent:
            left = {name: StepOutput(self._known[name].result, None, NO_OUTPUT) for name in silent}
            return {**left, **self.outputs([name for name in names if name not in silent])}
        found = self.stored_outputs(names)
        if all(output.run_output != NO_OUTPUT for output in found.values()):
            return found
        return with_carried(found, self._carried())

    def jobs(self, names: Collection[JobId]) -> dict[JobId, JobSpec]:
        """Return the jobs that exist."""
        missing = frozenset(names) - self._loaded.jobs.keys()
        if missing:
            raise NotLoaded(Wanted(run_id=self._run_id, jobs=missing))
        return {name: spec for name in names if (spec := self._loaded.jobs[name]) is not None}

    def paused_jobs(self, names: Collection[JobId]) -> Collection[JobId]:
        """Return the jobs that are paused."""
        self.jobs(names)
        return self._loaded.paused_jobs.intersection(names)

    def paused(self, workflow_id: str) -> Collection[str]:
        if self._loaded.paused is None:
            raise NotLoaded(Wanted(run_id=self._run_id, paused_in=workflow_id))
        return self._loaded.paused

    def busy(self, names: Collection[JobId]) -> set[JobId]:
        missing = frozenset(names) - self._loaded.busy.keys()
        if missing:
            raise NotLoaded(Wanted(run_id=self._run_id, busy=missing))
        return {name for name in names if self._loaded.busy[name]}

    def _carried(self) -> CarriedOutputs:
        if not self._loaded.has_overrides:
            raise NotLoaded(Wanted(run_id=self._run_id, overrides=True))
        return carried_outputs(self._loaded.overrides)
