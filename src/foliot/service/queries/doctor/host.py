"""Probes of the configuration and of this machine."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from foliot.domain.job.job import Job
from foliot.domain.job.kinds.agent import DEFAULT_CLI
from foliot.errors import Problem
from foliot.ports.host import Host, HostFacts
from foliot.service.queries.doctor.findings import (
    ConfigProblem,
    DatabaseReadable,
    FewDescriptors,
    GuardOff,
    LimitsPerProcess,
    ProgramMissing,
    SecretsReadable,
)

_LIMITS: Final[Mapping[str, str]] = {"memory": "memory", "processes": "pids"}
"""Limits of jobs, and the controllers that enforce them for a whole process tree."""


class ConfigFacts(NamedTuple):
    """What doctor needs to know about the configuration."""

    problems: Sequence[Problem] = ()
    secrets: Mapping[str, Sequence[str]] = {}
    """For each file the keys whose values are secrets."""
    slots: int = 0
    """Concurrent runs of a worker; 0: not known."""
    is_guard_off: bool = False
    """Whether requests may reach private addresses in production."""


def probe_configuration(config: ConfigFacts) -> Iterator[ConfigProblem | GuardOff]:
    for problem in config.problems:
        yield ConfigProblem(
            file=problem.file,
            line=problem.line or None,
            key=problem.key,
            message=problem.message,
            hint=problem.hint,
            severity=problem.severity,
        )
    if config.is_guard_off:
        yield GuardOff()


def probe_files(config: ConfigFacts, database: str | None, host: Host) -> Iterator[SecretsReadable | DatabaseReadable]:
    """Check who may read the files. `database` is the path of a SQLite file."""
    for file, keys in config.secrets.items():
        if keys and host.is_readable_by_all(file):
            yield SecretsReadable(file=file, keys=tuple(keys))
    if database is not None and host.is_readable_by_all(database):
        yield DatabaseReadable(file=database)


def probe_descriptors(facts: HostFacts, slots: int) -> Iterator[FewDescriptors]:
    if facts.runs_for_files < slots:
        yield FewDescriptors(
            allowed=facts.open_files, enough_for=facts.runs_for_files, slots=slots, is_server=facts.is_server
        )


def probe_control_groups(facts: HostFacts, jobs: Sequence[Job]) -> Iterator[LimitsPerProcess]:
    missing: dict[str, set[str]] = defaultdict(set)
    for job in jobs:
        for limit, controller in _LIMITS.items():
            if controller not in facts.controllers and _table(job.spec.spec.get("limits")).get(limit) is not None:
                missing[limit].add(job.id)
    if missing:
        names = sorted(set.union(*missing.values()))
        yield LimitsPerProcess(jobs=tuple(names), missing=tuple(sorted(missing)), is_server=facts.is_server)


def probe_programs(jobs: Sequence[Job], host: Host) -> Iterator[ProgramMissing]:
    """Check the programs of agent jobs, unless the job has its own PATH."""
    users: dict[str, list[str]] = defaultdict(list)
    for job in jobs:
        spec = job.spec.spec
        if job.spec.runner == "agent" and job.spec.enabled and "PATH" not in _table(spec.get("env")):
            cli = spec.get("cli") or DEFAULT_CLI
            users[str(cli[0])].append(job.id)
    for program, names in sorted(users.items()):
        if not host.has_program(program):
            yield ProgramMissing(program=program, jobs=tuple(names))


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
