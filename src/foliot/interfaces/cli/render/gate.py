"""The conditions of a gate and its decision, as text and as JSON documents."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from foliot.domain.gate.decision import Decision
from foliot.domain.gate.spec import Gate, WindowKind
from foliot.domain.instant import SECOND
from foliot.interfaces.cli.render.format import moment, span, status
from foliot.interfaces.cli.render.table import Column
from foliot.service.queries.documents import as_json
from foliot.service.queries.run_view import RunView

VERDICT_COLUMNS: Final = (
    Column("DEPENDS ON", is_whole=True),
    Column("COUNTS AS", stays=True),
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


def gate_document(gate: Gate, latest: Mapping[str, RunView]) -> dict[str, Any]:
    """Return the gate with the latest run of each job that it depends on."""
    depends_on = [
        {"job_id": name, "latest_run": as_json(latest[name]) if name in latest else None} for name in gate.depends_on
    ]
    return {**msgspec.to_builtins(gate), "depends_on": depends_on}


def gate_text(gate: Gate) -> str:
    """Return the conditions of the gate in one line."""
    window = _WINDOWS.get(gate.window_kind, f"in the last {span(gate.window / SECOND)}")
    zone = f" in {gate.timezone}" if gate.window_kind is WindowKind.LOCAL_DAY else ""
    wait = f", waits up to {span(gate.wait / SECOND)} for due and running runs" if gate.wait else ""
    cooldown = f", cooldown {span(gate.cooldown / SECOND)} after it declined" if gate.cooldown else ""
    return f"{window}{zone}; missing: {gate.on_missing}, failed: {gate.on_dep_fail}{wait}{cooldown}"


def dependency_rows(gate: Gate, latest: Mapping[str, RunView]) -> Iterator[Sequence[object]]:
    for name in gate.depends_on:
        run = latest.get(name)
        yield (name, "-", "-", "-") if run is None else (name, status(run), moment(run.finished_at), run.id)


def decision_document(decision: Decision) -> dict[str, Any]:
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
