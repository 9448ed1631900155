"""What a gate asks, sees and has decided, in words."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

import msgspec

from foliot.domain.gate.decision import Decision
from foliot.domain.gate.spec import Gate, WindowKind
from foliot.domain.ids import RunId
from foliot.domain.instant import SECOND
from foliot.domain.job import Job
from foliot.interfaces.cli.table import Column, moment, span
from foliot.interfaces.cli.words import status
from foliot.service.services import Services
from foliot.service.views import RunView, as_json, view_run

VERDICT_COLUMNS: Final = (
    Column("DEPENDS ON", is_whole=True),
    Column("VERDICT", stays=True),
    Column("RUN", is_whole=True),
)
DEPENDENCY_COLUMNS: Final = (
    Column("DEPENDS ON", is_whole=True),
    Column("LATEST", stays=True),
    Column("ENDED"),
    Column("RUN", is_whole=True),
)
_WINDOWS: Final = {
    WindowKind.LAST_SUCCESS: "since its own last success",
    WindowKind.LOCAL_DAY: "on the same day",
}


class Dependencies(NamedTuple):
    """What a job depends on, each with its latest run."""

    gate: Gate
    latest: Mapping[str, RunView]

    @classmethod
    async def gather(cls, services: Services, job: Job) -> "Dependencies | None":
        gate = job.spec.gate
        if gate is None:
            return None
        runs = await services.storage.runs.latest(gate.depends_on)
        return cls(gate, {job_id: view_run(run) for job_id, run in runs.items()})

    def document(self) -> dict[str, Any]:
        latest = [
            {"job_id": name, "latest_run": as_json(self.latest[name]) if name in self.latest else None}
            for name in self.gate.depends_on
        ]
        return {**msgspec.to_builtins(self.gate), "depends_on": latest}

    @property
    def words(self) -> str:
        """What it asks: one line."""
        gate = self.gate
        window = _WINDOWS.get(gate.window_kind, f"in the last {span(gate.window / SECOND)}")
        zone = f" in {gate.timezone}" if gate.window_kind is WindowKind.LOCAL_DAY else ""
        waits = f", waits {span(gate.wait / SECOND)} for what is due or running" if gate.wait else ""
        rests = f", rests {span(gate.cooldown / SECOND)} after it declined" if gate.cooldown else ""
        return f"{window}{zone}; missing: {gate.on_missing}, failed: {gate.on_dep_fail}{waits}{rests}"

    def rows(self) -> Iterator[Sequence[object]]:
        for name in self.gate.depends_on:
            run = self.latest.get(name)
            yield (name, "-", "-", "-") if run is None else (name, status(run), moment(run.finished_at), run.id)


def waits_for_gate(run: RunView, gate: Gate) -> str:
    """What a run waits for whose gate has not decided, and for how long at most."""
    planned = run.due_at if run.root is not None or run.scheduled_for is None else run.scheduled_for
    until = f", until {moment(planned + timedelta(milliseconds=gate.wait))} at most" if gate.wait else ""
    return f"it is due at {moment(run.due_at)} and waits for its gate{until}: {', '.join(gate.depends_on[:10])}"


async def decision_of(services: Services, run_id: RunId) -> Decision | None:
    """What the gate of a run has decided; None without a gate, or before."""
    stored = await services.storage.runs.decisions([run_id])
    return msgspec.json.decode(stored[run_id], type=Decision) if run_id in stored else None


def decision_object(decision: Decision) -> dict[str, Any]:
    return {
        "action": decision.action,
        "reason": decision.reason,
        "explanation": decision.explanation,
        "verdicts": decision.verdicts,
        "deciders": decision.deciders,
    }


def verdict_rows(decision: Decision) -> Iterator[Sequence[object]]:
    for name, verdict in decision.verdicts.items():
        yield name, verdict, decision.deciders.get(name, "-")
