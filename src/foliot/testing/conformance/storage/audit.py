"""The promises of a storage about the audit trail and its actors."""

import asyncio
from typing import Any

from foliot.domain.access.actor import APP, Actor, ActorKind, cli_actor
from foliot.domain.access.trail import AuditAction, AuditEntry, AuditKind, ChangeRecord
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import DAY, MINUTE, Instant, Millis
from foliot.domain.job.job import JobSpec
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, Status
from foliot.domain.schedule.project_pause import PauseOrder
from foliot.ports.audit import AuditCursor, AuditFilter
from foliot.ports.storage import Storage
from foliot.testing.builders import a_run, retention
from foliot.testing.conformance.storage.scene import Another, Contract, Scene

ANNA = cli_actor("anna")
BOB = Actor(ActorKind.TOKEN, "bob", "/etc/foliot.toml")
REPORT = JobId("report")
SECRET = "s3cr3t-value"


async def trail(storage: Storage, **fields: Any) -> list[AuditEntry]:
    return await storage.audit.page(AuditFilter(**fields))


def facts(entries: list[AuditEntry]) -> list[tuple[str, str, str, str]]:
    """Return actor, action, kind and id of entries, oldest first."""
    return [(one.actor, one.action, one.kind, one.id) for one in reversed(entries)]


def login(name: str) -> ChangeRecord:
    return ChangeRecord(AuditAction.LOGIN, AuditKind.USER, name)


