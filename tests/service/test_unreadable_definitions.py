"""Unreadable definitions: the others are shown and applied, and a declaration repairs them."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from foliot.domain.deploy.deployment import Declared
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import MINUTE
from foliot.domain.job.job import JobSpec
from foliot.errors import RowUnreadable
from foliot.interfaces.cli.render.format import schedule_state
from foliot.ports.storage import Storage
from foliot.service.queries.verify import verify
from foliot.service.services import Services
from foliot.testing.builders import every
from foliot.testing.clock import START
from foliot.testing.conformance.storage.scene import Scene

A, B, C = (JobId(name) for name in "abc")
Spoil = Callable[..., None]


@pytest.fixture
def spoil(storage: Storage, tmp_path: Path) -> Spoil:
    """Overwrites specifications of jobs or schedules directly in the database."""

    def write(table: str, *names: str) -> None:
        connection = apsw.Connection(str(tmp_path / "service.db"))
        for name in names:
            connection.execute(f"UPDATE {table} SET spec = '{{oops' WHERE id = ?", (name,))
            assert connection.changes()
        connection.close()

    return write


def declared() -> Declared:
    job = JobSpec(kind="shell", spec={"command": "true"}, source="file")
    schedules = {ScheduleId(name): every(60, job_id=name, source="file") for name in (A, B, C)}
    return Declared(jobs={A: job, B: job, C: job}, schedules=schedules)


@pytest.mark.parametrize("bad", ["a", "b", "c", "ab", "bc", "ac", "abc"])
async def test_unreadable_jobs_are_listed(services: Services, spoil: Spoil, bad: str) -> None:
    await services.deployer.apply(declared())
    spoil("jobs", *bad)

    jobs = await services.jobs.page()

    assert [job.id for job in jobs] == [A, B, C]
    assert {job.id for job in jobs if job.kind == "unreadable"} == set(bad)
    assert all(("cannot be read" in job.description) == (job.id in bad) for job in jobs)


async def test_pages_of_jobs_continue_after_an_unreadable_one(services: Services, spoil: Spoil) -> None:
    await services.deployer.apply(declared())
    spoil("jobs", B)

    pages = [await services.jobs.page(after=after, limit=1) for after in (None, A, B, C)]

    assert [[job.id for job in page] for page in pages] == [[A], [B], [C], []]


async def test_schedules_are_listed_with_their_state(services: Services, spoil: Spoil) -> None:
    await services.deployer.apply(declared())
    spoil("schedules", B)

    views = await services.queries.schedules.listed()

    assert [(view.schedule_id, schedule_state(view)) for view in views] == [(A, "on"), (B, "unreadable"), (C, "on")]
    assert [bool(view.preview) for view in views] == [True, False, True]


@pytest.mark.parametrize("table", ["jobs", "schedules"])
async def test_declaring_an_unreadable_job_repairs_it(
    services: Services, scene: Scene, spoil: Spoil, table: str
) -> None:
    await services.deployer.apply(declared())
    spoil(table, B)
    scene.clock.advance(3 * MINUTE)

    changes = await services.deployer.apply(declared())

    put = {"jobs": [*changes.jobs_to_put], "schedules": [*map(JobId, changes.schedules_to_put)]}
    assert put == {"jobs": [], "schedules": [], table: [B]}
    assert len(await scene.fire()) == 3
    assert [report.findings async for report in verify(scene.storage, START)] == [[], [], []]
    assert {job.kind for job in await services.jobs.page()} == {"shell"}


async def test_an_upsert_repairs_an_unreadable_schedule(services: Services, scene: Scene, spoil: Spoil) -> None:
    await services.jobs.put({A: JobSpec(kind="shell", spec={"command": "true"})})
    given = {ScheduleId("s"): every(60, job_id=A)}
    await services.schedules.put(given)
    spoil("schedules", "s")

    await services.schedules.put(given)

    [view] = await services.queries.schedules.listed()
    assert not view.unreadable


async def test_reading_an_unreadable_job_raises_with_its_id(services: Services, spoil: Spoil) -> None:
    await services.deployer.apply(declared())
    spoil("jobs", B)

    with pytest.raises(RowUnreadable, match="the row of job 'b' cannot be read"):
        await services.jobs.record(B)


async def test_a_schedule_is_shown_if_its_predecessors_are_unreadable(services: Services, spoil: Spoil) -> None:
    await services.deployer.apply(declared())
    for _ in range(3):
        await services.schedules.upsert("again", job_id=A, every=60)
        spoil("schedules", "again")
        await services.storage.definitions.delete_schedules([ScheduleId("again")])

    await services.schedules.upsert("again", job_id=A, every=90)

    view = await services.schedules.get("again")
    assert (view.schedule_expr, len(view.preview)) == ("90", 5)


async def test_a_schedule_is_found_after_any_number_of_predecessors(services: Services) -> None:
    await services.deployer.apply(declared())
    for _ in range(101):
        await services.schedules.upsert("again", job_id=A, every=60)
        await services.schedules.delete("again")

    await services.schedules.upsert("again", job_id=A, every=90)

    assert (await services.schedules.get("again")).schedule_expr == "90"


async def test_an_unreadable_current_schedule_raises_with_its_id(services: Services, spoil: Spoil) -> None:
    await services.deployer.apply(declared())
    spoil("schedules", B)

    with pytest.raises(RowUnreadable, match="the row of schedule 'b' cannot be read"):
        await services.schedules.get(B)
