"""The page of a workflow, drawn and as a JSON document."""

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from foliot.config.workflow_writing import public_workflow, write_workflow
from foliot.domain.secrets import public_document
from foliot.domain.workflow.drawing import drawing_of, edge_words
from foliot.domain.workflow.spec import Edge, Step
from foliot.errors import InvalidWorkflow
from foliot.interfaces.cli.graph.canvas import Pen, Piece
from foliot.interfaces.cli.graph.outline import outline
from foliot.interfaces.cli.graph.picture import Caption, draw
from foliot.interfaces.cli.render.execution import execution_document, step_states, step_waits
from foliot.interfaces.cli.render.explanation import words
from foliot.interfaces.cli.speaking import say, tell
from foliot.interfaces.cli.table import Column, console, is_terminal, print_fields, print_table, style_of
from foliot.interfaces.cli.words import json_line
from foliot.service.queries.workflows import WorkflowPage

_PIPE_WIDTH: Final = 120
_WAITS: Final = (Column("WAITS", is_whole=True), Column("WHY", stays=True))
_NO_STATES: Final[Mapping[str, str]] = {}


def title_of(page: WorkflowPage) -> str:
    return f"{page.id} version {page.version}"


def states_of(page: WorkflowPage) -> Mapping[str, str]:
    return _NO_STATES if page.execution is None else step_states(page.execution)


def workflow_document(page: WorkflowPage) -> dict[str, Any]:
    spec = page.spec
    layers = {name: number for number, layer in enumerate(drawing_of(spec.steps).layers, start=1) for name in layer}
    return {
        "type": "workflow",
        "id": page.id,
        "version": page.version,
        "description": spec.description,
        "params": public_document(spec.params),
        "steps": [_step_object(step, layers[step.name], step.name in page.paused) for step in spec.steps],
        "execution": None if page.execution is None else execution_document(page.execution),
        "document": _definition(page),
    }


def _definition(page: WorkflowPage) -> dict[str, Any] | None:
    """The document that the workflow can be deployed from; None if a step is a function, which no document can name."""
    try:
        return public_workflow(write_workflow(page.id, page.spec.as_written, page.schedules))
    except InvalidWorkflow:
        return None


def print_workflow(page: WorkflowPage) -> None:
    spec, shown, latest = page.spec, page.execution, page.latest_run
    given = None if shown is None or shown.execution.params == spec.params else shown.execution.params
    print_fields(
        [
            ("workflow", title_of(page)),
            ("description", spec.description or None),
            ("params", json_line(public_document(spec.params)) if spec.params else None),
            ("execution", None if shown is None else f"{shown.execution.id} {shown.execution.status}"),
            ("given", None if given is None else json_line(public_document(given))),
            ("why", None if shown is None else words(shown.why)),
        ]
    )
    tell()
    _print_graph(page)
    if shown is not None and shown.waits:
        tell()
        print_table(_WAITS, step_waits(shown).items())
    if shown is None and latest is not None:
        say(f"the newest execution, {latest.id}, is not in the picture: see foliot show {latest.id}")


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
    captions = {step.name: _caption(page, step) for step in page.spec.steps}
    width = shutil.get_terminal_size().columns if is_terminal() else _PIPE_WIDTH
    drawing = drawing_of(page.spec.steps)
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
    state = states_of(page).get(step.name, "")
    return Caption([title, state] if state else [title], style_of(state))


def _print_rich(lines: Iterable[Sequence[Piece]]) -> None:
    from rich.text import Text

    printer = console()
    for line in lines:
        printer.print(Text.assemble(*((piece.text, piece.style) for piece in line)), soft_wrap=True)