class AuditContract(Contract):
    """Every storage must pass these tests unchanged."""

    is_pruned = True

    async def test_a_change_is_recorded_with_its_actor_and_its_time(self, scene: Scene, another: Another) -> None:
        acting = scene.storage.acting_as(BOB)
        await acting.definitions.put_jobs([(REPORT, JobSpec(kind="shell", spec={"command": "a"}))], at=Instant(1_000))
        await acting.definitions.put_jobs([(REPORT, JobSpec(kind="shell", spec={"command": "b"}))], at=Instant(2_000))

        changed, created = await trail(await another())
        assert (created.at, created.actor, created.detail) == (1_000, "token:bob", "/etc/foliot.toml")
        assert (created.action, created.kind, created.id) == ("create", "job", "report")
        assert created.before is None
        assert created.after is not None
        assert created.after["command"] == "a"
        assert (changed.action, changed.before, changed.after) == ("change", {"command": "a"}, {"command": "b"})

    async def test_a_change_that_changes_nothing_is_not_recorded(self, scene: Scene) -> None:
        acting = scene.storage.acting_as(ANNA)
        for _ in range(2):
            await acting.definitions.put_jobs([(REPORT, JobSpec(kind="shell", spec={"command": "a"}))])
            await acting.definitions.pause_job(REPORT, paused=True)
        await acting.definitions.pause_job(JobId("missing"), paused=True)
        await acting.definitions.delete_jobs([JobId("missing")])
        await acting.orders.cancel([RunId("missing")])

        assert facts(await trail(scene.storage)) == [
            ("cli:anna", "create", "job", "report"),
            ("cli:anna", "pause", "job", "report"),
        ]

    async def test_secrets_are_masked(self, scene: Scene) -> None:
        acting = scene.storage.acting_as(ANNA)
        for nth in range(2):
            spec = {"command": f"echo {nth}", "env": {"TOKEN": f"{SECRET}{nth}"}, "stdin": f"{SECRET}{nth}"}
            await acting.definitions.put_jobs([(REPORT, JobSpec(kind="shell", spec=spec))])
        await acting.dsns.put("main", "sqlite", SECRET.encode())
        await acting.definitions.delete_jobs([REPORT])

        entries = await trail(scene.storage)
        assert len(entries) == 4
        assert SECRET not in str(entries)

    async def test_definitions_are_recorded_with_what_was_deleted(self, scene: Scene) -> None:
        acting = scene.storage.acting_as(ANNA)
        await acting.definitions.put_jobs([(REPORT, JobSpec(kind="shell", spec={"command": "a"}))])
        await acting.definitions.rename_jobs({REPORT: JobId("summary")})
        await acting.definitions.delete_jobs([JobId("summary")])

        deleted, renamed, _ = await trail(scene.storage)
        assert (renamed.action, renamed.id, renamed.before) == ("rename", "summary", {"id": "report"})
        assert deleted.action == "delete"
        assert deleted.before is not None
        assert deleted.before["command"] == "a"

    async def test_pauses_of_all_schedules_are_recorded(self, scene: Scene) -> None:
        acting = scene.storage.acting_as(ANNA)
        await acting.definitions.pause_project(PauseOrder(note="disks"))
        await acting.definitions.resume_project()
        await acting.definitions.resume_project()

        resumed, paused = await trail(scene.storage)
        assert (paused.action, paused.kind, paused.after) == ("pause", "project", {"until": None, "note": "disks"})
        assert resumed.action == "resume"

    async def test_orders_on_runs_are_recorded_once(self, scene: Scene) -> None:
        acting = scene.storage.acting_as(ANNA)
        runs = [a_run() for _ in range(3)]
        await acting.orders.create(runs)
        first, second, third = [run.id for run in runs]
        for _ in range(2):
            await acting.orders.cancel([first])
            await acting.orders.mark({second: RunId("01HSUBSTITUTE0000000000000")})
            await acting.orders.answer({third: Ended(Status.FAILED, Reason.REJECTED)})

        assert facts(await trail(scene.storage)) == [
            *[("cli:anna", "trigger", "run", run.id) for run in runs],
            ("cli:anna", "cancel", "run", first),
            ("cli:anna", "mark", "run", second),
            ("cli:anna", "reject", "run", third),
        ]

    async def test_a_run_that_has_its_key_already_is_not_recorded(self, scene: Scene) -> None:
        acting = scene.storage.acting_as(ANNA)
        runs = [a_run(dedupe_key="once") for _ in range(2)]
        for run in runs:
            await acting.orders.create([run])

        assert [entry.id for entry in await trail(scene.storage)] == [runs[0].id]

    async def test_runs_of_applications_are_not_recorded(self, scene: Scene) -> None:
        await scene.storage.acting_as(APP).orders.create([run := a_run()])
        await scene.storage.acting_as(APP).orders.cancel([run.id])

        assert facts(await trail(scene.storage)) == [("app", "cancel", "run", run.id)]

    async def test_runs_that_actors_create_at_the_same_time_are_recorded_for_each(self, scene: Scene) -> None:
        runs = {actor: a_run() for actor in (ANNA, BOB)}
        await asyncio.gather(*(scene.storage.acting_as(actor).orders.create([run]) for actor, run in runs.items()))

        found = {entry.id: entry.actor for entry in await trail(scene.storage)}
        assert found == {run.id: str(actor) for actor, run in runs.items()}

    async def test_the_engine_acts_as_the_system(self, scene: Scene) -> None:
        assert str(scene.storage.actor) == "system"
        assert str(scene.storage.acting_as(ANNA).acting_as(BOB).actor) == "token:bob"

    async def test_pages_are_complete_and_newest_first(self, scene: Scene) -> None:
        for at, name in ((3_000, "c"), (1_000, "a"), (2_000, "b"), (2_000, "b2")):
            await scene.storage.acting_as(ANNA).audit.add([login(name)], at=Instant(at))

        assert [one.id for one in await trail(scene.storage)] == ["c", "b2", "b", "a"]
        found: list[str] = []
        before: AuditCursor | None = None
        while page := await trail(scene.storage, before=before, limit=1):
            found += [one.id for one in page]
            before = AuditCursor(page[-1].at, page[-1].seq)
        assert found == ["c", "b2", "b", "a"]

    async def test_a_page_can_be_filtered(self, scene: Scene) -> None:
        for actor in (ANNA, BOB):
            for at in (1_000, 2_000):
                await scene.storage.acting_as(actor).audit.add([login(f"of {actor}"), login("x")], at=Instant(at))

        assert len(await trail(scene.storage)) == 8
        assert {one.actor for one in await trail(scene.storage, actor="cli:anna")} == {"cli:anna"}
        assert len(await trail(scene.storage, actor="cli:anna")) == 4
        assert len(await trail(scene.storage, id="x")) == 4
        assert len(await trail(scene.storage, id="x", actor="token:bob")) == 2
        assert len(await trail(scene.storage, since=Instant(2_000))) == 4
        assert len(await trail(scene.storage, id="x", since=Instant(2_000))) == 2
        assert len(await trail(scene.storage, actor="cli:anna", since=Instant(2_001))) == 0

    async def test_the_latest_entry_of_each_id_is_found(self, scene: Scene) -> None:
        names = ["a", "b", "missing"]
        for actor in (ANNA, BOB):
            await scene.storage.acting_as(actor).audit.add([login("a"), login("b")])
        await scene.storage.audit.add([ChangeRecord(AuditAction.LOGOUT, AuditKind.USER, "b")])
        await scene.storage.audit.add([ChangeRecord(AuditAction.LOGIN, AuditKind.TOKEN, "a")])

        found = await scene.storage.audit.latest(AuditKind.USER, names, [AuditAction.LOGIN])
        assert {name: entry.actor for name, entry in found.items()} == {"a": "token:bob", "b": "token:bob"}
        assert await scene.storage.audit.latest(AuditKind.USER, [], [AuditAction.LOGIN]) == {}

    async def test_text_that_no_database_can_store_is_escaped(self, scene: Scene) -> None:
        await scene.storage.audit.add([login("a\0b\ud800")])

        assert [one.id for one in await trail(scene.storage)] == ["a\\0b\\ud800"]

    async def test_retention_removes_old_entries(self, scene: Scene) -> None:
        now = scene.clock.now()
        for age in (0, DAY - MINUTE, DAY + MINUTE, 2 * DAY):
            await scene.storage.audit.add([login(str(age))], at=Instant(now - age))

        [pruned] = await scene.prune_to_the_end(retention(audit_age=Millis(DAY)), limit=100)

        assert pruned.audit == 2
        assert [one.id for one in await trail(scene.storage)] == ["0", str(DAY - MINUTE)]
