"""The format of definitions as text, which `config` implements and `wiring` provides."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, Self

from foliot.domain.chain.spec import Ceilings
from foliot.domain.deploy.text import TextDefinitions
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.defaults import ScheduleDefaults
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.workflow.spec import WorkflowSpec

Schedules = Mapping[ScheduleId, ScheduleSpec]


class TextToml(NamedTuple):
    """A definition as TOML."""

    toml: str
    is_masked: bool


class ParsedText(Protocol):
    """A text as a tree."""

    @property
    def ids(self) -> set[JobId]:
        """The ids that it defines."""
        ...

    @property
    def names(self) -> set[JobId]:
        """The jobs that its definitions may need, with their own ids."""
        ...

    def with_secrets(self, stored: Mapping[JobId, Mapping[str, Any]]) -> Self:
        """Return the text with stored values in place of masks. `stored`: by id, see `TextFormat.secret_job`."""
        ...

    def read(
        self, stored: Mapping[JobId, JobSpec], now: Instant, defaults: ScheduleDefaults, ceilings: Ceilings
    ) -> TextDefinitions:
        """Return what it defines, and all problems. `stored`: the jobs of `names` that exist."""
        ...


class TextFormat(Protocol):
    """Reads and writes definitions as text. Reading takes a while: call it in a thread."""

    def parse(self, text: str) -> ParsedText: ...

    def secret_job(self, job_id: JobId, job: JobSpec, schedules: Schedules) -> Mapping[str, Any]:
        """Return the table of a job with its secrets."""
        ...

    def secret_workflow(self, workflow_id: str, spec: WorkflowSpec, schedules: Schedules) -> Mapping[str, Any]: ...

    def write_job(self, job_id: JobId, job: JobSpec, schedules: Schedules) -> TextToml:
        """Return a job as text, with masks. Raise NotWritable if no text can contain it."""
        ...

    def write_workflow(self, workflow_id: str, spec: WorkflowSpec, schedules: Schedules) -> TextToml: ...
