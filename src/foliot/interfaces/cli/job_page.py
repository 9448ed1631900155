"""All there is to say about one job: gathered, as one document, and printed."""

from typing import Any, Final, NamedTuple

from foliot.domain.workflow.jobs import GRAPH
from foliot.interfaces.cli.gate_words import DEPENDENCY_COLUMNS, Dependencies
from foliot.interfaces.cli.listing import all_schedules
from foliot.interfaces.cli.schedule_page import schedule_fields
from foliot.interfaces.cli.speaking import tell
from foliot.interfaces.cli.table import moment, print_fields, print_section
from foliot.interfaces.cli.words import RUN_COLUMNS, job_state, json_line, option_words, plain, run_row
from foliot.ports.runs import RunFilter
from foliot.service.services import Services
from foliot.service.views import JobView, RunView, ScheduleView, as_json, view_job, view_run

_RECENT: Final = 5


class JobPage(NamedTuple):
    job: JobView
    schedules: list[ScheduleView]
    runs: list[RunView]
    dependencies: Dependencies | None

    @classmethod
    async def gather(cls, services: Services, job_id: str) -> "JobPage":
        job = await services.jobs.record(job_id)
        runs = await services.runs.records(RunFilter(job_id=job.id, limit=_RECENT))
        latest = runs[0] if runs else None
        return cls(
            view_job(job, latest),
            await all_schedules(services, job.id),
            [view_run(run) for run in runs],
            await Dependencies.gather(services, job),
        )

    def document(self) -> dict[str, Any]:
        return {
            "type": "job",
            **as_json(self.job),
            "state": job_state(self.job, self.schedules),
            "schedules": [as_json(schedule) for schedule in self.schedules],
            "runs": [as_json(run) for run in self.runs],
            "gate": None if self.dependencies is None else self.dependencies.document(),
        }

    def print(self) -> None:
        print_fields(self._facts())
        if self.dependencies is not None:
            print_section("Dependencies", DEPENDENCY_COLUMNS, [*self.dependencies.rows()])
        for schedule in self.schedules:
            tell()
            print_fields(schedule_fields(schedule))
        print_section("Last runs", RUN_COLUMNS, [run_row(run) for run in self.runs])

    def _facts(self) -> list[tuple[str, object]]:
        job = self.job
        return [
            ("job", job.id),
            ("name", job.name or None),
            ("description", job.description or None),
            ("state", job_state(job, self.schedules)),
            ("kind", job.kind),
            *((f"  {name}", plain(value)) for name, value in job.spec.items()),
            ("payload", None if job.payload_template is None else json_line(job.payload_template)),
            *((name, option_words(name, value)) for name, value in job.options.items()),
            ("gate", None if self.dependencies is None else self.dependencies.words),
            ("tags", ", ".join(job.tags) or None),
            ("owner", job.owner or None),
            ("from", f"{job.source}, revision {job.revision}, changed {moment(job.updated_at)}"),
            ("drawing", f"foliot workflows show {job.id}" if job.kind == GRAPH else None),
        ]
