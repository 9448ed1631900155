"""A workflow as one JSON document: the keys of [[workflows]], read by the same readers.

A problem has a JSON path in place of a line. A document may come from another machine, so `${NAME}` in it is plain
text: the right to deploy a workflow does not include reading the variables of the server.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from foliot.config.document import Node, Problems
from foliot.config.positions import KeyPath
from foliot.config.reading import Fields, Found, Reading
from foliot.config.workflows import FileWorkflow, WorkflowReader, report_problems
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.job.job import JobSpec
from foliot.domain.run.payload import MAX_LEVELS, check_depth
from foliot.domain.schedule.defaults import NO_DEFAULTS, ScheduleDefaults
from foliot.domain.secrets import HIDDEN, is_hidden
from foliot.domain.workflow.document import WorkflowDocument
from foliot.domain.workflow.jobs import PART_SOURCE, step_job_id
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import InvalidDocument, InvalidInput, Place, Severity, shortened

MAX_BYTES: Final = 16 << 20
_SOURCE: Final = "api"
_FILE_ONLY: Final = ("renamed_from",)
"""Keys that have a meaning only in a file, which declares everything each time."""


class _Whole(NamedTuple):
    """The document that values are read from."""

    directory: Path = Path()

    def place(self, path: KeyPath) -> Place:
        return Place("", key=json_path(path))


def json_path(path: KeyPath) -> str:
    """`$.steps[0].after`, counted from 0 as JSON path does."""
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else _member(part) for part in path)


def _member(name: str) -> str:
    is_plain = name.isascii() and name.isidentifier()
    return f".{shortened(name)}" if is_plain else f"[{msgspec.json.encode(name[:64]).decode()}]"


def open_document(document: Mapping[str, Any] | str | bytes) -> dict[str, Any]:
    """Return the JSON object of a document."""
    try:
        text = document.encode() if isinstance(document, str) else document
        content = text if isinstance(text, bytes) else msgspec.json.encode(text)
        if len(content) > MAX_BYTES:
            raise _no_document(f"the document has more than {MAX_BYTES} bytes", "Use fewer or smaller steps.")
        tree = msgspec.json.decode(content)
        check_depth(tree)
    except RecursionError:
        raise _no_document("lists or objects are nested too deeply", f"Use at most {MAX_LEVELS} levels.") from None
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError) as error:
        raise _no_document(
            f"the document is not JSON: {shortened(str(error))}", "Give a JSON object, or a mapping."
        ) from None
    if not isinstance(tree, dict):
        raise _no_document("the document must be an object", 'Write {"id": "etl", "steps": [...]}.')
    return tree


def _no_document(message: str, hint: str) -> InvalidInput:
    return InvalidInput(message, hint=hint, field="document")


def names_in(tree: Mapping[str, Any]) -> set[JobId]:
    """Return the jobs that a document may need, as far as they can be found before it is read."""
    steps = [step for step in _list(tree.get("steps")) if isinstance(step, dict)]
    names = [tree.get("id"), *(step.get("job") for step in steps)]
    names += [name for step in steps for name in _list(step.get("depends_on"))]
    names += [step_job_id(str(tree.get("id")), str(step.get("name"))) for step in steps]
    return {JobId(name) for name in names if isinstance(name, str)}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def read_workflow(
    tree: Mapping[str, Any],
    jobs: Mapping[JobId, JobSpec],
    now: Instant,
    defaults: ScheduleDefaults = NO_DEFAULTS,
) -> WorkflowDocument:
    """Return the workflow of a document. InvalidDocument has all its problems. `jobs` are those that exist."""
    root = Node(tree, _Whole())
    problems = Problems()
    reading = Reading({}, problems, now, expands=False)
    # A problem with a default has the path that the option would have in the document.
    table = Node(defaults.options, _Whole())
    policies = Fields({name: Found(value, table, name) for name, value in defaults.options.items()})
    workflow = WorkflowReader(policies, None, jobs, reading).read(root)
    assert workflow is not None, "an object is always read, even with errors"
    report_problems(workflow, jobs, reading, watchable=jobs.keys())
    for problem in (*_misplaced(root), *_hidden(root)):
        problems.error(*problem)
    if problems.has_errors or workflow.spec is None:
        raise InvalidDocument(workflow.id, [one for one in problems.sorted() if one.severity is Severity.ERROR])
    return _document(workflow, workflow.spec, problems)


def _misplaced(root: Node) -> Iterator[tuple[Place, str, str]]:
    for name in _FILE_ONLY:
        if name in root.value:
            yield root.child(name).place, f"{name} belongs into a file", "Deploy it under the id that it has."


def _hidden(node: Node) -> Iterator[tuple[Place, str, str]]:
    """Yield values that a listing has hidden: the stars would be deployed in place of the secret."""
    if isinstance(node.value, dict | list):
        for child in node.children():
            yield from _hidden(child)
    elif is_hidden(str(node.path[-1]), node.value):
        yield node.place, "this value was hidden", f"Give the value itself in place of {HIDDEN}."


def _document(workflow: FileWorkflow, spec: WorkflowSpec, problems: Problems) -> WorkflowDocument:
    return WorkflowDocument(
        id=workflow.id,
        spec=_owned(spec),
        schedules={one.id: replace(one.spec, source=PART_SOURCE) for one in workflow.schedules},
        past=frozenset(one.id for one in workflow.schedules if one.is_past),
        warnings=tuple(one.in_one_line for one in problems.sorted()),
    )


def _owned(spec: WorkflowSpec) -> WorkflowSpec:
    """Return the workflow with the owner of a deployed one."""
    steps = tuple(
        step if step.definition is None else replace(step, definition=replace(step.definition, source=_SOURCE))
        for step in spec.steps
    )
    return replace(spec, steps=steps, source=_SOURCE)
