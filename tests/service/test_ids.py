"""Ids of independent processes."""

from pathlib import Path

from foliot.testing.clock import VirtualClock
from foliot.wiring.services import open_services


async def test_two_processes_make_different_ids_at_the_same_time(tmp_path: Path) -> None:
    chosen = set()
    for _ in range(2):
        services = await open_services(f"sqlite:///{tmp_path}/foliot.db", VirtualClock())
        chosen.add((await services.schedules.upsert(cron="@daily", workflow_id="etl")).schedule_id)
        await services.close()

    assert len(chosen) == 2
