"""`verify` finds each kind of corruption that is written into the database with SQL, and names its fault.

And it finds no fault in sound ledgers.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

import apsw
import pytest

from foliot.adapters.storage.postgres import open_postgres
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.audit import Fault, Finding
from foliot.domain.ids import IdSource, JobId
from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Instant, Millis, later
from foliot.domain.schedule.firing import SchedulerSettings
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.domain.schedule.tick import JitterMode
from foliot.errors import RowUnreadable
from foliot.service.queries import verify as verifying
from foliot.service.queries.verify import verify, verify_rows
from foliot.testing import builders
from foliot.testing.builders import NIGHTLY, cron, every, once, retention, succeeded
from foliot.testing.clock import START, VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.conformance.storage.workflows import a_workflow
from tests.adapters.storage.postgres.fresh import fresh_database

BEGINNING = Instant(0)


class Stage(NamedTuple):
    """A scene, and a way to write behind its back. What is written says RETURNING, and changes something.

    DOCUMENT in it is the type of payloads.
    """

    scene: Scene
    write: Callable[[str], str]

    async def findings(self, since: Instant = BEGINNING) -> list[Finding]:
        """Return the findings of `foliot verify`."""
        ledgers = [finding async for found in verify(self.scene.storage, since) for finding in found.findings]
        rows = [finding async for found in verify_rows(self.scene.storage, since) for finding in found.findings]
        return ledgers + rows


@pytest.fixture(params=["sqlite", "postgres"])
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    on = on_sqlite(tmp_path / "foliot.db") if request.param == "sqlite" else on_postgres()
    async with on as stage:
        yield stage


@asynccontextmanager
async def on_sqlite(path: Path) -> AsyncIterator[Stage]:
    clock = VirtualClock()
    storage = await SqliteStorage.open(path, clock=clock, inline=True, synchronous="NORMAL")

    def write(sql: str) -> str:
        connection = apsw.Connection(str(path))
        rows = list(connection.execute(sql.replace("DOCUMENT", "BLOB")))
        connection.close()
        return str(rows or "")

    yield Stage(Scene(storage, clock), write)
    await storage.close()


@asynccontextmanager
async def on_postgres() -> AsyncIterator[Stage]:
    with fresh_database() as (server, name):
        async with await open_postgres(server.dsn(name)) as storage:
            yield Stage(
                Scene(storage, VirtualClock()),
                lambda sql: server.sql(f"SET search_path = foliot; {sql.replace('DOCUMENT', 'TEXT')}", database=name),
            )


def make_ids_by_the_clock(monkeypatch: pytest.MonkeyPatch, scene: Scene) -> None:
    """Runs are looked for by their ids since a moment, so ids must have the time of the scene, as they have in use."""
    ids = IdSource(count(1).__next__)
    monkeypatch.setattr(builders, "an_id", lambda: ids.make(scene.now))


# -- what happened before somebody lied


async def ran(scene: Scene) -> None:
    """Five minutes with one run each."""
    await scene.schedule(every(60))
    await work(scene, 5)


async def missed(scene: Scene) -> None:
    """A missed hour without catch-up."""
    await scene.schedule(every(60))
    await scene.fire_after(HOUR + MINUTE)


async def caught_up(scene: Scene) -> None:
    """A missed hour that one run catches up."""
    await scene.schedule(every(60, catchup=Catchup.ONCE))
    await scene.fire_after(HOUR)
    await work(scene, 2)


async def skipped(scene: Scene) -> None:
    """Five minutes with one run that lasts the whole time."""
    await scene.schedule(every(60))
    for _ in range(5):
        await scene.fire_after(MINUTE)


async def paused(scene: Scene) -> None:
    """Two minutes, a pause of five, and two more."""
    await scene.schedule(every(60))
    await work(scene, 2)
    await scene.pause(paused=True)
    scene.clock.advance(5 * MINUTE)
    await scene.pause(paused=False)
    await scene.fire()
    await work(scene, 2)


async def jittered(scene: Scene) -> None:
    """Three minutes, and a planned tick that waits for its jittered time."""
    await scene.schedule(every(60, jitter=Millis(29 * SECOND), jitter_mode=JitterMode.AFTER, catchup=Catchup.ALL))
    for _ in range(6):
        await scene.fire_after(30 * SECOND)
        await scene.finish(*[succeeded(claim) for claim in await scene.claim()])
    await scene.fire_after(30 * SECOND)
    await scene.fire_after(30 * SECOND)
    assert (await scene.storage.queries.ledgers())[0].planned


async def missed_jittered(scene: Scene) -> None:
    """A missed hour with jitter."""
    await scene.schedule(every(60, jitter=Millis(20 * SECOND)))
    await scene.fire_after(MINUTE)
    await scene.fire_after(HOUR)
    await scene.fire_after(MINUTE)


async def edited(scene: Scene) -> None:
    """Three minutes, and two with another rule."""
    await ran(scene)
    await scene.schedule(every(60, overlap=Overlap.ALLOW))
    await work(scene, 3)


async def pruned(scene: Scene) -> None:
    """Two days, of which the older one is pruned."""
    await scene.schedule(every(3600))
    for _ in range(48):
        await scene.fire_after(HOUR)
        await scene.finish(*[succeeded(claim) for claim in await scene.claim()])
    assert (await scene.prune(retention(ticks_age=DAY))).ticks


async def full(scene: Scene) -> None:
    """Three missed hours that one run catches up when the queue has room."""
    await scene.schedule(every(60, catchup=Catchup.ONCE, overlap=Overlap.QUEUE))
    await scene.fire_after(MINUTE)
    scene.clock.advance(3 * HOUR)
    await scene.fire(SchedulerSettings(max_waiting=0))


async def deleted(scene: Scene) -> None:
    await jittered(scene)
    await scene.storage.definitions.delete_schedules([(await scene.stored()).id], at=scene.now)


async def resumed(scene: Scene) -> None:
    """A pause that has ended, without a scheduler round since."""
    await paused(scene)
    await scene.pause(paused=True)
    scene.clock.advance(10 * MINUTE)
    await scene.pause(paused=False)


async def renamed(scene: Scene) -> None:
    """A job that was renamed twice with its schedule; the second name is not stored."""
    await scene.schedule(every(60, jitter=Millis(10 * SECOND)), schedule_id="report:often")
    for name in ("digest", "summary"):
        await work(scene, 2)
        await scene.fire_after(MINUTE)
        [old] = await scene.storage.definitions.page_schedules()
        await scene.storage.definitions.rename_jobs({old.revision.spec.target: JobId(name)}, at=scene.now)
    await work(scene, 2)
    assert [schedule.id for schedule in await scene.storage.definitions.page_schedules()] == ["summary:often"]


async def made_anew(scene: Scene) -> None:
    """A deleted schedule and its successor with the same id."""
    await deleted(scene)
    await ran(scene)


async def spread(scene: Scene) -> None:
    """A missed hour that is partly caught up with `spread`."""
    await scene.schedule(every(60, catchup=Catchup.SPREAD, overlap=Overlap.ALLOW))
    await scene.fire_after(HOUR)
    await scene.fire_after(20 * SECOND)


async def superseded(scene: Scene) -> None:
    """A missed hour of which only the newest tick runs, and one that was too old."""
    spec = every(60, catchup=Catchup.ALL, overlap=Overlap.CANCEL_RUNNING, catchup_max_age=Millis(30 * MINUTE))
    await scene.schedule(spec)
    await scene.fire_after(HOUR)
    await scene.fire_after(MINUTE)


async def over(scene: Scene) -> None:
    """A one-shot that has fired."""
    await scene.schedule(once(later(START, MINUTE)))
    await work(scene, 2)


async def queued(scene: Scene) -> None:
    """A full queue that has room again later."""
    await full(scene)
    for _ in range(3):
        await scene.finish(*[succeeded(claim) for claim in await scene.claim()])
        await scene.fire_after(MINUTE)


async def forgotten(scene: Scene) -> None:
    """Runs of which only the newest are retained."""
    await ran(scene)
    assert (await scene.prune(retention(runs_per_job=2))).runs == 3


async def stepped_back(scene: Scene) -> None:
    """A clock that is set back while the schedule is paused and edited."""
    await ran(scene)
    scene.clock.step(Millis(-3 * MINUTE))
    await scene.pause(paused=True)
    await scene.schedule(every(60, overlap=Overlap.ALLOW))
    scene.clock.advance(10 * MINUTE)
    await scene.pause(paused=False)
    await scene.fire()
    await work(scene, 2)


async def by_cron(scene: Scene) -> None:
    """Five minutes with a cron rule."""
    await scene.schedule(cron("* * * * *"))
    await work(scene, 5)


async def work(scene: Scene, rounds: int) -> None:
    """Fire each minute, and finish every run before the next tick."""
    for _ in range(rounds):
        await scene.fire_after(MINUTE)
        await scene.finish(*[succeeded(claim) for claim in await scene.claim()])


STORIES: Final = (
    *(ran, missed, missed_jittered, caught_up, skipped, paused, resumed, jittered, edited, pruned, full, queued),
    *(deleted, made_anew, renamed, spread, superseded, over, forgotten, stepped_back, by_cron),
)


# -- the lies


class Lie(NamedTuple):
    about: str
    story: Callable[[Scene], Awaitable[None]]
    sql: str
    faults: tuple[Fault, ...]


def at(minutes: int) -> int:
    return START + minutes * MINUTE


def change(columns: str, minute: int | None = None, table: str = "ticks") -> str:
    where = "" if minute is None else f" WHERE scheduled_for = {at(minute)}"
    return f"UPDATE {table} SET {columns}{where} RETURNING 1"


def change_schedule(columns: str) -> str:
    return change(columns, table="schedules")


def add_tick(first: int, last: int, *, count: int = 1) -> str:
    key = "'0'" if first == last else "NULL"
    return (
        'INSERT INTO ticks (uid, scheduled_for, "until", count, outcome, reason, fire_at, revision, key, decided_at)'
        f" SELECT uid, {first}, {last}, {count}, 'missed', 'down', {first}, 1, {key}, 0 FROM schedules RETURNING 1"
    )


def run_of(minute: int) -> str:
    return f"(SELECT t.run_id FROM ticks t WHERE t.scheduled_for = {at(minute)})"


def change_run(columns: str, minute: int = 3) -> str:
    return f"UPDATE runs SET {columns} WHERE id = {run_of(minute)} RETURNING 1"


COPY_OF_A_RUN = (
    "INSERT INTO runs (id, project, job_id, queue, priority, trigger, status, due_at, created_at, finished_at, attempt,"
    " lost, schedule_uid, schedule_id, scheduled_for, tick_key) SELECT '7ZZZZZZZZZZZZZZZZZZZZZZZZZ', project, job_id,"
    " queue, priority, trigger, status, due_at, created_at, finished_at, attempt, lost, schedule_uid, schedule_id,"
    " scheduled_for + {}, tick_key FROM runs WHERE id = {} RETURNING 1"
)
NIGHTLY_UID: Final = "(SELECT s.uid FROM schedules s WHERE s.id = 'nightly')"
FAR: Final = 4_000_000_000_000

LIES = (
    # rows and moments
    Lie("a row is removed", ran, f"DELETE FROM ticks WHERE scheduled_for = {at(3)} RETURNING 1",
        (Fault.MISSING, Fault.UNRECORDED_RUN)),
    Lie("the newest row is removed", skipped, f"DELETE FROM ticks WHERE scheduled_for = {at(5)} RETURNING 1",
        (Fault.MISSING,)),
    Lie("a row is invented", missed, add_tick(at(3) + 7_000, at(3) + 9_000), (Fault.DOUBLED, Fault.INVENTED)),
    Lie("a row is older than its schedule", ran, add_tick(at(-3), at(-3) + 1), (Fault.INVENTED,)),
    Lie("a row is moved off its moment", skipped,
        change(f'scheduled_for = {at(3) + 1000}, "until" = {at(3) + 1000}', 3),
        (Fault.INVENTED, Fault.MISSING, Fault.MISTIMED, Fault.WRONG_KEY)),
    Lie("ranges overlap", missed, add_tick(at(20), at(30), count=11), (Fault.DOUBLED,)),
    Lie("a range counts more", missed, change("count = count + 1", 1), (Fault.MISCOUNTED,)),
    Lie("a range counts less", missed, change("count = count - 1", 1), (Fault.MISCOUNTED,)),
    Lie("a single row counts two", skipped, change("count = 2", 3), (Fault.IMPOSSIBLE, Fault.MISCOUNTED)),
    Lie("a range ends between two moments", missed, change('"until" = "until" + 1000', 1), (Fault.INVENTED,)),
    Lie("a row is beyond the watermark", ran, add_tick(at(6), at(6) + 1), (Fault.BEYOND_WATERMARK,)),
    Lie("a range reaches beyond the watermark", missed, change('"until" = "until" + 120000, count = count + 2', 1),
        (Fault.BEYOND_WATERMARK, Fault.DOUBLED)),
    Lie("the watermark is set back", ran, change_schedule(f"settled_until = {at(4)}"),
        (Fault.BEYOND_WATERMARK, Fault.OVERSLEEPS, Fault.WRONG_NEXT)),
    Lie("the watermark is set forward", ran, change_schedule(f"settled_until = {at(7)}"),
        (Fault.MISSING, Fault.WRONG_NEXT)),
    Lie("the watermark is between two moments", ran, change_schedule(f"settled_until = {at(5) + SECOND}"),
        (Fault.WRONG_WATERMARK,)),
    # what rows say
    Lie("a tick that ran is called missed", caught_up,
        change("outcome = 'missed', reason = 'down', run_id = NULL", 60),
        (Fault.IMPOSSIBLE, Fault.LEADS_NOWHERE, Fault.UNRECORDED_RUN)),
    Lie("a missed hour is called overlap", missed, change("outcome = 'skipped', reason = 'overlap'", 1),
        (Fault.IMPOSSIBLE,)),
    Lie("a reason does not go with its outcome", ran, change("reason = 'overlap'", 3), (Fault.IMPOSSIBLE,)),
    Lie("a reason does not exist", ran, change("reason = 'fate'", 3), (Fault.UNREADABLE,)),
    Lie("the rule is no document", ran, change_schedule("spec = '{oops'"), (Fault.UNREADABLE,)),
    Lie("the rule is no rule", ran, change_schedule("spec = '7'"), (Fault.UNREADABLE,)),
    Lie("the rule is one that cannot be kept", ran, change_schedule("spec = replace(spec, '\"60\"', '\"soon\"')"),
        (Fault.UNREADABLE,)),
    Lie("a revision is no document", edited, change("spec = '{oops'", table="revisions"), (Fault.UNREADABLE,)),
    Lie("a revision cannot be kept", edited, change("spec = replace(spec, '\"60\"', '\"soon\"')", table="revisions"),
        (Fault.UNREADABLE,)),
    Lie("a revision has no such minute", by_cron, change("spec = replace(spec, '* * * * *', '99 * * * *')",
        table="revisions"), (Fault.UNREADABLE,)),
    Lie("a payload is no document", ran, change_run("payload = CAST('{oops' AS DOCUMENT)"), (Fault.UNREADABLE,)),
    Lie("a run names a moment that no calendar has", ran, change_run("scheduled_for = 9000000000000000"),
        (Fault.UNREADABLE,)),
    Lie("a tick is called cancelled with its schedule", skipped,
        change("outcome = 'cancelled', reason = 'deleted'", 3), (Fault.IMPOSSIBLE,)),
    Lie("a tick is called superseded", skipped, change("outcome = 'cancelled', reason = 'superseded'", 3),
        (Fault.IMPOSSIBLE,)),
    Lie("a missed hour is called too old", missed, change("reason = 'too_old'", 1), (Fault.IMPOSSIBLE,)),
    Lie("a skipped tick is called paused", skipped, change("reason = 'paused'", 3), (Fault.PAUSE_MISMATCH,)),
    Lie("a pause is called overlap", paused, change("reason = 'overlap'", 3),
        (Fault.IMPOSSIBLE, Fault.PAUSE_MISMATCH)),
    Lie("a pause is forgotten", paused, "DELETE FROM pauses RETURNING 1", (Fault.PAUSE_MISMATCH,)),
    Lie("a pause is invented", ran, f"INSERT INTO pauses SELECT uid, {at(2)}, {at(4)} FROM schedules RETURNING 1",
        (Fault.RAN_WHILE_PAUSED,)),
    Lie("a row names another revision", edited, change("revision = 2", 3), (Fault.OTHER_REVISION,)),
    Lie("a row names no revision", ran, change("revision = 7", 3), (Fault.OTHER_REVISION,)),
    Lie("a tick fired at another moment", ran, change("fire_at = fire_at + 1", 3), (Fault.MISTIMED,)),
    Lie("a jittered tick fired at its planned moment", jittered, change("fire_at = scheduled_for", 2),
        (Fault.MISTIMED,)),
    Lie("a key is another", skipped, change("key = 'abc'", 3), (Fault.WRONG_KEY,)),
    Lie("keys are exchanged", ran, change(f"key = (SELECT t.key FROM ticks t WHERE t.scheduled_for = {at(2)})", 3),
        (Fault.WRONG_KEY,)),
    Lie("a coalesced tick leads to no moment", caught_up, change("into_tick = into_tick + 1000", 1),
        (Fault.LEADS_NOWHERE,)),
    Lie("a coalesced tick leads nowhere", caught_up, change("into_tick = NULL", 1), (Fault.LEADS_NOWHERE,)),
    Lie("a coalesced tick leads back", caught_up, change(f"into_tick = {at(5)}", 1), (Fault.LEADS_NOWHERE,)),
    Lie("a coalesced tick leads to what is not decided", caught_up, change(f"into_tick = {at(70)}", 1),
        (Fault.LEADS_NOWHERE,)),
    Lie("a tick that ran leads on", ran, change(f"into_tick = {at(4)}", 3), (Fault.LEADS_NOWHERE,)),
    # ticks and runs
    Lie("two ticks share a run", ran, change(f"run_id = {run_of(2)}", 4),
        (Fault.SHARED_RUN, Fault.UNRECORDED_RUN)),
    Lie("a run in the middle is removed", ran, f"DELETE FROM runs WHERE id = {run_of(3)} RETURNING 1",
        (Fault.RUN_MISSING,)),
    Lie("the newest run is removed", ran, f"DELETE FROM runs WHERE id = {run_of(5)} RETURNING 1",
        (Fault.RUN_MISSING,)),
    Lie("a tick names a run that never was", ran, change("run_id = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'", 3),
        (Fault.RUN_MISSING, Fault.UNRECORDED_RUN)),
    Lie("a run names another moment", ran, change_run(f"scheduled_for = {at(4)}"), (Fault.RUN_OF_ANOTHER,)),
    Lie("a run names another schedule", ran, change_run("schedule_uid = 'other'"), (Fault.RUN_OF_ANOTHER,)),
    Lie("a run names its schedule otherwise", ran, change_run("schedule_id = 'other'"), (Fault.RUN_OF_ANOTHER,)),
    Lie("a run names no schedule", ran,
        change_run("schedule_uid = NULL, schedule_id = NULL, scheduled_for = NULL, tick_key = NULL"),
        (Fault.RUN_OF_ANOTHER,)),
    Lie("a run has another key", ran, change_run("tick_key = 'abc'"), (Fault.WRONG_KEY,)),
    Lie("a second run is of one tick", ran, COPY_OF_A_RUN.format(0, run_of(3)), (Fault.UNRECORDED_RUN,)),
    Lie("a run is of a moment between ticks", ran, COPY_OF_A_RUN.format(1000, run_of(3)), (Fault.UNRECORDED_RUN,)),
    Lie("a run is of a moment to come", ran, COPY_OF_A_RUN.format(HOUR, run_of(3)), (Fault.UNRECORDED_RUN,)),
    Lie("a tick that ran is called skipped", edited,
        change("outcome = 'skipped', reason = 'disabled', run_id = NULL", 3), (Fault.UNRECORDED_RUN,)),
    # what waits
    Lie("a settled moment is planned again", jittered,
        f"INSERT INTO planned SELECT uid, {at(2)}, fire_at, revision FROM ticks WHERE scheduled_for = {at(2)}"
        " RETURNING 1", (Fault.DOUBLED, Fault.OVERSLEEPS)),
    Lie("a planned tick is removed", jittered, "DELETE FROM planned RETURNING 1", (Fault.MISSING,)),
    Lie("a planned tick fires later", jittered, change("fire_at = fire_at + 1", 4, "planned"), (Fault.MISTIMED,)),
    Lie("a planned tick has another revision", jittered, change("revision = 7", 4, "planned"),
        (Fault.OTHER_REVISION,)),
    Lie("a moment to come is planned already", ran,
        f"INSERT INTO planned SELECT uid, {at(6)}, {at(6)}, 1 FROM schedules RETURNING 1",
        (Fault.BEYOND_WATERMARK,)),
    Lie("a moment that never was is planned", jittered, change(f"scheduled_for = {at(4) - SECOND}", 4, "planned"),
        (Fault.INVENTED, Fault.MISSING, Fault.MISTIMED)),
    Lie("a deleted schedule has planned ticks", deleted,
        f"INSERT INTO planned SELECT uid, {at(4)}, fire_at, 1 FROM ticks WHERE scheduled_for = {at(4)} RETURNING 1",
        (Fault.ASLEEP, Fault.DOUBLED)),
    # where the schedule stands
    Lie("the next moment is a later one", ran, change_schedule(f"next_run_at = {at(7)}"), (Fault.WRONG_NEXT,)),
    Lie("there is no next moment", ran, change_schedule("next_run_at = NULL"), (Fault.WRONG_NEXT,)),
    Lie("nothing will wake the schedule", ran, change_schedule("wake_at = NULL"), (Fault.ASLEEP,)),
    Lie("the schedule is called over", ran, change_schedule("wake_at = NULL, enabled = false, next_run_at = NULL"),
        (Fault.ASLEEP, Fault.WRONG_NEXT)),
    Lie("the schedule will be woken late", ran, change_schedule("wake_at = wake_at + 1"), (Fault.OVERSLEEPS,)),
    Lie("the schedule will be woken late for what is planned", jittered, change_schedule(f"wake_at = {at(5)}"),
        (Fault.OVERSLEEPS,)),
    Lie("a backlog is left alone", full, change_schedule(f"wake_at = {FAR}"), (Fault.OVERSLEEPS,)),
    Lie("the last moment is another", ran, change_schedule(f"last_scheduled_at = {at(3) + SECOND}"),
        (Fault.WRONG_LAST,)),
    Lie("there is no last moment", ran, change_schedule("last_scheduled_at = NULL"), (Fault.WRONG_LAST,)),
    Lie("the schedule is called paused", ran, change_schedule(f"paused_at = {at(5)}, wake_at = NULL"),
        (Fault.WRONG_PAUSE,)),
    Lie("a pause never ended", paused, change('"until" = NULL', table="pauses"),
        (Fault.RAN_WHILE_PAUSED, Fault.WRONG_PAUSE)),
    Lie("the rule is another", edited, change_schedule("spec = replace(spec, '\"60\"', '\"61\"')"),
        (Fault.WRONG_RULE,)),
    Lie("the first revision is gone", edited, "DELETE FROM revisions WHERE number = 1 RETURNING 1",
        (Fault.INVENTED, Fault.OTHER_REVISION, Fault.WRONG_RULE)),
    Lie("all revisions are gone", ran, "DELETE FROM revisions RETURNING 1", (Fault.WRONG_RULE,)),
    Lie("the ledger begins later", pruned, change_schedule("ledger_from = ledger_from + 7200000"),
        (Fault.WRONG_START,)),
    Lie("the ledger has not begun", ran, change_schedule(f"ledger_from = {FAR}"), (Fault.WRONG_START,)),
    Lie("nothing was ever pruned", pruned, change_schedule("ledger_from = NULL"),
        (Fault.MISSING, Fault.UNRECORDED_RUN)),
)  # fmt: skip


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.about.replace(" ", "-"))
async def test_verify_finds_each_corruption_and_names_its_fault(stage: Stage, lie: Lie) -> None:
    await lie.story(stage.scene)
    assert stage.write(lie.sql)

    found = await stage.findings()

    assert {finding.fault for finding in found} == set(lie.faults)


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.about.replace(" ", "-"))
async def test_verify_finds_each_corruption_with_any_page_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: Lie
) -> None:
    async with on_sqlite(tmp_path / "foliot.db") as stage:
        make_ids_by_the_clock(monkeypatch, stage.scene)
        await lie.story(stage.scene)
        assert stage.write(lie.sql)
        sinces = [BEGINNING, Instant(at(2)), Instant(at(4))]
        found = [await stage.findings(since) for since in sinces]

        for size in (1, 2, 3):
            monkeypatch.setattr(verifying, "_SHORT", size - 1)
            monkeypatch.setattr(verifying, "_ROWS", size)
            monkeypatch.setattr(verifying, "_RUNS", size)
            assert [await stage.findings(since) for since in sinces] == found


@pytest.mark.proves("T2", "T3", "T5", "T12")
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
@pytest.mark.parametrize("short", [0, 100])
async def test_verify_finds_no_fault_in_sound_ledgers_from_any_start(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, story: Callable[[Scene], Awaitable[None]], short: int
) -> None:
    monkeypatch.setattr(verifying, "_SHORT", short)
    make_ids_by_the_clock(monkeypatch, stage.scene)
    await story(stage.scene)

    told = stage.scene.now - START
    sinces = [BEGINNING, *(later(START, told * part // 8 + 1) for part in range(9)), later(START, 2 * MINUTE)]

    assert [await stage.findings(since) for since in sinces] == [[]] * len(sinces)


@pytest.mark.parametrize(
    ("lie", "row"),
    [
        (
            "UPDATE schedules SET spec = '{oops' WHERE true RETURNING 1",
            "the row of schedule 'nightly' cannot be read: ",
        ),
        (
            "UPDATE revisions SET spec = '{oops' WHERE true RETURNING 1",
            "schedule 'nightly': the row of revision '1' cannot be read: ",
        ),
        (change("reason = 'fate'", 3), f"the row of tick '{at(3)}' cannot be read: "),
    ],
)
async def test_verify_reports_an_unreadable_row_and_checks_the_others(stage: Stage, lie: str, row: str) -> None:
    await stage.scene.schedule(every(60), schedule_id="before")
    await ran(stage.scene)
    assert stage.write(f"{lie.removesuffix('RETURNING 1')} AND uid = {NIGHTLY_UID} RETURNING 1")
    await stage.scene.schedule(every(60), schedule_id="behind")
    assert stage.write("UPDATE schedules SET wake_at = NULL WHERE id <> 'nightly' RETURNING 1")

    reports = {report.schedule_id: report.findings async for report in verify(stage.scene.storage, BEGINNING)}

    [unreadable] = reports.pop(NIGHTLY)
    assert unreadable.fault is Fault.UNREADABLE
    assert unreadable.row
    assert unreadable.row.startswith(row)
    faults = {schedule_id: [finding.fault for finding in findings] for schedule_id, findings in reports.items()}
    assert faults == {"before": [Fault.ASLEEP], "behind": [Fault.ASLEEP]}


async def test_verify_reports_an_unreadable_run(stage: Stage) -> None:
    await ran(stage.scene)
    assert stage.write(change_run("payload = CAST('{oops' AS DOCUMENT)"))
    [run_id] = [tick.run_id for tick in await stage.scene.ticks((await stage.scene.stored()).uid)][2:3]

    [finding] = await stage.findings()

    assert finding.run_id == run_id
    assert str(finding.row).startswith(f"the row of run '{run_id}' cannot be read")


async def test_verify_reports_an_unreadable_job_and_workflow_version(stage: Stage) -> None:
    storage = stage.scene.storage
    await stage.scene.job("etl")
    await storage.definitions.put_workflows({"etl": a_workflow("extract")}, at=stage.scene.now)
    for table in ("jobs", "workflows"):
        assert stage.write(change("spec = '{oops'", table=table))

    with pytest.raises(RowUnreadable, match="the row of job 'etl' cannot be read"):
        await storage.definitions.get_jobs([JobId("etl")])
    with pytest.raises(RowUnreadable, match="the row of version 1 of workflow 'etl' cannot be read"):
        await storage.definitions.page_workflows()


@pytest.mark.parametrize(
    "lie",
    [
        change_schedule("wake_at = NULL"),
        change_schedule(f"wake_at = {FAR}"),
        change_schedule(f"next_run_at = {FAR}"),
        change_schedule(f"paused_at = {at(5)}, wake_at = NULL"),
        f"INSERT INTO pauses SELECT uid, {at(5)}, NULL FROM schedules RETURNING 1",
    ],
)
async def test_pausing_and_resuming_recomputes_the_schedule(stage: Stage, lie: str) -> None:
    await ran(stage.scene)
    assert stage.write(lie)
    assert await stage.findings()

    stage.scene.clock.advance(10 * MINUTE)
    await stage.scene.pause(paused=True)
    await stage.scene.pause(paused=False)
    await stage.scene.fire()

    assert await stage.findings() == []
