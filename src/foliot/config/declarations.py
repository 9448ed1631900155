"""Checks the jobs and workflows of all files together: each name is defined once, and every used name exists."""

from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from foliot.config.chains import ChainReader, stage_nodes
from foliot.config.document import Node
from foliot.config.jobs import FileJob, JobReader, dependency_nodes, gate_cycles
from foliot.config.reading import Fields, Found, Reading
from foliot.config.schedules import NamedSchedule
from foliot.config.steps import UNREADABLE
from foliot.config.workflows import FileWorkflow, WorkflowReader, report_problems
from foliot.domain.chain.spec import CHAIN, Ceilings
from foliot.domain.deploy.deployment import FILE, Declared
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.workflow.graph import MOST_CYCLES, find_cycles
from foliot.domain.workflow.jobs import GRAPH, step_job_id
from foliot.domain.workflow.recursion import jobs_started_by, jobs_started_by_job, recursion_in
from foliot.errors import Place, suggest


class Sources(NamedTuple):
    """The tables to be read, and what applies to all of them."""

    jobs: Iterable[Node]
    workflows: Iterable[Node]
    chains: Iterable[Node]
    ceilings: Ceilings
    defaults: Fields
    queues: tuple[str, ...] | None
    """Those that this server works on; None if it has no worker."""
    stored: Mapping[JobId, JobSpec] | None = None
    """The stored jobs that are named. None: not known, so that a missing job may be stored."""


class Declarations(NamedTuple):
    """Everything that the files define, as far as it could be read."""

    jobs: list[FileJob]
    workflows: list[FileWorkflow]

    @property
    def specs(self) -> dict[JobId, JobSpec]:
        return {job.id: job.spec for job in self.jobs if job.spec is not None}

    @property
    def schedules(self) -> list[NamedSchedule]:
        of_jobs = [schedule for job in self.jobs for schedule in job.schedules]
        return of_jobs + [schedule for workflow in self.workflows for schedule in workflow.schedules]

    @property
    def steps(self) -> Iterator[tuple[JobId, Place]]:
        """The names under which steps run."""
        for workflow in self.workflows:
            yield from workflow.jobs.items()


def read_declared(sources: Sources, reading: Reading) -> Declared:
    """Return what the files declare. It is complete only if no error was found."""
    found = read_declarations(sources, reading)
    schedules = found.schedules
    return Declared(
        jobs=found.specs,
        workflows={workflow.id: workflow.spec for workflow in found.workflows if workflow.spec is not None},
        schedules={schedule.id: schedule.spec for schedule in schedules},
        renames=_renames(found, reading),
        past=frozenset(schedule.id for schedule in schedules if schedule.is_past),
        source=FILE,
    )


def read_declarations(sources: Sources, reading: Reading) -> Declarations:
    """Return the jobs and workflows with where they are written, and report the problems in all of them."""
    found = _read(sources, reading)
    _refuse_duplicate_names(found, reading)
    _check_gates(found, sources.stored, reading)
    _check_steps(found, sources.stored or {}, reading)
    _check_stages(found, sources.stored, reading)
    _check_recursion(found, reading)
    return found


def _read(sources: Sources, reading: Reading) -> Declarations:
    reader = JobReader(sources.defaults, sources.queues, reading)
    reader.check_defaults()
    jobs = [job for job in map(reader.read, sources.jobs) if job is not None]
    chains = ChainReader(sources.ceilings, sources.queues, reading)
    jobs += [chain for chain in map(chains.read, sources.chains) if chain is not None]
    known = {**(sources.stored or {}), **Declarations(jobs, []).specs}
    workflows = WorkflowReader(sources.defaults, sources.queues, known, reading)
    return Declarations(jobs, [workflow for workflow in map(workflows.read, sources.workflows) if workflow is not None])


def _refuse_duplicate_names(found: Declarations, reading: Reading) -> None:
    """Refuse duplicate names: jobs, workflows and steps share one namespace."""
    ids = [*(one.id for one in found.jobs), *(one.id for one in found.workflows), *(name for name, _ in found.steps)]
    if len(set(ids)) == len(ids):
        return  # finding the lines of all names is slow
    first: dict[JobId, tuple[str, Place]] = {}
    for what, name, place in _names(found):
        other, there = first.setdefault(name, (what, place))
        if there is place:
            continue
        hint = f"It is defined first at {there}. Give one of them another id."
        twice = f'{what} "{name[:64]}" is defined twice'
        message = twice if other == what else f'"{name[:64]}" is the name of a {other} already'
        reading.problems.error(place, message, hint)


def _names(found: Declarations) -> Iterator[tuple[str, JobId, Place]]:
    for what, ones in (("job", found.jobs), ("workflow", found.workflows)):
        yield from ((what, one.id, one.fields["id"].place) for one in ones if "id" in one.fields)
    yield from (("step", name, place) for name, place in found.steps)


def _check_gates(found: Declarations, stored: Collection[JobId] | None, reading: Reading) -> None:
    gates = {job.id: (job.spec.gate, job.fields["depends_on"]) for job in found.jobs if job.spec and job.spec.gate}
    needs = [
        (job_id, name, node)
        for job_id, (gate, written) in (*gates.items(), *_gates_of_steps(found))
        for name, node in dependency_nodes(gate, written)
    ]
    _check_needs(needs, found, stored, reading)
    for cycle in gate_cycles({job_id: gate for job_id, (gate, _) in gates.items()}):
        hint = 'None of them begins, unless one has on_missing = "run" or is triggered another way.'
        place = gates[JobId(cycle[0])][1].place
        reading.problems.warning(place, f"these jobs depend on each other: {' -> '.join(cycle)}", hint)


