"""[[jobs]]: from what was read to definitions of the domain."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from foliot.config.definitions import definition, read_id, read_options, say_later, warn_of_workers
from foliot.config.document import Node
from foliot.config.gates import read_gate
from foliot.config.keys import JOB
from foliot.config.kinds import OF_JOBS, kind_of, over_defaults, refuse_foreign_keys
from foliot.config.schedules import NamedSchedule, distinct, job_schedules
from foliot.config.schema import Fields, Reading
from foliot.config.specs import job_spec
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.schedule.schedule import Overlap

_KEPT: Final = ("id", "was", "depends_on")
_MAX_CONCURRENT: Final = 1
"""Of a job in a file that does not say."""


class FileJob(NamedTuple):
    """A job as a file has it. `spec` is None for one that could not be read or is of a kind that is still to come."""

    id: JobId
    spec: JobSpec | None
    schedules: tuple[NamedSchedule, ...]
    fields: Fields
    is_later: bool = False


class JobReader:
    """Reads jobs, one by one. `queues`: those that this server works on; None if it has no worker."""

    def __init__(self, defaults: Fields, queues: Collection[str] | None, reading: Reading) -> None:
        self._defaults = defaults
        self._queues = queues
        self._reading = reading

    def check_defaults(self) -> None:
        """Say what is wrong in [defaults] also where there is no job."""
        read_options(self._defaults, self._reading)
        list(job_schedules(JobId("defaults"), self._defaults, self._reading))

    def read(self, node: Node) -> FileJob | None:
        """A job, as far as it can be read. What is wrong with it has become a problem."""
        own = self._reading.table(node, JOB)
        if not isinstance(node.value, dict):
            return None
        job_id = read_id(own, node, "job", "nightly-backup", self._reading)
        kind = kind_of(own, self._defaults, OF_JOBS, self._reading)
        if kind is None:
            return FileJob(job_id, None, (), own)
        refuse_foreign_keys(kind, own, self._reading)
        fields = over_defaults(own, self._defaults, kind)
        schedules = tuple(distinct(job_schedules(job_id, fields, self._reading), self._reading))
        options = read_options(fields, self._reading, max_concurrent=_MAX_CONCURRENT)
        gate = read_gate(job_id, kind, own, fields, node, self._reading)
        if kind.is_later:
            given = fields["kind"]
            say_later(given.place, f"kind {given.value}", "This job is left out until then.", self._reading)
            return FileJob(job_id, None, (), fields, is_later=True)
        spec = job_spec(kind.runner, fields, node, self._reading)
        warn_of_workers(fields, options, self._queues, self._reading)
        warn_of_waiting(fields, options, schedules, self._reading)
        return FileJob(job_id, definition(kind, spec, options, fields, gate), schedules, _kept(fields))


def _kept(fields: Fields) -> Fields:
    """What is still asked for once the job has been read."""
    return Fields({name: fields[name] for name in _KEPT if name in fields})


def warn_of_waiting(fields: Fields, options: Options, schedules: Iterable[NamedSchedule], reading: Reading) -> None:
    """Say where runs that may overlap cannot."""
    allowing = [schedule for schedule in schedules if schedule.spec.overlap is Overlap.ALLOW]
    if allowing and options.max_concurrent == 1:
        place = fields["overlap"].place if "overlap" in fields else allowing[0].place
        hint = "Give a larger max_concurrent, or 0 for no limit."
        reading.problems.warning(place, "runs may overlap, but max_concurrent is 1: they wait for each other", hint)
