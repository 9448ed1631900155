"""Storing schedules, also if two processes store the same name concurrently."""

import asyncio
from typing import Any

import asyncpg
import pytest

from foliot.domain.cron import tzdata_version
from foliot.domain.ids import ScheduleId
from foliot.testing.builders import a_schedule, every
from foliot.testing.conformance.storage.scene import Scene
from tests.adapters.storage.postgres.waiting import blocked

LATE = ScheduleId("late")
INSERT_COPY = """
INSERT INTO foliot.schedules (uid, project, id, version, job_id, revision, opened_at, spec, enabled, created_at,
                              updated_at, settled_until)
SELECT 'theirs', project, 'late', version, job_id, revision, opened_at, spec, enabled, created_at, updated_at,
       settled_until
FROM foliot.schedules
"""


@pytest.mark.proves("R4-02")
@pytest.mark.parametrize(("end", "uid", "numbers"), [("COMMIT", "theirs", [1, 2]), ("ROLLBACK", None, [1, 1])])
async def test_the_second_of_two_concurrent_creates_is_an_edit(
    scene: Scene, connection: "asyncpg.Connection[Any]", end: str, uid: str | None, numbers: list[int]
) -> None:
    await scene.schedule(every(60))
    await connection.execute(f"BEGIN; {INSERT_COPY}")
    ours = a_schedule(every(90), schedule_id="late")

    putting = asyncio.create_task(
        scene.storage.definitions.put_schedules([a_schedule(every(60), schedule_id="a"), ours])
    )
    await blocked(connection, putting)
    await connection.execute(end)

    assert [schedule.revision.number for schedule in await putting] == numbers
    stored = (await scene.storage.definitions.get_schedules([LATE]))[LATE]
    assert (stored.uid, stored.revision.spec.expr) == (uid or ours.uid, "90")
    assert putting.result()[1] == stored


async def test_each_revision_stores_its_tzdata_version(scene: Scene, connection: "asyncpg.Connection[Any]") -> None:
    await scene.schedule(every(60))
    await scene.schedule(every(90))

    noted = await connection.fetch("SELECT number, tzdata FROM foliot.revisions ORDER BY number")

    assert [tuple(row) for row in noted] == [(1, tzdata_version()), (2, tzdata_version())]
