"""The report of `foliot doctor`: what is wrong, and what to do."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from foliot.errors import Severity
from foliot.interfaces.cli.render.format import moment
from foliot.interfaces.cli.render.status import notice_hint, notice_text, size_text
from foliot.interfaces.cli.render.text import counted
from foliot.service.queries.doctor import findings as found
from foliot.service.queries.doctor.findings import Finding, HostFinding, severity_of
from foliot.service.queries.doctor.report import Check, Report

_MOST_NAMED: Final = 5
OK: Final = "ok"
_MEASURED: Final = "(as seen by this shell; a service may have other limits)"


def report_document(report: Report, version: str) -> dict[str, Any]:
    return {
        "at": msgspec.to_builtins(report.at),
        "version": version,
        "tzdata": report.tzdata,
        "severity": report.worst or OK,
        "checks": [_check_document(check) for check in report.checks],
    }


def _check_document(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "severity": _severity(check),
        "findings": [
            {
                **{name: value for name, value in msgspec.to_builtins(one).items() if name != "state"},
                "severity": severity_of(one),
                "message": finding_text(one),
                "hint": finding_hint(one),
            }
            for one in check.findings
        ],
    }


def report_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines: one for each check, and below it its findings, each with what to do."""
    yield f"Foliot {document['version']}, time zone data {document['tzdata']}"
    yield ""
    width = max(len(check["name"]) for check in document["checks"])
    for check in document["checks"]:
        yield f"{check['name'].ljust(width)}  {check['severity']}"
        for finding in check["findings"]:
            yield f"  {finding['severity']}: {finding['message']}"
            yield f"    {finding['hint']}"
    yield ""
    yield _summary(document)


def _summary(document: Mapping[str, Any]) -> str:
    severities = [finding["severity"] for check in document["checks"] for finding in check["findings"]]
    if not severities:
        return "no problems found"
    errors, warnings = severities.count(Severity.ERROR), severities.count(Severity.WARNING)
    return f"{counted(errors, 'error')}, {counted(warnings, 'warning')}"


def _severity(check: Check) -> str:
    severities = {severity_of(finding) for finding in check.findings}
    return Severity.ERROR if Severity.ERROR in severities else Severity.WARNING if severities else OK


def finding_text(finding: Finding) -> str:
    """Return what is wrong, as one line."""
    match finding:
        case found.ProbeFailed() | found.StorageReadOnly():
            return finding.message
        case found.StorageDamaged(damages=damages):
            return f"the file of the database is damaged: {'; '.join(damages)}"
        case found.LogsLarge(size=size):
            return f"the output of runs takes {size_text(size)}"
        case found.WorkersLost(workers=workers, running=running):
            named = _listed(workers)
            return f"workers are lost, and hold {counted(running, 'run')}: {named}"
        case found.RunsLong(runs=runs):
            named = _listed([f"{run.job_id} {run.run_id} since {moment(run.started_at)}" for run in runs])
            return f"running for more than a day: {named}"
        case found.RowsUnreadable(rows=rows, count=count):
            return f"{counted(count, 'row')} cannot be read: {_listed(rows, count)}"
        case found.TicksMoved(ticks=ticks, count=count, tzdata=tzdata):
            moved = [f"{one.schedule_id} from {moment(one.stored)} to {moment(one.now)}" for one in ticks]
            return f"with time zone data {tzdata}, the next tick moves: {_listed(moved, count)}"
    return _host_text(finding) if isinstance(finding, HostFinding) else notice_text(finding)


def _host_text(finding: HostFinding) -> str:
    match finding:
        case found.ConfigProblem():
            place = f"{finding.file}:{finding.line}" if finding.line else finding.file
            return ": ".join(part for part in (place, finding.key, finding.message) if part)
        case found.SecretsReadable(file=file, keys=keys):
            return f"every user can read the secrets in {file}: {_listed(keys)}"
        case found.DatabaseReadable(file=file):
            return f"every user can read the database {file}"
        case found.GuardOff():
            return "requests of jobs may reach private addresses, although the mode is production"
        case found.FewDescriptors():
            also = "" if finding.is_server else f" {_MEASURED}"
            return (
                f"{finding.allowed} open files are allowed: enough for {counted(finding.enough_for, 'run')} "
                f"of {finding.slots}{also}"
            )
        case found.LimitsPerProcess(jobs=jobs, missing=missing):
            also = "" if finding.is_server else f" {_MEASURED}"
            return f"limits on {' and '.join(missing)} apply to each process, not to its tree: {_listed(jobs)}{also}"
        case found.ProgramMissing(program=program, jobs=jobs):
            return f"program {program!a} is not in the PATH, but is used by: {_listed(jobs)}"


def finding_hint(finding: Finding) -> str:
    """Return what to do."""
    match finding:
        case found.ProbeFailed() | found.StorageReadOnly():
            return finding.hint
        case found.StorageDamaged():
            return "Stop all servers, keep a copy of the file, and restore the last backup"
        case found.LogsLarge():
            return "Keep less: logs in [retention]; or lower output_cap of the jobs that print most"
        case found.WorkersLost():
            return "A scheduler frees their runs. If one is alive, see the log of foliot serve"
        case found.RunsLong(runs=runs):
            run_id = runs[0].run_id
            return f"See: foliot logs {run_id}. End it with: foliot cancel {run_id}; set a timeout on the job"
        case found.RowsUnreadable():
            return "See all with: foliot verify. Apply the definitions again with: foliot reload, or delete the rows"
        case found.TicksMoved(ticks=ticks):
            name = ticks[0].schedule_id
            return (
                "Restart the servers after an update of tzdata. A tick that moves to an earlier time is decided only "
                f"at its former time, as after a downtime, unless you run: foliot pause {name}, foliot resume {name}"
            )
    return _host_hint(finding) if isinstance(finding, HostFinding) else notice_hint(finding)


def _host_hint(finding: HostFinding) -> str:
    match finding:
        case found.ConfigProblem():
            return finding.hint
        case found.SecretsReadable(file=file):
            return f"Protect it with: chmod o-r {file}; or write ${{VARIABLE}} instead of the secrets"
        case found.DatabaseReadable(file=file):
            return f"Protect it with: chmod o-r {file} {file}-*"
        case found.GuardOff():
            return "Remove block_private = false from [outbound], and list what jobs need in allow"
        case found.FewDescriptors(enough_for=enough):
            return f"Raise LimitNOFILE= of the service (ulimit -Hn), or set concurrency = {max(enough, 1)} in [server]"
        case found.LimitsPerProcess():
            return "Start the server with Delegate=yes of systemd, or name a control group in FOLIOT_CGROUP"
        case found.ProgramMissing():
            return "Install it, or set cli to its full path. Ignore this if another machine runs these jobs"


def _listed(names: Sequence[str], count: int | None = None) -> str:
    more = (len(names) if count is None else count) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
