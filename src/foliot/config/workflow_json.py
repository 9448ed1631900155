"""A workflow as one JSON document: the keys of [[workflows]]. See `json_document`."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from foliot.config.document import Node, Problems
from foliot.config.environment import Variables
from foliot.config.json_document import SOURCE, Whole, default_policies, refused_values
from foliot.config.reading import Reading
from foliot.config.workflows import FileWorkflow, WorkflowReader, report_problems
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.defaults import NO_DEFAULTS, ScheduleDefaults
from foliot.domain.workflow.document import WorkflowDocument
from foliot.domain.workflow.jobs import PART_SOURCE, step_job_id
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import InvalidDocument, Severity


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
    root = Node(tree, Whole())
    problems = Problems()
    reading = Reading({}, problems, now, variables=Variables.PLAIN)
    workflow = WorkflowReader(default_policies(defaults), None, jobs, reading).read(root)
    assert workflow is not None, "an object is always read, even with errors"
    report_problems(workflow, jobs, reading, watchable=jobs.keys())
    for problem in refused_values(root):
        problems.error(*problem)
    if problems.has_errors or workflow.spec is None:
        raise InvalidDocument(workflow.id, [one for one in problems.sorted() if one.severity is Severity.ERROR])
    return _document(workflow, workflow.spec, problems)


def _document(workflow: FileWorkflow, spec: WorkflowSpec, problems: Problems) -> WorkflowDocument:
    return WorkflowDocument(
        id=workflow.id,
        spec=owned_workflow(spec),
        schedules={one.id: replace(one.spec, source=PART_SOURCE) for one in workflow.schedules},
        past=frozenset(one.id for one in workflow.schedules if one.is_past),
        warnings=tuple(one.in_one_line for one in problems.sorted()),
    )


def owned_workflow(spec: WorkflowSpec) -> WorkflowSpec:
    """Return the workflow with the owner of a deployed one, in which nothing is a variable of the environment."""
    steps = tuple(
        step
        if step.definition is None
        else replace(step, definition=replace(step.definition, source=SOURCE, written={}))
        for step in spec.steps
    )
    return replace(spec, steps=steps, source=SOURCE)
