"""Writes crontabs as a configuration file: the jobs run when cron ran them, and in the same environment.

cron                                    the file
starts a job although the last one      overlap = "allow", max_concurrent = 0
forgets what it missed                  catchup = "none"
the machine's time zone, CRON_TZ        timezone
HOME, SHELL, PATH, LOGNAME, USER        env
runs in the home directory              working_dir
SHELL=/bin/bash                         argv = ["/bin/bash", "-c", "..."]
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from foliot.config.toml_writing import write_table
from foliot.domain.crontab import Crontab, Entry, JobIds, Rejected
from foliot.domain.job.kinds.shell import SHELL
from foliot.errors import Problem, Severity

_PATH: Final = "/usr/bin:/bin"
_HEADER: Final = """\
# Written by: foliot import crontab
# Jobs behave as under cron: they start even if the previous run has not ended, and missed ticks are not caught up.
#
#   foliot check     is this file right?
#   foliot plan      what would change, and what would fire?
#   foliot serve     run it
#
# Delete the lines from the crontab when Foliot runs them, or both will."""


class Imported(NamedTuple):
    """A configuration file, and what is different from the crontabs."""

    text: str
    problems: tuple[Problem, ...]
    jobs: int
    rejected: int
    ids: tuple[str, ...] = ()
    """The ids of the jobs, in the order of the entries."""


def write_crontabs(
    crontabs: Sequence[Crontab],
    *,
    timezone: str,
    home_of: Callable[[str], str | None],
    own: str | None,
    leave_out: Collection[str] = (),
) -> Imported:
    """Return the configuration file for crontabs.

    `home_of`: account -> its home directory, or None if there is no such account. `own`: the account that the server
    runs as; its jobs need no `user`. `leave_out`: ids of jobs that are not written.
    """
    writer = _Writer(timezone, home_of, own)
    blocks = [block for crontab in crontabs for block in writer.blocks(crontab)]
    shared = _shared([job for job in writer.jobs if job["id"] not in leave_out])
    written = [
        block if isinstance(block, str) else write_table("[[jobs]]", _over(shared, block))
        for block in blocks
        if isinstance(block, str) or block["id"] not in leave_out
    ]
    text = "\n\n".join([_HEADER, _defaults(timezone, shared), *written])
    ids = tuple(job["id"] for job in writer.jobs)
    return Imported(f"{text}\n", tuple(writer.problems), len(writer.jobs), writer.rejected, ids)


Job = dict[str, Any]
"""Key -> value, in the order in which they are written."""


class _Writer:
    def __init__(self, timezone: str, home_of: Callable[[str], str | None], own: str | None) -> None:
        self._timezone = timezone
        self._home_of = home_of
        self._own = own
        self._ids = JobIds()
        self._homeless: set[str] = set()
        self.jobs: list[Job] = []
        self.problems: list[Problem] = []
        self.rejected = 0

    def blocks(self, crontab: Crontab) -> Iterator[str | Job]:
        """Yield the parts of the file for one crontab: comments and jobs."""
        yield _comment(f"-- {crontab.file}")
        problems = list(crontab.warnings)
        for item in crontab.items:
            if isinstance(item, Rejected):
                self.rejected += 1
                problems.append(Problem(Severity.ERROR, item.place, item.message, item.hint))
                yield _comment(f"{item.place}: {item.message}", item.text)
            else:
                job = self._job(item, problems)
                self.jobs.append(job)
                yield job
        self.problems += sorted(problems, key=lambda problem: problem.line)

    def _job(self, entry: Entry, problems: list[Problem]) -> Job:
        environment = self._environment(entry, problems)
        job: Job = {"id": self._ids.make(entry)}
        if entry.description:
            job["description"] = _without_variables(entry.description)
        job["cron"] = entry.expression
        if entry.timezone not in (None, self._timezone):
            job["timezone"] = entry.timezone
        job |= _command(entry, environment["SHELL"])
        if entry.stdin is not None:
            job["stdin"] = entry.stdin
        if entry.user != self._own:
            job["user"] = _without_variables(entry.user)
        if entry.group is not None:
            job["concurrency_key"] = entry.group
        if directory := entry.directory or environment.get("HOME"):
            job["working_dir"] = _without_variables(directory)
        job["env"] = {name: _without_variables(value) for name, value in environment.items()}
        return job

    def _environment(self, entry: Entry, problems: list[Problem]) -> dict[str, str]:
        """Return the variables that cron gives the command."""
        home = self._home_of(entry.user)
        if home is None and "HOME" not in entry.variables and entry.user not in self._homeless:
            self._homeless.add(entry.user)
            message = f"account {entry.user[:64]!a} does not exist on this machine: its home directory is not known"
            hint = "Add HOME to env and working_dir to its jobs."
            problems.append(Problem(Severity.WARNING, entry.place, message, hint))
        account = {"LOGNAME": entry.user, "USER": entry.user}
        given = {"SHELL": SHELL, "PATH": _PATH} if home is None else {"HOME": home, "SHELL": SHELL, "PATH": _PATH}
        return {**given, **entry.variables, **account}


def _command(entry: Entry, shell: str) -> Job:
    if entry.script is not None:
        return {"argv": [entry.script]}
    if shell == SHELL:
        return {"command": entry.command}
    return {"argv": [shell, "-c", entry.command]}


# -- what all jobs share


def _shared(jobs: Sequence[Job]) -> Job:
    """Return the most frequent directory and variables of the jobs, as far as every job has one."""
    directory = _most_frequent(job.get("working_dir") for job in jobs)
    names = [name for name in (jobs[0]["env"] if jobs else ()) if all(name in job["env"] for job in jobs)]
    variables = {name: _most_frequent(job["env"][name] for job in jobs) for name in names}
    return ({} if directory is None else {"working_dir": directory}) | ({"env": variables} if variables else {})


def _most_frequent(values: Iterable[str | None]) -> str | None:
    """Return the most frequent of some texts; None if one is missing."""
    counts = Counter(values)
    return None if None in counts or not counts else counts.most_common(1)[0][0]


def _over(shared: Job, job: Job) -> Job:
    """Return a job without what [defaults] gives it."""
    defaults = shared.get("env", {})
    variables = {name: value for name, value in job["env"].items() if defaults.get(name) != value}
    own = {key: value for key, value in job.items() if key != "env" and shared.get(key) != value}
    return own | ({"env": variables} if variables else {})


def _defaults(timezone: str, shared: Job) -> str:
    return write_table(
        "[defaults]", {"timezone": timezone, "overlap": "allow", "max_concurrent": 0, "catchup": "none"} | shared
    )


# -- text


def _without_variables(text: str) -> str:
    """Return text in which `${` is no variable of the configuration file."""
    return text.replace("${", "$${")


def _comment(*lines: str) -> str:
    return "\n".join(f"# {line}" for line in map(_printable, lines))


def _printable(text: str) -> str:
    """Return text that may be in a comment of TOML."""
    return "".join(char if char.isprintable() or char == "\t" else ascii(char)[1:-1] for char in text)
