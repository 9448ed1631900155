"""Ids of processes that know nothing of each other."""

from pathlib import Path

from foliot.testing.clock import VirtualClock
from foliot.wiring import open_services


async def test_two_that_begin_at_the_same_moment_make_different_ids(tmp_path: Path) -> None:
    chosen = set()
    for _ in range(2):
        services = await open_services(f"sqlite:///{tmp_path}/foliot.db", VirtualClock())
        chosen.add((await services.schedules.upsert(cron="@daily", workflow_id="etl")).schedule_id)
        await services.close()

    assert len(chosen) == 2
