"""Imports a crontab that a client sends: each line becomes a job, as with `foliot import crontab`, or is skipped.

crontab --parse--> entries --write--> TOML --check--> what it would change
                                       |
                                       +-- again, without what cannot be stored --apply--> jobs
"""

import asyncio
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from foliot import cron
from foliot.config.crontab import Imported, write_crontabs
from foliot.domain.crontab import Crontab, Entry, Rejected, parse_crontab
from foliot.domain.deploy.deployment import OWNERS
from foliot.domain.deploy.text import MAX_DEFINITIONS
from foliot.errors import InvalidInput, Problem, Severity
from foliot.interfaces.machine import current_account, home_of, machine_timezone
from foliot.service.answers import ImportedCrontab, ImportedLine, Remark
from foliot.service.commands.definitions import DefinitionService
from foliot.service.queries.definition_view import CheckedText, DefinitionAction, DefinitionView

_NAME: Final = "crontab"
_EXISTS: Final = "Delete or rename that job, or import with replace."
_NO_DEFINITION: Final = "The line is not imported."


class CrontabImport(NamedTuple):
    """A crontab and how to import it."""

    text: str
    is_system: bool
    """Whether its lines name their users."""
    timezone: str | None
    """None: that of this machine."""
    user: str | None
    """Whose crontab it is. None: that of the account that this process runs as."""
    replaces: bool
    """Whether jobs that exist with the same id and another definition are changed."""
    pauses: bool


class _Refused(NamedTuple):
    """Why a line is not imported."""

    action: DefinitionAction | None
    reason: str
    hint: str


async def import_crontab(definitions: DefinitionService, order: CrontabImport, *, is_dry_run: bool) -> ImportedCrontab:
    """Return what each line becomes, and store the jobs unless it is a dry run."""
    timezone = order.timezone or await asyncio.to_thread(machine_timezone) or "UTC"
    cron.zone(timezone)
    own = await asyncio.to_thread(current_account)
    crontab = await asyncio.to_thread(parse_crontab, order.text, _NAME, owner=_owner(order, own))
    entries = [item for item in crontab.items if isinstance(item, Entry)]
    if len(entries) > MAX_DEFINITIONS:
        message = f"the crontab has {len(entries)} jobs, more than {MAX_DEFINITIONS}"
        raise InvalidInput(message, hint="Import it in parts.", field="text")

    def write(leave_out: Mapping[str, _Refused]) -> Imported:
        own_account = None if order.is_system else own
        return write_crontabs([crontab], timezone=timezone, home_of=home_of, own=own_account, leave_out=leave_out)

    whole = await asyncio.to_thread(write, {})
    checked = await definitions.check(whole.text)
    refused = _refused(checked, replaces=order.replaces)
    wanted = await asyncio.to_thread(write, refused)
    saved = [one for one in whole.ids if one not in refused]
    if saved and not is_dry_run:
        await definitions.apply(wanted.text, pause_new=order.pauses, keeps_changed=not order.replaces)
    jobs = dict(zip([entry.place.line for entry in entries], whole.ids, strict=True))
    views = {one.id: one for one in checked.definitions}
    return ImportedCrontab(
        lines=[*_lines(crontab, order.text.split("\n"), _Result(jobs, views, refused, whole.problems, timezone))],
        toml=wanted.text,
        timezone=timezone,
        saved=[] if is_dry_run else saved,
        is_dry_run=is_dry_run,
    )


def _owner(order: CrontabImport, own: str) -> str | None:
    if order.is_system and order.user is not None:
        raise InvalidInput("user and system are mutually exclusive", hint="Leave one of them out.", field="user")
    return None if order.is_system else order.user or own


def _refused(checked: CheckedText, *, replaces: bool) -> dict[str, _Refused]:
    """Return the jobs that are not stored, by id."""
    found: dict[str, _Refused] = {}
    for one in checked.definitions:
        if one.action is DefinitionAction.REFUSED:
            where = OWNERS.get(one.owner or "", "elsewhere")
            found[one.id] = _Refused(one.action, f'job "{one.id}" is defined {where}', "Change it there.")
        elif one.action is DefinitionAction.CHANGED and not replaces:
            found[one.id] = _Refused(DefinitionAction.KEPT, f'job "{one.id}" exists with another definition', _EXISTS)
    begins = [one.line for one in checked.definitions]
    for problem in checked.problems:
        at = bisect_right(begins, problem.line) - 1
        if problem.severity is Severity.ERROR and at >= 0:
            found[checked.definitions[at].id] = _Refused(None, problem.message, problem.hint or _NO_DEFINITION)
    return found


# -- lines


class _Result(NamedTuple):
    jobs: Mapping[int, str]
    """Line -> id."""
    views: Mapping[str, DefinitionView]
    refused: Mapping[str, _Refused]
    problems: Sequence[Problem]
    timezone: str

    def remarks(self, line: int) -> list[Remark]:
        return [
            Remark(message=one.message, hint=one.hint)
            for one in self.problems
            if one.line == line and one.severity is Severity.WARNING
        ]


def _lines(crontab: Crontab, texts: Sequence[str], result: _Result) -> Iterator[ImportedLine]:
    """Yield the lines with a job, an error or a warning, in order."""
    items = {item.place.line: item for item in crontab.items}
    for number in sorted({*items, *(problem.line for problem in result.problems)}):
        item, text = items.get(number), texts[number - 1].removesuffix("\r")
        if isinstance(item, Entry):
            yield _job_line(item, text, result)
        else:
            yield ImportedLine(
                line=number,
                text=text,
                outcome="setting" if item is None else "skipped",
                reason=item.message if isinstance(item, Rejected) else "",
                hint=item.hint if isinstance(item, Rejected) else "",
                warnings=result.remarks(number),
            )


def _job_line(entry: Entry, text: str, result: _Result) -> ImportedLine:
    number = entry.place.line
    job_id = result.jobs[number]
    view, refused = result.views.get(job_id), result.refused.get(job_id)
    schedule = view.schedules[0] if view is not None and view.schedules else None
    is_readable = view is not None and (refused is None or refused.action is not None)
    action = refused.action if refused is not None else view.action if view is not None else None
    return ImportedLine(
        line=number,
        text=text,
        outcome="job" if is_readable else "skipped",
        job_id=job_id,
        expression=entry.expression,
        words=None if schedule is None else schedule.words,
        timezone=entry.timezone or result.timezone,
        next=[] if schedule is None else schedule.next,
        command=entry.command,
        action=action,
        reason="" if refused is None else refused.reason,
        hint="" if refused is None else refused.hint,
        warnings=result.remarks(number),
    )
