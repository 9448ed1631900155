"""All there is to say about one workflow: gathered, as one document, and drawn."""

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from foliot.config.workflow_writing import public_workflow, write_workflow
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.run import Run
from foliot.domain.schedule import ScheduleSpec
from foliot.domain.secrets import public_document
from foliot.domain.workflow.drawing import Drawing, drawing_of, edge_words
from foliot.domain.workflow.spec import Edge, Step
from foliot.errors import InvalidInput, InvalidWorkflow
from foliot.interfaces.cli.execution_words import Told
from foliot.interfaces.cli.graph.canvas import Pen, Piece
from foliot.interfaces.cli.graph.outline import outline
from foliot.interfaces.cli.graph.picture import Caption, draw
from foliot.interfaces.cli.speaking import say, tell
from foliot.interfaces.cli.table import Column, console, is_terminal, print_fields, print_table, style_of
from foliot.interfaces.cli.words import json_line
from foliot.interfaces.cli.workflows.finding import find_execution, find_workflow
from foliot.ports.executions import WorkflowVersion
from foliot.service.services import Services

_PIPE_WIDTH: Final = 120
_WAITS: Final = (Column("WAITS", is_whole=True), Column("WHY", stays=True))
_NO_STATES: Final[Mapping[str, str]] = {}


class WorkflowPage(NamedTuple):
    """A version of a workflow, with an execution of it where there is one to show."""

    workflow: WorkflowVersion
    told: Told | None
    paused: frozenset[str]
    latest: Run | None
    """The newest run of the workflow, whether it is shown or not."""
    schedules: Mapping[ScheduleId, ScheduleSpec]
    """Those that were defined with it."""

    @classmethod
    async def gather(
        cls, services: Services, name: str, version: int | None = None, execution: str | None = None
    ) -> "WorkflowPage":
        """Of that version, or of the newest; with the execution that is named, or else the newest."""
        newest = await find_workflow(services, name)
        told = None if execution is None else await _execution(services, execution, name, version)
        latest = (await services.storage.runs.latest([JobId(name)])).get(JobId(name))
        chosen = told.view.version if told is not None else version
        workflow = newest if chosen is None else await find_workflow(services, name, chosen)
        if told is None and latest is not None:
            told = await Told.gather(services, latest.id)
        if told is not None and told.view.version != workflow.version:
            told = None
        paused = frozenset(await services.storage.workflows.paused_steps(name))
        return cls(workflow, told, paused, latest, await services.workflows.own_schedules(name))

    @property
    def drawing(self) -> Drawing:
        return drawing_of(self.workflow.spec.steps)

    @property
    def title(self) -> str:
        return f"{self.workflow.workflow_id} version {self.workflow.version}"

    @property
    def states(self) -> Mapping[str, str]:
        return _NO_STATES if self.told is None else self.told.states

    def document(self) -> dict[str, Any]:
        workflow_id, version, spec, _ = self.workflow
        layers = {name: number for number, layer in enumerate(self.drawing.layers, start=1) for name in layer}
        return {
            "type": "workflow",
            "id": workflow_id,
            "version": version,
            "description": spec.description,
            "params": public_document(spec.params),
            "steps": [_step_object(step, layers[step.name], step.name in self.paused) for step in spec.steps],
            "execution": None if self.told is None else self.told.document(),
            "document": self._definition(),
        }

    def _definition(self) -> dict[str, Any] | None:
        """The document that the workflow can be deployed from; None where a function is a step, which none can say."""
        try:
            spec = self.workflow.spec.as_written
            return public_workflow(write_workflow(self.workflow.workflow_id, spec, self.schedules))
        except InvalidWorkflow:
            return None

    def print(self) -> None:
        spec, told, latest = self.workflow.spec, self.told, self.latest
        given = None if told is None or told.view.params == spec.params else told.view.params
        print_fields(
            [
                ("workflow", self.title),
                ("description", spec.description or None),
                ("params", json_line(public_document(spec.params)) if spec.params else None),
                ("execution", None if told is None else f"{told.view.id} {told.view.status}"),
                ("given", None if given is None else json_line(public_document(given))),
                ("why", None if told is None else told.why()),
            ]
        )
        tell()
        _print_graph(self)
        if told is not None and told.waits:
            tell()
            print_table(_WAITS, told.waits.items())
        if told is None and latest is not None:
            say(f"the newest execution, {latest.id}, is not in the picture: see foliot show {latest.id}")


async def _execution(services: Services, text: str, workflow_id: str, version: int | None) -> Told:
    run = await find_execution(services, text)
    told = await Told.gather(services, run.id)
    assert told is not None
    view = told.view
    if view.workflow_id != workflow_id:
        raise InvalidInput(
            f'run {view.id} is an execution of "{view.workflow_id}"',
            hint=f"Write: foliot workflows show {view.workflow_id} --execution {view.id}",
        )
    if version not in (None, view.version):
        raise InvalidInput(
            f"execution {view.id} went through version {view.version}, not {version}", hint="Leave --version out."
        )
    return told


def _step_object(step: Step, layer: int, is_paused: bool) -> dict[str, Any]:
    return {
        "name": step.name,
        "layer": layer,
        "kind": "approval" if step.approval else "job" if step.definition is None else step.definition.kind,
        "job": step.job,
        "is_final": step.is_final,
        "is_paused": is_paused,
        "after": [_edge_object(edge) for edge in step.after],
    }


def _edge_object(edge: Edge) -> dict[str, Any]:
    test = None if edge.test is None else msgspec.to_builtins(edge.test)
    return {"step": edge.parent, "when": sorted(edge.when), "test": test, "words": edge_words(edge) or "success"}


def _print_graph(page: WorkflowPage) -> None:
    captions = {step.name: _caption(page, step) for step in page.workflow.spec.steps}
    width = shutil.get_terminal_size().columns if is_terminal() else _PIPE_WIDTH
    drawing = page.drawing
    lines = draw(drawing, captions, Pen.for_encoding(sys.stdout.encoding), width) or outline(drawing, captions)
    if is_terminal():
        _print_rich(lines)
        return
    for line in lines:
        tell("".join(piece.text for piece in line))


def _caption(page: WorkflowPage, step: Step) -> Caption:
    marks = [
        word
        for word, is_so in (
            ("approval", step.approval is not None),
            ("final", step.is_final),
            ("paused", step.name in page.paused),
        )
        if is_so
    ]
    title = f"{step.name} ({', '.join(marks)})" if marks else step.name
    state = page.states.get(step.name, "")
    return Caption([title, state] if state else [title], style_of(state))


def _print_rich(lines: Iterable[Sequence[Piece]]) -> None:
    from rich.text import Text

    printer = console()
    for line in lines:
        printer.print(Text.assemble(*((piece.text, piece.style) for piece in line)), soft_wrap=True)
