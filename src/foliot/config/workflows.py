"""[[workflows]]: from what was read to workflows of the domain."""

import re
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from foliot.config.document import Node
from foliot.config.jobs import read_id, read_options, warn_of_unserved_queue
from foliot.config.reading import Fields, Reading
from foliot.config.schedules import NamedSchedule, distinct, workflow_schedules
from foliot.config.steps import Around, FileStep, StepReader
from foliot.domain.deploy.deployment import FILE
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.vocabulary.places import WORKFLOW
from foliot.domain.vocabulary.workflow import EXECUTION, WORKFLOW_DEFAULTS
from foliot.domain.workflow.check import check_workflow, warnings_about
from foliot.domain.workflow.jobs import step_job_id
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.domain.workflow.start import read_params
from foliot.errors import InvalidInput, InvalidWorkflow, Place

_ABOUT_STEP: Final = re.compile(r'(?:final )?step "(?P<step>[^"]*)"(?P<after> comes after| has no condition)?')


class FileWorkflow(NamedTuple):
    """A workflow of a file. `spec` is None if its steps could not be read."""

    id: JobId
    spec: WorkflowSpec | None
    schedules: tuple[NamedSchedule, ...]
    fields: Fields
    place: Place
    steps: tuple[FileStep, ...]

    @property
    def jobs(self) -> dict[JobId, Place]:
        """The job names of its steps that are jobs of their own."""
        return {step_job_id(self.id, step.name): place for step, place, *_ in self.steps if step.definition is not None}


class WorkflowReader:
    """Reads workflows, one by one. `jobs` are those of the file."""

    def __init__(
        self, defaults: Fields, queues: Collection[str] | None, jobs: Mapping[JobId, JobSpec], reading: Reading
    ) -> None:
        self._defaults = Fields({name: found for name, found in defaults.items() if name in WORKFLOW_DEFAULTS})
        self._queues = queues
        self._steps = StepReader(defaults, queues, jobs, reading)
        self._reading = reading

    def read(self, node: Node) -> FileWorkflow | None:
        """Return a workflow as far as it can be read, and report the problems of its keys."""
        own = self._reading.table(node, WORKFLOW)
        if not isinstance(node.value, dict):
            return None
        workflow_id = read_id(own, node, "workflow", "etl", self._reading)
        fields = Fields(self._defaults | own)
        schedules = tuple(distinct(workflow_schedules(workflow_id, fields, self._reading), self._reading))
        steps = self._read_steps(own, Around(workflow_id, fields.get("timezone")))
        spec = None if steps is None else self._spec(fields, steps)
        if spec is not None:
            self._check_payloads(spec, schedules)
        return FileWorkflow(workflow_id, spec, schedules, fields, node.place, steps or ())

    def _read_steps(self, own: Fields, around: Around) -> tuple[FileStep, ...] | None:
        if "steps" not in own:
            return ()
        found = own["steps"]
        if not isinstance(found.value, list):
            self._reading.problems.error(found.place, "steps must be a list of tables", "Write [[workflows.steps]].")
            return None
        read = [self._steps.read(node, around) for node in found.node.children()]
        return None if None in read else tuple(step for step in read if step is not None)

    def _spec(self, fields: Fields, steps: tuple[FileStep, ...]) -> WorkflowSpec:
        options = read_options(fields, self._reading, options=EXECUTION)
        warn_of_unserved_queue(fields, options, self._queues, self._reading)
        return WorkflowSpec(
            steps=tuple(step.step for step in steps),
            description=fields.value("description", ""),
            owner=fields.value("owner", ""),
            tags=tuple(fields.value("tags", ())),
            params=fields.value("params", {}),
            options=options,
            partial_counts_as=fields.value("partial_counts_as", "success"),
            final_on_cancel=fields.value("final_on_cancel", False),
            enabled=fields.value("enabled", True),
            source=FILE,
        )

    def _check_payloads(self, spec: WorkflowSpec, schedules: tuple[NamedSchedule, ...]) -> None:
        """Report keys in payloads of schedules that are not parameters of the workflow."""
        for schedule in schedules:
            try:
                read_params(spec, schedule.spec.payload)
            except InvalidInput as error:
                self._reading.refuse(schedule.place, error, f'schedule "{schedule.id[:64]}": ')


def report_problems(
    workflow: FileWorkflow,
    jobs: Mapping[JobId, JobSpec],
    reading: Reading,
    watchable: Collection[JobId] | None = None,
) -> None:
    """Report the problems of a workflow as a whole, each at its step; see `check_workflow`."""
    if workflow.spec is None:
        return
    try:
        check_workflow(workflow.id, workflow.spec, jobs, watchable=watchable)
    except InvalidWorkflow as error:
        for problem in error.problems:
            reading.problems.error(_place_of(problem.message, workflow), problem.message, problem.hint)
    for doubt in warnings_about(workflow.spec, jobs):
        reading.problems.warning(_place_of(doubt.message, workflow), doubt.message, doubt.hint)


def _place_of(message: str, workflow: FileWorkflow) -> Place:
    """Return where the step is written that a message begins with; the workflow for any other message."""
    about = _ABOUT_STEP.match(message)
    if about is not None:
        for written in workflow.steps[::-1]:
            if about["step"] in (written.step.name, written.step.name[:64]):
                return written.after if about["after"] else written.place
    return workflow.place