def _check_needs(
    needs: Iterable[tuple[JobId, JobId, Node]],
    found: Declarations,
    stored: Collection[JobId] | None,
    reading: Reading,
) -> None:
    """Report jobs that a job needs and that do not exist. `needs`: the job, the needed job, where that is written."""
    names = {
        *(stored or ()),
        *found.specs,
        *(workflow.id for workflow in found.workflows),
        *(name for name, _ in found.steps),
    }
    unread = {job.id for job in found.jobs if job.spec is None}
    for job_id, name, node in needs:
        if name not in names and name not in unread:
            _report_missing(name, names - {job_id}, node.place, reading, may_be_stored=stored is None)


def _gates_of_steps(found: Declarations) -> Iterator[tuple[JobId, tuple[Gate, Found]]]:
    for workflow in found.workflows:
        for step, _, _, written in workflow.steps:
            if written is not None and step.definition is not None and step.definition.gate is not None:
                yield step_job_id(workflow.id, step.name), (step.definition.gate, written)


def _report_missing(name: str, known: Collection[str], place: Place, reading: Reading, *, may_be_stored: bool) -> None:
    """Report a job that is not in these files: an error if another job has a similar name, else a warning, because it
    may be stored by an application or a person. Applying the file checks that."""
    near = suggest(name, known)
    if near or not may_be_stored:
        hint = near or "Name a job of this text, or one that is stored."
        reading.problems.error(place, f"job {name[:64]!a} does not exist", hint)
    else:
        hint = "If an application or the API creates it: create it before you apply this file. Else define it."
        reading.problems.warning(place, f"job {name[:64]!a} is not in these files", hint)


def _check_steps(found: Declarations, stored: Mapping[JobId, JobSpec], reading: Reading) -> None:
    """Report the problems of each workflow as a whole, and steps that name what cannot be a step."""
    substitutes = {job.id: UNREADABLE for job in found.jobs if job.spec is None}
    substitutes |= {workflow.id: _as_job(workflow) for workflow in found.workflows}
    taken = {name for name, _ in found.steps} | {workflow.id for workflow in found.workflows}
    # A name that is used twice, or a job that cannot be read, has been reported already.
    declared = {name: spec for name, spec in found.specs.items() if name not in taken}
    others = {**stored, **declared}
    for workflow in found.workflows:
        named = {step.step.job for step in workflow.steps if step.step.job is not None}
        near = {name: substitutes[name] for name in named & substitutes.keys()}
        report_problems(workflow, ChainMap(near, others), reading)


def _check_stages(found: Declarations, stored: Collection[JobId] | None, reading: Reading) -> None:
    """Report jobs that the stages of chains name and that do not exist."""
    needs = [
        (job.id, JobId(stage.value["job"]), stage.child("job"))
        for job in _chains(found)
        for stage in stage_nodes(job.fields)
        if "job" in stage.value
    ]
    _check_needs(needs, found, stored, reading)


def _chains(found: Declarations) -> list[FileJob]:
    return [job for job in found.jobs if job.spec is not None and job.spec.kind == CHAIN]


def _as_job(workflow: FileWorkflow) -> JobSpec:
    """Return a workflow as a step sees it: its kind and its parameters."""
    return JobSpec(kind=GRAPH, payload_template=None if workflow.spec is None else workflow.spec.params)


def _check_recursion(found: Declarations, reading: Reading) -> None:
    """Report workflows and chains that would start themselves, through steps and fanouts of these files."""
    started = {workflow.id: jobs_started_by(workflow.spec) for workflow in found.workflows if workflow.spec is not None}
    started |= {job_id: jobs_started_by_job(spec) for job_id, spec in found.specs.items() if job_id not in started}
    problems = recursion_in(started)
    for workflow in found.workflows:
        if workflow.id in problems:
            problem = problems[workflow.id]
            reading.problems.error(workflow.place, problem.message, problem.hint)
    for chain in _chains(found):
        if chain.id in started[chain.id]:
            place = chain.fields["id"].place
            reading.problems.error(place, "a stage of a chain cannot run the chain itself", "Name another job.")
        elif chain.id in problems:
            problem = problems[chain.id]
            reading.problems.error(chain.fields["id"].place, problem.message, problem.hint)


def _renames(found: Declarations, reading: Reading) -> dict[JobId, JobId]:
    """Return former id -> id."""
    renames: dict[JobId, JobId] = {}
    taken: dict[JobId, str] = {}
    places: dict[str, Place] = {}
    those: list[tuple[str, FileJob | FileWorkflow]] = [("job", job) for job in found.jobs]
    those += [("workflow", workflow) for workflow in found.workflows]
    for what, one in those:
        former = one.fields.get("renamed_from")
        if former is None:
            continue
        if former.value == one.id:
            hint = "Name its former id, or leave it out."
            reading.problems.error(former.place, f"renamed_from names the {what} itself", hint)
        elif former.value in renames:
            message = f'{taken[former.value]} is renamed from "{former.value[:64]}" already'
            reading.problems.error(former.place, message, "Use a former id in one place only.")
        else:
            renames[JobId(former.value)] = one.id
            taken[JobId(former.value)] = f'{what} "{one.id}"'
            places[one.id] = former.place
    _refuse_swaps(renames, places, reading)
    return renames


def _refuse_swaps(renames: Mapping[JobId, JobId], places: Mapping[str, Place], reading: Reading) -> None:
    """Refuse swapped ids. After the swap the set of ids is the same as before, so applying the file again would swap
    them back."""
    for cycle in islice(find_cycles({new: [old] for old, new in renames.items()}), MOST_CYCLES):
        hint = "Give one of them a third id first, apply the file, and then give it the id that it is to have."
        message = f"these ids cannot change places at once: {' -> '.join(cycle)}"
        reading.problems.error(places[cycle[0]], message, hint)
