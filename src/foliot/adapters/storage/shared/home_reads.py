"""Reads of the home page. Each list has a limit, so no read grows with the history."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from foliot.adapters.storage.shared.account_reads import AccountReads, Missed
from foliot.adapters.storage.shared.definition_reads import DefinitionReads
from foliot.adapters.storage.shared.job_row_reads import JobRowReads
from foliot.adapters.storage.shared.reads import Query, Read
from foliot.adapters.storage.shared.run_reads import RunReads
from foliot.domain.ids import RunId, ScheduleId, ScheduleUid, first_id_at
from foliot.domain.run.run import BEGUN, Run, Status
from foliot.ports.health import Totals
from foliot.ports.home import HomeDetails, HomeFilter, MissedTicks
from foliot.ports.pages import RunFilter

RESULTS: Final = 200
"""How many of the newest runs of a job are read."""
_ROWS: Final = 20
_ENDED: Final = 100
_UPCOMING: Final = 200


class HomeReads:
    """Reads of one project."""

    def __init__(
        self, project: str, runs: RunReads, definitions: DefinitionReads, rows: JobRowReads, accounts: AccountReads
    ) -> None:
        self._project = project
        self._runs = runs
        self._definitions = definitions
        self._rows = rows
        self._accounts = accounts

    def home(self, only: HomeFilter) -> Read[HomeDetails]:
        [totals] = yield Query("totals", (self._project, 1))
        names = {
            ScheduleUid(uid): ScheduleId(name) for uid, name in (yield Query("living_schedules", (self._project,)))
        }
        account, missed = yield from self._accounts.of_schedules(names, only.since, only.until)
        running = yield from self._newest(BEGUN, RunFilter(limit=_ROWS, roots=True))
        before = RunId(first_id_at(only.waiting_since))
        queued = yield from self._newest([Status.QUEUED], RunFilter(before=before, limit=_ROWS, roots=True))
        waiting = [run for run in queued if run.due_at <= only.waiting_since]
        newest = yield from self._runs.brief_page(RunFilter(limit=_ENDED, roots=True))
        shown = yield from self._missed(names, missed)
        targets = [one.schedule.revision.spec.target for one in shown]
        return HomeDetails(
            totals=Totals(*totals),
            account=account,
            missed=shown,
            missed_count=len({one.uid for one in missed}),
            failing=(yield from self._runs.brief([*only.failing.values()])),
            running=running,
            waiting=waiting,
            blockers=(yield from self._runs.blockers(waiting)),
            ended=[run for run in newest if run.status.is_terminal],
            upcoming=(yield from self._definitions.read_schedules((yield Query("upcoming_schedules", (_UPCOMING,))))),
            results=(yield from self._rows.results({*only.failing, *(run.job_id for run in running)}, RESULTS)),
            rows=(yield from self._rows.named(dict.fromkeys([*only.failing, *targets]))),
        )

    def _missed(self, names: Mapping[ScheduleUid, ScheduleId], missed: Sequence[Missed]) -> Read[list[MissedTicks]]:
        by_uid: dict[ScheduleUid, list[Missed]] = {}
        for one in missed:
            by_uid.setdefault(one.uid, []).append(one)
        most = sorted(by_uid, key=lambda uid: (-sum(one.planned for one in by_uid[uid]), uid))[:_ROWS]
        values = (self._project, [names[uid] for uid in most])
        schedules = yield from self._definitions.read_schedules((yield Query("get_schedules", values)) if most else ())
        found = {schedule.uid: schedule for schedule in schedules}
        return [
            MissedTicks(
                found[uid],
                sum(one.planned for one in by_uid[uid]),
                min(one.since for one in by_uid[uid]),
                max(one.until for one in by_uid[uid]),
                sorted(one.reason for one in by_uid[uid]),
            )
            for uid in most
            if uid in found
        ]

    def _newest(self, statuses: Collection[Status], only: RunFilter) -> Read[list[Run]]:
        found: list[Run] = []
        for status in statuses:
            found += yield from self._runs.brief_page(only._replace(status=status))
        return sorted(found, key=lambda run: run.id, reverse=True)[: only.limit]
