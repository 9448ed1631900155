"""The runs of a PostgreSQL storage."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from foliot.adapters.storage.definitions import Reference, gated_of
from foliot.adapters.storage.documents import read_overrides
from foliot.adapters.storage.postgres import endings, gates
from foliot.adapters.storage.postgres.admission import Admission
from foliot.adapters.storage.postgres.cancelling import cancel_runs
from foliot.adapters.storage.postgres.creating import are_plain, create_plain_runs, create_runs
from foliot.adapters.storage.postgres.database import Database, Transaction, divide, merge_lists
from foliot.adapters.storage.postgres.definitions import DefinitionReader
from foliot.adapters.storage.postgres.gathering import Gathering
from foliot.adapters.storage.postgres.marking import mark_runs
from foliot.adapters.storage.postgres.placing import Standing, place
from foliot.adapters.storage.run_rows import attempt_of, run_of
from foliot.domain.gate.decision import DependencyState, End, Gated, Passed, Postponed
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.lease import CancelAnswer
from foliot.domain.run.mark import MarkAnswer, Marked
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import TERMINAL, AttemptRecord, Ended, NewRun, Run, Status
from foliot.errors import Unstorable
from foliot.ports.runs import Created, Released, RunFilter
from foliot.ports.topic import topics_of_ready

_TROUBLE: Final = TERMINAL - {Status.SUCCESS}
_SETTLED_ANSWERS: Final = frozenset({CancelAnswer.TERMINAL, CancelAnswer.PENDING})


class PostgresRuns:
    """Fills `ports.runs.RunStore`."""

    def __init__(self, database: Database, admission: Admission, definitions: DefinitionReader, project: str) -> None:
        self._database = database
        self._admission = admission
        self._definitions = definitions
        self._project = project
        self._creating = Gathering[NewRun, Created](partial(self._create_all, at=None), key=lambda run: run.id)

    # -- coming into being

    async def create(self, runs: Sequence[NewRun], *, at: Instant | None = None) -> list[Created]:
        """Calls of one process that come while another is under way are saved together, in one transaction."""
        if not runs:
            return []
        return await self._creating.ask(runs) if at is None else await self._create_all(runs, at)

    async def _create_all(self, runs: Sequence[NewRun], at: Instant | None) -> list[Created]:
        if are_plain(runs):
            with suppress(Unstorable):
                return await self._create_plain(runs, at)
        answers = dict(await divide(runs, partial(self._create_any, at=at)))
        return [answers.get(run.id) or Created(run.id, is_new=False) for run in runs]

    async def _create_plain(self, runs: Sequence[NewRun], at: Instant | None) -> list[Created]:
        """The short way. Should one of them be there already, or be bad data, nothing is saved."""

        async def work(transaction: Transaction) -> None:
            if transaction.is_repeat and await transaction.rows("existing_runs", [run.id for run in runs]):
                return  # the commit in doubt was carried out
            await create_plain_runs(transaction, self._project, runs, at)

        await self._database.write("create", work, is_single=True)
        return [Created(run.id, True) for run in runs]

    async def _create_any(self, runs: Sequence[NewRun], at: Instant | None) -> list[tuple[RunId, Created]]:
        async def work(transaction: Transaction) -> tuple[list[tuple[RunId, Created]], set[str]]:
            now = await transaction.now(at)
            are_ready = not any(run.is_gated for run in runs)
            fresh, owners = await create_runs(transaction, self._project, runs, now, are_ready=are_ready)
            await (_place_others if are_ready else _place)(transaction, fresh, now)
            # After a commit in doubt the runs may be there because we made them.
            new = {run.id for run in (runs if transaction.is_repeat else fresh)}
            return [(run.id, _answer(run.id, owners.get(run.id, run.id), new)) for run in runs], transaction.keys

        answers, keys = await self._database.write("create", work)
        await self._admission.follow(keys, at)
        return answers

    async def release_due(self, limit: int, *, at: Instant | None = None) -> Released:
        released, keys = await self._database.write("release_due", partial(_release_due, limit=limit, at=at))
        await self._admission.follow(keys, at)
        return released

    async def admit(self, limit: int, *, at: Instant | None = None) -> int:
        return await self._admission.sweep(limit, at)

    async def ready(self, queue: str, limit: int) -> list[RunId]:
        return [row[0] for row in await self._database.rows("ready_runs", queue, limit)]

    # -- being ended by people and programs

    async def cancel(self, run_ids: Collection[RunId], *, at: Instant | None = None) -> dict[RunId, CancelAnswer]:
        if not run_ids:
            return {}

        async def work(transaction: Transaction) -> tuple[dict[RunId, CancelAnswer], set[str]]:
            return await cancel_runs(transaction, run_ids, await transaction.now(at)), transaction.keys

        answers, keys = await self._database.write("cancel", work, merge=_merge_cancels)
        await self._admission.follow(keys, at)
        return answers

    async def answer(self, answers: Mapping[RunId, Ended], *, at: Instant | None = None) -> list[RunId]:
        if not answers:
            return []

        async def work(transaction: Transaction) -> tuple[list[RunId], set[str]]:
            return await gates.answer(transaction, answers, await transaction.now(at)), transaction.keys

        answered, keys = await self._database.write("answer", work, merge=merge_lists)
        await self._admission.follow(keys, at)
        return answered

    # -- gates

    async def gated(self, limit: int, *, at: Instant | None = None) -> tuple[Instant, list[Gated]]:
        now = await self._database.now(at)
        rows = await self._database.rows("gated_runs", now, limit)
        references = [Reference(row[1], *row[4:]) for row in rows]
        known = await self._definitions.find(self._database, set(references)) if rows else {}
        return now, [gated_of(row, known[reference.id]) for row, reference in zip(rows, references, strict=True)]

    async def pass_gates(
        self, passed: Sequence[Passed], postponed: Sequence[Postponed], *, at: Instant | None = None
    ) -> list[RunId]:
        async def work(transaction: Transaction) -> tuple[list[RunId], set[str]]:
            now = await transaction.now(at)
            return await gates.pass_gates(transaction, passed, postponed, now), transaction.keys

        done, keys = await self._database.write("pass_gates", work, merge=merge_lists)
        await self._admission.follow(keys, at)
        return done

    async def watch(self, job_ids: Collection[JobId]) -> None:
        if job_ids:
            work = partial(endings.watch, project=self._project, job_ids=job_ids)
            await self._database.write("watch", work)

    async def sights(
        self, job_ids: Collection[JobId], *, after: Instant, until: Instant
    ) -> dict[JobId, DependencyState]:
        return await endings.sights(self._database, self._project, job_ids, after, until)

    async def latest_end(
        self,
        job_id: JobId,
        statuses: Collection[Status],
        *,
        reasons: Collection[Reason] | None = None,
        until: Instant,
    ) -> End | None:
        return await endings.latest_end(self._database, self._project, job_id, statuses, reasons, until)

    async def decisions(self, run_ids: Collection[RunId]) -> dict[RunId, bytes]:
        return {row[0]: row[1].encode() for row in await self._database.rows("decisions", list(run_ids))}

    async def mark(self, marks: Mapping[RunId, RunId], *, at: Instant | None = None) -> dict[RunId, Marked]:
        if not marks:
            return {}

        async def work(transaction: Transaction) -> tuple[dict[RunId, Marked], set[str]]:
            return await mark_runs(transaction, marks, await transaction.now(at)), transaction.keys

        answers, keys = await self._database.write("mark", work, merge=_merge_marks)
        await self._admission.follow(keys, at)
        return answers

    # -- being looked at

    async def get(self, run_ids: Collection[RunId]) -> dict[RunId, Run]:
        if not run_ids:
            return {}
        runs = [run_of(self._project, row) for row in await self._database.rows("get_runs", list(run_ids))]
        return {run.id: run for run in runs}

    async def page(self, only: RunFilter) -> list[Run]:
        rows = await self._database.rows(*page_statement(self._project, only))
        found = await self.get([row[0] for row in rows])
        return [found[row[0]] for row in rows if row[0] in found]

    async def overrides(self, run_id: RunId) -> bytes | None:
        return read_overrides(await self._database.value("overrides", run_id), run_id)

    async def attempts(self, run_id: RunId) -> list[AttemptRecord]:
        return [attempt_of(row) for row in await self._database.rows("attempts", run_id)]


def _answer(asked: RunId, owner: RunId, new: Collection[RunId]) -> Created:
    return Created(owner, is_new=owner == asked and asked in new)


async def _place(transaction: Transaction, runs: Sequence[NewRun], now: Instant) -> None:
    await place(transaction, [Standing.of_new(run) for run in runs], now)


async def _place_others(transaction: Transaction, runs: Sequence[NewRun], now: Instant) -> None:
    """Put those runs into their place that did not become ready when they were stored."""
    standings = [Standing.of_new(run) for run in runs]
    others = [run for run in standings if _has_to_wait(run, now)]
    await place(transaction, others, now)
    transaction.topics |= topics_of_ready(run.queue for run in standings if not _has_to_wait(run, now))


def _has_to_wait(run: Standing, now: Instant) -> bool:
    return run.due_at > now or bool(run.limits) or run.is_gated


async def _release_due(transaction: Transaction, *, limit: int, at: Instant | None) -> tuple[Released, set[str]]:
    now = await transaction.now(at)
    rows = await transaction.rows("take_due", now, limit)
    # A run that waits for its turn is due and stays where it is: its turn will find it.
    free = [row[:5] for row in rows if not row["is_waiting"]]
    free += await _turned(transaction, [row["id"] for row in rows if row["is_waiting"]])
    await place(transaction, [Standing.of_row(*row) for row in free], now)
    return Released(len(rows), await transaction.value("next_due")), transaction.keys


async def _turned(transaction: Transaction, run_ids: list[RunId]) -> list[Any]:
    """Those whose turn has come at this very moment, while they still were for later: nobody else will place them."""
    if not run_ids:
        return []
    await transaction.rows("lock_limits", sorted(await transaction.column("held_keys", run_ids)))
    return await transaction.rows("passed_runs", run_ids)


def _merge_cancels(
    first: tuple[dict[RunId, CancelAnswer], set[str]], second: tuple[dict[RunId, CancelAnswer], set[str]]
) -> tuple[dict[RunId, CancelAnswer], set[str]]:
    """What the first try did, the second one finds done."""
    answers = {
        run_id: first[0].get(run_id, answer) if answer in _SETTLED_ANSWERS else answer
        for run_id, answer in second[0].items()
    }
    return answers, first[1] | second[1]


def _merge_marks(
    first: tuple[dict[RunId, Marked], set[str]], second: tuple[dict[RunId, Marked], set[str]]
) -> tuple[dict[RunId, Marked], set[str]]:
    """What the first try did, the second one finds done."""
    answers = {
        run_id: first[0].get(run_id, marked) if marked.answer is MarkAnswer.SUCCESS else marked
        for run_id, marked in second[0].items()
    }
    return answers, first[1] | second[1]


def page_statement(project: str, only: RunFilter) -> tuple[Any, ...]:
    """The name of the statement for a filter, and its values: it finds the ids of the runs."""
    values = (project, only.before, only.limit, only.job_id, only.schedule_id, only.status)
    return (_page_query(only), *values) if only.root_id is None else ("page_parts", *values, only.root_id)


def _page_query(only: RunFilter) -> str:
    if only.status is not None and not only.status.is_terminal:
        return "page_live"
    is_trouble = only.status in _TROUBLE
    if only.schedule_id is not None:
        return "page_schedule_trouble" if is_trouble else "page_schedule"
    if only.job_id is not None:
        return "page_job_trouble" if is_trouble else "page_job"
    return "page_trouble" if is_trouble else "page_project"
