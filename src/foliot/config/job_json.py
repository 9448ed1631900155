"""A job as one JSON document: the keys of [[jobs]]. See `json_document`."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from foliot.config.document import Node, Problems
from foliot.config.environment import Variables
from foliot.config.jobs import FileJob, JobReader
from foliot.config.json_document import SOURCE, Whole, default_policies, refused_values
from foliot.config.reading import Reading
from foliot.domain.instant import Instant
from foliot.domain.job.document import JobDocument
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.defaults import NO_DEFAULTS, ScheduleDefaults
from foliot.domain.secrets import is_hidden, public_value
from foliot.errors import InvalidJobDocument, Severity


def read_job(tree: Mapping[str, Any], now: Instant, defaults: ScheduleDefaults = NO_DEFAULTS) -> JobDocument:
    """Return the job of a document. InvalidJobDocument has all its problems."""
    root = Node(tree, Whole())
    problems = Problems()
    reading = Reading({}, problems, now, variables=Variables.PLAIN)
    job = JobReader(default_policies(defaults), None, reading).read(root)
    assert job is not None, "an object is always read, even with errors"
    for problem in refused_values(root):
        problems.error(*problem)
    if problems.has_errors or job.spec is None:
        raise InvalidJobDocument(job.id, [one for one in problems.sorted() if one.severity is Severity.ERROR])
    return _document(job, job.spec, problems)


def restore_hidden(tree: Any, stored: Any, name: str = "") -> Any:
    """Return a document in which each masked value is replaced by the stored value in the same place, if that is shown
    with the same mask."""
    match tree, stored:
        case dict(), dict():
            return {key: restore_hidden(value, stored.get(key), key) for key, value in tree.items()}
        case list(), list() if len(tree) == len(stored):
            return [restore_hidden(one, other, name) for one, other in zip(tree, stored, strict=True)]
        case str(), _ if is_hidden(name, tree) and stored is not None:
            is_same = public_value(name, stored) == tree or tree == "***"
            return stored if is_same else tree
    return tree


def _document(job: FileJob, spec: JobSpec, problems: Problems) -> JobDocument:
    return JobDocument(
        id=job.id,
        spec=replace(spec, source=SOURCE, written={}),
        schedules={one.id: replace(one.spec, source=SOURCE) for one in job.schedules},
        past=frozenset(one.id for one in job.schedules if one.is_past),
        warnings=tuple(one.in_one_line for one in problems.sorted()),
    )
