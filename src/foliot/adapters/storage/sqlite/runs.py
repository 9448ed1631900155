"""The verbs about runs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from foliot.adapters.storage.definitions import Definitions
from foliot.adapters.storage.sqlite import admission, cancels, creation, endings, gates, run_listing
from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.committer import Bulk, Transaction
from foliot.adapters.storage.sqlite.marks import mark_runs
from foliot.domain.gate.decision import DependencyState, End, Gated, Passed, Postponed
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import Marked
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import AttemptRecord, Ended, NewRun, Run, Status
from foliot.ports.runs import Created, Released, RunFilter

_DUE_AT: Final = 0
_RUN_ID: Final = 1


class SqliteRuns:
    """Fills `ports.runs.RunStore`."""

    def __init__(self, access: Access) -> None:
        self._writer, self._reader, self._clock, self._project = access
        self._definitions = Definitions()

    async def create(self, runs: Sequence[NewRun], *, at: Instant | None = None) -> list[Created]:
        def work(tx: Transaction, together: Sequence[NewRun]) -> list[Created]:
            return creation.create(tx, self._project, together, tx.now(at))

        return await self._writer.submit("create", Bulk(work, runs, alike=at))

    async def release_due(self, limit: int, *, at: Instant | None = None) -> Released:
        def work(tx: Transaction) -> Released:
            return _release_due(tx, limit, tx.now(at))

        return await self._writer.submit("release_due", work)

    async def admit(self, limit: int, *, at: Instant | None = None) -> int:
        def work(tx: Transaction) -> int:
            return admission.admit_keys(tx, admission.waiting_keys(tx), limit)

        return await self._writer.submit("admit", work)

    async def ready(self, queue: str, limit: int) -> list[RunId]:
        sql = creation.SQL["ready_runs"]
        return await self._reader.read(lambda session: [run_id for (run_id,) in session.rows(sql, (queue, limit))])

    async def cancel(self, run_ids: Collection[RunId], *, at: Instant | None = None) -> dict[RunId, CancelAnswer]:
        def work(tx: Transaction) -> dict[RunId, CancelAnswer]:
            return cancels.cancel(tx, run_ids, tx.now(at))

        return await self._writer.submit("cancel", work)

    async def answer(self, answers: Mapping[RunId, Ended], *, at: Instant | None = None) -> list[RunId]:
        def work(tx: Transaction) -> list[RunId]:
            return gates.answer(tx, answers, tx.now(at))

        return await self._writer.submit("answer", work)

    async def gated(self, limit: int, *, at: Instant | None = None) -> tuple[Instant, list[Gated]]:
        now = self._clock.now() if at is None else at
        return now, await self._reader.read(
            lambda session: gates.gated_runs(session, self._project, self._definitions, limit, now)
        )

    async def pass_gates(
        self, passed: Sequence[Passed], postponed: Sequence[Postponed], *, at: Instant | None = None
    ) -> list[RunId]:
        def work(tx: Transaction) -> list[RunId]:
            return gates.pass_gates(tx, passed, postponed, tx.now(at))

        return await self._writer.submit("pass_gates", work)

    async def watch(self, job_ids: Collection[JobId]) -> None:
        await self._writer.submit("watch", lambda tx: endings.watch(tx, self._project, job_ids))

    async def sights(
        self, job_ids: Collection[JobId], *, after: Instant, until: Instant
    ) -> dict[JobId, DependencyState]:
        return await self._reader.read(lambda session: endings.sights(session, self._project, job_ids, after, until))

    async def latest_end(
        self,
        job_id: JobId,
        statuses: Collection[Status],
        *,
        reasons: Collection[Reason] | None = None,
        until: Instant,
    ) -> End | None:
        return await self._reader.read(
            lambda session: endings.latest_end(session, self._project, job_id, statuses, reasons, until)
        )

    async def decisions(self, run_ids: Collection[RunId]) -> dict[RunId, bytes]:
        return await self._reader.read(lambda session: endings.read_decisions(session, run_ids))

    async def mark(self, marks: Mapping[RunId, RunId], *, at: Instant | None = None) -> dict[RunId, Marked]:
        def work(tx: Transaction) -> dict[RunId, Marked]:
            return mark_runs(tx, self._project, marks, tx.now(at))

        return await self._writer.submit("mark", work)

    async def get(self, run_ids: Collection[RunId]) -> dict[RunId, Run]:
        return await self._reader.read(lambda session: run_listing.get_runs(session, self._project, run_ids))

    async def page(self, only: RunFilter) -> list[Run]:
        return await self._reader.read(lambda session: run_listing.page_runs(session, self._project, only))

    async def overrides(self, run_id: RunId) -> bytes | None:
        return await self._reader.read(lambda session: run_listing.read_overrides(session, run_id))

    async def attempts(self, run_id: RunId) -> list[AttemptRecord]:
        return await self._reader.read(lambda session: run_listing.read_attempts(session, run_id))


def _release_due(tx: Transaction, limit: int, now: Instant) -> Released:
    rows = tx.rows(creation.SQL["due_runs"], (now, limit))
    if rows:
        last = rows[-1]
        tx.run(creation.SQL["release_until"], (last[_DUE_AT], last[_RUN_ID]))
        entries = [
            creation.Entry(run_id, queue, priority, due_at, bool(has_limits), bool(is_waiting))
            for due_at, run_id, queue, priority, has_limits, is_waiting in rows
        ]
        admission.admit_keys(tx, creation.place(tx, entries, now))
    return Released(len(rows), tx.value(creation.SQL["next_due"]))
