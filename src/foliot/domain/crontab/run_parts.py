"""Lines that start every script of a directory: `cd / && run-parts --report /etc/cron.hourly`."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from foliot.domain.crontab.entry import Crontab, Entry, Rejected
from foliot.errors import Problem, Severity

ListScripts = Callable[[str], Sequence[str] | None]
"""Directory -> the names of its scripts, or None if it cannot be read."""
_RUN_PARTS: Final = re.compile(
    r"(?:(?:test\s+-x|\[\s+-x)\s+(?P<guard>\S+)(?:\s+\])?\s*\|\|\s*[({]?\s*)?"
    r"(?:cd\s+(?P<directory>/\S*)\s*&&\s*)?"
    r"(?:\S*/)?run-parts(?:\s+(?:-v|--verbose|--report))*\s+(?P<scripts>/[^\s;)}]+)"
    r"\s*;?\s*[)}]?\s*"
)


def expand_run_parts(crontab: Crontab, list_scripts: ListScripts) -> Crontab:
    """Return the crontab with one entry for each script in place of a `run-parts` line.

    A line of another shape, and one whose directory cannot be read, stays a command.
    """
    items: list[Entry | Rejected] = []
    warnings = list(crontab.warnings)
    for item in crontab.items:
        found = _RUN_PARTS.fullmatch(item.command) if isinstance(item, Entry) else None
        names = None if found is None else list_scripts(found["scripts"])
        if not isinstance(item, Entry) or found is None or names is None:
            items.append(item)
            continue
        items += [_script_entry(item, found, name) for name in names]
        if not names:
            hint = "Scripts that are added later need a job of their own."
            warnings.append(Problem(Severity.WARNING, item.place, f"{found['scripts']} has no scripts", hint))
        elif found["guard"]:
            hint = f"Do not let {found['guard']} run the same scripts beside Foliot."
            message = f"cron starts {found['scripts']} only if {found['guard']} is missing"
            warnings.append(Problem(Severity.WARNING, item.place, message, hint))
    return Crontab(crontab.file, tuple(items), tuple(warnings))


def _script_entry(line: Entry, found: re.Match[str], name: str) -> Entry:
    path = found["scripts"].rstrip("/")
    directory = path.rpartition("/")[2]
    return line._replace(
        command=f"{directory}-{name}",
        script=f"{path}/{name}",
        description="",
        directory=found["directory"],
        group=directory,
    )
