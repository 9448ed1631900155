"""All probes together, as a list of checks. A check without findings is passed."""

from collections.abc import AsyncIterable, Iterable, Mapping
from datetime import datetime
from typing import Final

import msgspec

from foliot.domain.cron import tzdata_version
from foliot.domain.instant import Instant, to_datetime
from foliot.errors import FoliotError, Severity
from foliot.ports.clock import Clock
from foliot.ports.health import HealthDetails
from foliot.ports.host import Host
from foliot.ports.storage import Storage
from foliot.service.queries.delivery_notices import delivery_notices
from foliot.service.queries.doctor.findings import Finding, ProbeFailed, severity_of
from foliot.service.queries.doctor.host import (
    ConfigFacts,
    probe_configuration,
    probe_control_groups,
    probe_descriptors,
    probe_files,
    probe_programs,
)
from foliot.service.queries.doctor.stored import (
    probe_clock,
    probe_leases,
    probe_rows,
    probe_runs,
    probe_storage,
    probe_time_zones,
    readable_jobs,
)
from foliot.service.queries.status import (
    DiskLow,
    JobsFailing,
    Notice,
    SchedulesLate,
    StorageUnreachable,
    breaker_notices,
    health_limits,
    notices_of,
)

_SUBJECTS: Final[Mapping[type[object], str]] = {
    DiskLow: "storage",
    SchedulesLate: "schedules",
    JobsFailing: "jobs",
}
"""The check that a notice of `status` belongs to; `server` if it is not listed."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    findings: tuple[Finding, ...]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    at: datetime
    tzdata: str
    """The release of the time zone data."""
    checks: list[Check]

    @property
    def findings(self) -> list[Finding]:
        return [finding for check in self.checks for finding in check.findings]

    @property
    def worst(self) -> Severity | None:
        """The highest severity of all findings."""
        found = {severity_of(finding) for finding in self.findings}
        return Severity.ERROR if Severity.ERROR in found else Severity.WARNING if found else None


class Doctor:
    """Examines an installation. `database` is the path of a SQLite file, if it is one."""

    def __init__(self, host: Host, config: ConfigFacts, database: str | None) -> None:
        self._host = host
        self._config = config
        self._database = database

    def without_storage(self, error: FoliotError, at: datetime) -> Report:
        """Return the report for a database that could not be opened."""
        facts = self._host.facts(())
        unreachable = StorageUnreachable(message=error.message, hint=error.hint)
        return _report(
            at,
            [
                *self._configuration(),
                Check(name="storage", findings=(unreachable,)),
                Check(name="limits", findings=tuple(probe_descriptors(facts, self._config.slots))),
            ],
        )

    async def with_storage(self, storage: Storage, clock: Clock) -> Report:
        now = clock.now()
        health = await storage.queries.health(health_limits(now))
        jobs = await readable_jobs(storage)
        facts = self._host.facts([process for _, process in await storage.upkeep.worker_processes()])
        slots = max([self._config.slots, *(one.worker.slots for one in health.workers if one.is_alive)])
        return _report(
            to_datetime(now),
            [
                *self._configuration(),
                *await self._stored(storage, health, now),
                await _check("limits", probe_descriptors(facts, slots), probe_control_groups(facts, jobs)),
                await _check("programs", probe_programs(jobs, self._host)),
            ],
        )

    def _configuration(self) -> list[Check]:
        files = probe_files(self._config, self._database, self._host)
        return [
            Check(name="configuration", findings=tuple(probe_configuration(self._config))),
            Check(name="files", findings=tuple(files)),
        ]

    async def _stored(self, storage: Storage, health: HealthDetails, now: Instant) -> list[Check]:
        return [
            await _check("storage", probe_storage(storage, health), _notices(health, "storage")),
            await _check("server", _notices(health, "server"), probe_leases(health, now)),
            await _check("clock", probe_clock(storage, health, now)),
            await _check("time zones", probe_time_zones(storage)),
            await _check("schedules", _notices(health, "schedules")),
            await _check("jobs", _notices(health, "jobs")),
            await _check("chains", breaker_notices(await storage.queries.chain_classes(), now)),
            await _check("runs", probe_runs(storage, now)),
            await _check("notifications", delivery_notices(storage.deliveries, now)),
            await _check("rows", probe_rows(storage, now)),
        ]


def _notices(health: HealthDetails, subject: str) -> Iterable[Notice]:
    return (notice for notice in notices_of(health) if _SUBJECTS.get(type(notice), "server") == subject)


async def _check(name: str, *probes: Iterable[Finding] | AsyncIterable[Finding]) -> Check:
    """Run probes. A probe that fails is a finding, so that the others still run."""
    findings: list[Finding] = []
    for probe in probes:
        try:
            if isinstance(probe, AsyncIterable):
                findings += [finding async for finding in probe]
            else:
                findings += probe
        except FoliotError as error:
            findings.append(ProbeFailed(message=error.message, hint=error.hint))
    return Check(name=name, findings=tuple(findings))


def _report(at: datetime, checks: list[Check]) -> Report:
    return Report(at=at, tzdata=tzdata_version(), checks=checks)
