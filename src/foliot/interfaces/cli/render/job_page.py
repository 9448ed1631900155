"""The page of a job, as text and as a JSON document."""

from typing import Any

from foliot.domain.chain.spec import CHAIN
from foliot.interfaces.cli.output import print_line
from foliot.interfaces.cli.render.chain import class_fields
from foliot.interfaces.cli.render.format import (
    RUN_COLUMNS,
    TICK_COLUMNS,
    job_state,
    json_line,
    listed_tick_row,
    moment,
    option_text,
    plain,
    run_row,
    stopped_text,
)
from foliot.interfaces.cli.render.gate import DEPENDENCY_COLUMNS, dependency_rows, gate_document, gate_text
from foliot.interfaces.cli.render.schedule_page import schedule_fields
from foliot.interfaces.cli.render.table import print_fields, print_section
from foliot.service.queries.documents import as_json
from foliot.service.queries.job_view import WORKFLOW
from foliot.service.queries.jobs import JobPage


def job_document(page: JobPage) -> dict[str, Any]:
    return {
        "type": "job",
        **as_json(page.job),
        "state": job_state(page.job, page.schedules),
        "schedules": [as_json(schedule) for schedule in page.schedules],
        "runs": [as_json(run) for run in page.runs],
        "ticks": [as_json(tick) for tick in page.ticks],
        "gate": None if page.gate is None else gate_document(page.gate, page.dependencies),
    }


def print_job(page: JobPage) -> None:
    print_fields(_facts(page))
    if page.gate is not None:
        print_section("Dependencies", DEPENDENCY_COLUMNS, [*dependency_rows(page.gate, page.dependencies)])
    for schedule in page.schedules:
        print_line()
        print_fields(schedule_fields(schedule))
    print_section("Last ticks", TICK_COLUMNS, [listed_tick_row(tick) for tick in page.ticks])
    print_section("Last runs", RUN_COLUMNS, [run_row(run) for run in page.runs])


def _facts(page: JobPage) -> list[tuple[str, object]]:
    job = page.job
    return [
        ("job", job.id),
        ("name", job.name or None),
        ("description", job.description or None),
        ("state", job_state(job, page.schedules)),
        ("paused by", job.paused_by),
        ("stopped", stopped_text(job)),
        ("kind", job.kind),
        *(class_fields(job) if job.kind == CHAIN else ((f"  {name}", plain(job.spec[name])) for name in job.spec)),
        ("payload", None if job.payload_template is None else json_line(job.payload_template)),
        *((name, option_text(name, value)) for name, value in job.options.items()),
        ("pause_after_failures", job.pause_after_failures),
        *((name, plain(value)) for name, value in job.notify.items()),
        ("gate", None if page.gate is None else gate_text(page.gate)),
        ("tags", ", ".join(job.tags) or None),
        ("owner", job.owner or None),
        ("from", f"{job.source}, revision {job.revision}, changed {moment(job.updated_at)}"),
        ("chains", f"foliot chains list --class {job.id}" if job.kind == CHAIN else None),
        ("drawing", f"foliot workflows show {job.id}" if job.kind == WORKFLOW else None),
    ]
