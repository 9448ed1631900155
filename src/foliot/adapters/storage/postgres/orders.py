"""Commands of people and programs about runs: create, cancel, answer, mark and report."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from foliot.adapters.storage.postgres.database.batcher import Batcher
from foliot.adapters.storage.postgres.database.transaction import Database, Transaction, divide, merge_lists
from foliot.adapters.storage.postgres.database.values import columns, is_storable, shared
from foliot.adapters.storage.postgres.rows.admit import Admitter
from foliot.adapters.storage.postgres.rows.cancel import cancel_runs, take_unstarted
from foliot.adapters.storage.postgres.rows.create import create_and_place
from foliot.adapters.storage.postgres.rows.definition import DefinitionReader
from foliot.adapters.storage.postgres.rows.end import end_unleased, follow_ends
from foliot.adapters.storage.postgres.rows.report import save_report
from foliot.adapters.storage.shared import changes, event_items
from foliot.adapters.storage.shared.documents import encode
from foliot.domain.access.trail import are_runs_recorded
from foliot.domain.alert import Alert
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import MarkAnswer, Marked, mark_key, mark_trigger
from foliot.domain.run.report import Report, ReportAnswer, Reported
from foliot.domain.run.run import PRIORITY_STEP, Ended, NewRun, Status
from foliot.domain.tree.settlement import SharedChange
from foliot.errors import Unstorable
from foliot.ports.orders import Created
from foliot.ports.topic import Topic, topics_of_ready

_DONE_BEFORE: Final = frozenset({CancelAnswer.TERMINAL, CancelAnswer.PENDING})
_ROUNDS: Final = 10


class PostgresOrders:
    """Fills `ports.orders.Orders`."""

    def __init__(self, database: Database, admitter: Admitter, definitions: DefinitionReader, project: str) -> None:
        self._database = database
        self._admitter = admitter
        self._definitions = definitions
        self._project = project
        self._are_runs_recorded = are_runs_recorded(database.actor)
        self._creating = Batcher[NewRun, Created](partial(self._create_all, at=None), key=lambda run: run.id)

    async def create(self, runs: Sequence[NewRun], *, at: Instant | None = None) -> list[Created]:
        """Create runs. Concurrent calls are saved together, in one transaction."""
        if not runs:
            return []
        return await self._creating.ask(runs) if at is None else await self._create_all(runs, at)

    async def _create_all(self, runs: Sequence[NewRun], at: Instant | None) -> list[Created]:
        if _are_plain(runs):
            with suppress(Unstorable):
                if await self._create_plain(runs, at):
                    return [Created(run.id, True) for run in runs]
        answers = dict(await divide(runs, partial(self._create_any, at=at)))
        return [answers.get(run.id) or Created(run.id, is_new=False) for run in runs]

    async def _create_plain(self, runs: Sequence[NewRun], at: Instant | None) -> bool:
        """Save with one statement (fast path). If one of the runs exists, is outdated, or cannot be stored, nothing is
        saved."""

        async def work(transaction: Transaction) -> bool:
            if transaction.is_repeat and await transaction.rows("existing_runs", [run.id for run in runs]):
                return True  # the commit with the lost reply was carried out
            is_saved = await _create_plain_runs(transaction, self._project, runs, at)
            if is_saved and self._are_runs_recorded:
                transaction.record(changes.created_runs(runs))
            return is_saved

        return await self._database.write("create", work, is_single=not self._are_runs_recorded)

    async def _create_any(self, runs: Sequence[NewRun], at: Instant | None) -> list[tuple[RunId, Created]]:
        async def work(transaction: Transaction) -> list[tuple[RunId, Created]]:
            now = await transaction.now(at)
            outdated = await _outdated(transaction, self._project, runs)
            current = [run for run in runs if run.id not in outdated]
            fresh, owners = await create_and_place(transaction, self._project, current, now)
            if self._are_runs_recorded:
                transaction.record(changes.created_runs(fresh))
            # After a commit with a lost reply, the runs may exist because that commit created them.
            new = {run.id for run in (runs if transaction.is_repeat else fresh)}
            answers = [(run.id, _created(run.id, owners.get(run.id, run.id), new)) for run in current]
            return answers + [(run_id, Created(run_id, is_new=False, is_outdated=True)) for run_id in outdated]

        return await self._admitter.write("create", work, at)

    async def cancel(self, run_ids: Collection[RunId], *, at: Instant | None = None) -> dict[RunId, CancelAnswer]:
        if not run_ids:
            return {}

        async def work(transaction: Transaction) -> dict[RunId, CancelAnswer]:
            answers = await cancel_runs(transaction, run_ids, await transaction.now(at))
            transaction.record(changes.cancelled_runs(answers))
            return answers

        return await self._admitter.write("cancel", work, at, merge=_merge_cancels)

    async def answer(self, answers: Mapping[RunId, Ended], *, at: Instant | None = None) -> list[RunId]:
        if not answers:
            return []

        async def work(transaction: Transaction) -> list[RunId]:
            now = await transaction.now(at)
            taken = set(await take_unstarted(transaction, answers))
            endings = {run_id: ended for run_id, ended in answers.items() if run_id in taken}
            await end_unleased(transaction, endings, now)
            transaction.record(changes.answered_runs(endings))
            return list(endings)

        return await self._admitter.write("answer", work, at, merge=merge_lists)

    async def mark(self, marks: Mapping[RunId, RunId], *, at: Instant | None = None) -> dict[RunId, Marked]:
        if not marks:
            return {}

        async def work(transaction: Transaction) -> dict[RunId, Marked]:
            answers = await _mark_runs(transaction, marks, await transaction.now(at))
            transaction.record(changes.marked_runs(answers))
            return answers

        return await self._admitter.write("mark", work, at, merge=_merge_marks)

    async def report(self, report: Report, *, at: Instant | None = None) -> Reported:
        if not is_storable(report.key):
            return Reported(ReportAnswer.NOT_FOUND)
        work = partial(save_report, definitions=self._definitions, project=self._project, report=report, at=at)
        return await self._admitter.write("report", work, at, merge=_merge_reports)

    async def change_class(
        self, change: SharedChange, cancels: Collection[RunId], alerts: Sequence[Alert], *, at: Instant | None = None
    ) -> bool:
        work = partial(_change_class, project=self._project, change=change, cancels=cancels, raised=list(alerts), at=at)
        return await self._admitter.write("change_class", work, at)


async def _change_class(
    transaction: Transaction,
    *,
    project: str,
    change: SharedChange,
    cancels: Collection[RunId],
    raised: Sequence[Alert],
    at: Instant | None,
) -> bool:
    now = await transaction.now(at)
    if change.version == 0:
        await transaction.run("add_class", project, change.key)
    rows = await transaction.rows("lock_class", project, change.key)
    body = change.body.decode()
    if transaction.is_repeat and [tuple(row) for row in rows] == [(change.version + 1, body)]:
        return True  # the commit with the lost reply was carried out
    if not rows or rows[0]["version"] != change.version:
        return False
    await transaction.run("change_shared", project, [change.key], [body])
    if cancels:
        await cancel_runs(transaction, cancels, now)
    transaction.add_event(EventKind.ALERT_RAISED, event_items.alerts(raised))
    transaction.record(changes.changed_class(change.key, cancels, raised))
    return True


async def _outdated(transaction: Transaction, project: str, runs: Sequence[NewRun]) -> list[RunId]:
    """Return the runs whose job has changed since they were made. In a repeat they may exist, and count as current."""
    made_from = list({(run.job_id, run.job_revision) for run in runs if run.job_revision is not None})
    if not made_from or transaction.is_repeat:
        return []
    found = {tuple(row) for row in await transaction.rows("outdated_jobs", project, *columns(made_from))}
    return [run.id for run in runs if (run.job_id, run.job_revision) in found] if found else []


def _created(asked: RunId, owner: RunId, new: Collection[RunId]) -> Created:
    return Created(owner, is_new=owner == asked and asked in new)


# After a commit with a lost reply, the second try finds the results of the first one.


def _merge_cancels(first: dict[RunId, CancelAnswer], second: dict[RunId, CancelAnswer]) -> dict[RunId, CancelAnswer]:
    return {
        run_id: first.get(run_id, answer) if answer in _DONE_BEFORE else answer for run_id, answer in second.items()
    }


def _merge_marks(first: dict[RunId, Marked], second: dict[RunId, Marked]) -> dict[RunId, Marked]:
    return {
        run_id: first.get(run_id, marked) if marked.answer is MarkAnswer.SUCCESS else marked
        for run_id, marked in second.items()
    }


def _merge_reports(first: Reported, second: Reported) -> Reported:
    return first if second.answer is ReportAnswer.REPEATED else second


# -- plain runs, in one statement


def _are_plain(runs: Sequence[NewRun]) -> bool:
    """Whether the runs have no dedupe key, limit, gate, parent, tick or definition of their own."""
    if not all(
        run.dedupe_key is None and run.parent_id is None and run.tick is None and not run.is_gated for run in runs
    ) or any(run.definition_id is not None for run in runs):
        return False
    different = {id(run.options): run for run in runs}
    return not any(run.limits for run in different.values())


async def _create_plain_runs(
    transaction: Transaction, project: str, runs: Sequence[NewRun], at: Instant | None
) -> bool:
    """Store plain runs and place them, or return False if one is outdated. Raises for a run that exists already."""
    options = [run.options for run in runs]
    due = [run.due_at for run in runs]
    arrays, values = shared(
        [
            *([run.job_id for run in runs], [one.lane for one in options], [one.priority for one in options]),
            *([run.trigger for run in runs], due, _texts([run.payload for run in runs])),
            *(_texts([run.overrides for run in runs]), [run.scheduled_for for run in runs]),
        ]
    )
    event = EventKind.RUNS_CREATED.value, encode(event_items.created(runs))
    ids = [run.id for run in runs]
    made_from = columns({(run.job_id, run.job_revision) for run in runs if run.job_revision is not None}) or [[], []]
    asked = transaction.clock.elapsed()
    given = project, at, PRIORITY_STEP, *event, ids, *arrays, *values, *made_from
    [(now, is_outdated)] = await transaction.rows("create_plain_runs", *given)
    if at is None:
        transaction.clock.learn(now, asked)
    if is_outdated:
        return False
    transaction.topics.add(Topic.EVENTS)
    transaction.topics |= topics_of_ready(one.lane for one in options) if min(due) <= now else set()
    transaction.topics |= {Topic.LATER} if max(due) > now else set()
    return True


def _texts(documents: Sequence[bytes | None]) -> list[object]:
    return [None if document is None else document.decode() for document in documents]


# -- marks (`domain.run.mark`)


async def _mark_runs(transaction: Transaction, marks: Mapping[RunId, RunId], now: Instant) -> dict[RunId, Marked]:
    """Mark runs. As in `rows.cancel`, a run that moves meanwhile is found in the next round."""
    answers = {run_id: Marked(MarkAnswer.NOT_FOUND, run_id) for run_id in marks if not is_storable(run_id)}

    def unanswered() -> list[RunId]:
        return [run_id for run_id in marks if run_id not in answers]

    for _ in range(_ROUNDS):
        answers |= await _mark_unstarted(transaction, unanswered(), now)
        for query in ("leased_runs", "open_trees"):
            running = await transaction.column(query, unanswered())
            answers |= {run_id: Marked(MarkAnswer.RUNNING, run_id) for run_id in running}
        answers |= await _mark_ended(transaction, unanswered(), marks, now)
        if len(answers) == len(marks):
            break
    # A run that moved between two places in every round is running.
    return {run_id: answers.get(run_id, Marked(MarkAnswer.RUNNING, run_id)) for run_id in marks}


async def _mark_unstarted(transaction: Transaction, run_ids: list[RunId], now: Instant) -> dict[RunId, Marked]:
    taken = await take_unstarted(transaction, run_ids)
    if taken:
        ended = await transaction.rows("end_marked", taken, now)
        transaction.add_event(EventKind.RUNS_ENDED, event_items.marked(dict(ended)))
        await follow_ends(transaction, taken)
    return {run_id: Marked(MarkAnswer.MARKED, run_id) for run_id in taken}


async def _mark_ended(
    transaction: Transaction, run_ids: list[RunId], marks: Mapping[RunId, RunId], now: Instant
) -> dict[RunId, Marked]:
    stored = dict(await transaction.rows("run_statuses", run_ids)) if run_ids else {}
    answers = {run_id: Marked(MarkAnswer.NOT_FOUND, run_id) for run_id in run_ids if run_id not in stored}
    for run_id, status in stored.items():
        if status == Status.SUCCESS:
            answers[run_id] = Marked(MarkAnswer.SUCCESS, run_id)
        elif status != Status.SCHEDULED:
            answers[run_id] = await _substitute(transaction, run_id, marks[run_id], now)
    return answers


async def _substitute(transaction: Transaction, run_id: RunId, new_id: RunId, now: Instant) -> Marked:
    """Return the substitute of an ended run: the existing one, or a new one."""
    known = await _take_mark(transaction, run_id, new_id)
    if known is not None:
        return Marked(MarkAnswer.SUCCESS, known)
    job_id = await transaction.value("add_substitute", run_id, new_id, mark_trigger(run_id), now)
    transaction.add_event(EventKind.RUNS_CREATED, [[new_id, job_id]])
    transaction.add_event(EventKind.RUNS_ENDED, event_items.marked({new_id: 0}))
    await follow_ends(transaction, [new_id])
    return Marked(MarkAnswer.RECORDED, new_id)


async def _take_mark(transaction: Transaction, run_id: RunId, new_id: RunId) -> RunId | None:
    """Return the existing substitute of a run. None: `new_id` is its substitute now."""
    key = mark_key(run_id)
    if await transaction.value("take_mark", run_id, key, new_id) is not None:
        return None
    for known, is_kept in await transaction.rows("substitute", run_id, key):
        if is_kept:
            return RunId(known)
    await transaction.run("retake_mark", run_id, key, new_id)
    return None
