"""The page of a workflow, as a picture and as a JSON document."""

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from foliot.interfaces.cli.output import print_line, print_note
from foliot.interfaces.cli.render.execution import execution_document, step_states, step_waits
from foliot.interfaces.cli.render.explanation import explain
from foliot.interfaces.cli.render.format import json_line
from foliot.interfaces.cli.render.graph.canvas import Pen, Piece
from foliot.interfaces.cli.render.graph.outline import outline
from foliot.interfaces.cli.render.graph.picture import Caption, draw
from foliot.interfaces.cli.render.table import Column, console, is_terminal, print_fields, print_table, style_of
from foliot.service.queries.workflows import WorkflowPage, WorkflowStepView

_PIPE_WIDTH: Final = 120
_WAITS: Final = (Column("WAITING", is_whole=True), Column("WHY", stays=True))
_NO_STATES: Final[Mapping[str, str]] = {}


def title_of(page: WorkflowPage) -> str:
    return f"{page.id} version {page.version}"


def states_of(page: WorkflowPage) -> Mapping[str, str]:
    return _NO_STATES if page.execution is None else step_states(page.execution)


def workflow_document(page: WorkflowPage) -> dict[str, Any]:
    return {
        "type": "workflow",
        "id": page.id,
        "version": page.version,
        "description": page.description,
        "params": page.params,
        "steps": [msgspec.to_builtins(step) for step in page.steps],
        "execution": None if page.execution is None else execution_document(page.execution),
        "document": page.document,
    }


def print_workflow(page: WorkflowPage) -> None:
    shown, latest = page.execution, page.latest_run
    print_fields(
        [
            ("workflow", title_of(page)),
            ("description", page.description or None),
            ("params", json_line(page.params) if page.params else None),
            ("execution", None if shown is None else f"{shown.execution.id} {shown.execution.status}"),
            ("given", None if page.given is None else json_line(page.given)),
            ("why", None if shown is None else explain(shown.why)),
        ]
    )
    print_line()
    _print_graph(page)
    if shown is not None and shown.waits:
        print_line()
        print_table(_WAITS, step_waits(shown).items())
    if shown is None and latest is not None:
        print_note(f"the newest execution, {latest.id}, is not shown here; see: foliot show {latest.id}")


def _print_graph(page: WorkflowPage) -> None:
    states, drawing = states_of(page), page.drawing
    captions = {step.name: _caption(step, states.get(step.name, "")) for step in page.steps}
    width = shutil.get_terminal_size().columns if is_terminal() else _PIPE_WIDTH
    lines = draw(drawing, captions, Pen.for_encoding(sys.stdout.encoding), width) or outline(drawing, captions)
    if is_terminal():
        _print_rich(lines)
        return
    for line in lines:
        print_line("".join(piece.text for piece in line))


def _caption(step: WorkflowStepView, state: str) -> Caption:
    marks = [
        word
        for word, is_so in (
            ("approval", step.kind == "approval"),
            ("final", step.is_final),
            ("recovers", step.recovers),
            ("paused", step.is_paused),
        )
        if is_so
    ]
    title = f"{step.name} ({', '.join(marks)})" if marks else step.name
    return Caption([title, state] if state else [title], style_of(state))


def _print_rich(lines: Iterable[Sequence[Piece]]) -> None:
    from rich.text import Text

    printer = console()
    for line in lines:
        printer.print(Text.assemble(*((piece.text, piece.style) for piece in line)), soft_wrap=True)
