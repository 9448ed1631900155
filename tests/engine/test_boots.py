"""Schedules with the rule @reboot fire once after each boot of the host."""

from msgspec.structs import replace

from foliot.domain.ids import JobId
from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Millis
from foliot.domain.schedule.schedule import Overlap
from foliot.domain.schedule.tick import JitterMode, TickOutcome, TickReason
from foliot.ports.storage import Storage
from foliot.service.queries.verify import LedgerQueries
from foliot.testing.builders import REPORT, every, manual, reboot
from foliot.testing.clock import START, VirtualClock
from tests.engine.rig import Rig


def boot(storage: Storage, clock: VirtualClock, *, downtime: int = MINUTE) -> Rig:
    """Return the first process after another boot."""
    clock.advance(downtime)
    clock.reboot()
    clock.advance(10 * SECOND)
    return Rig(storage, clock)


async def test_a_boot_fires_the_schedule_once(rig: Rig, storage: Storage, clock: VirtualClock) -> None:
    schedule = await rig.schedule(reboot())
    await rig.fire(HOUR)
    assert await rig.runs() == []

    fresh = boot(storage, clock)
    for _ in range(3):
        await fresh.fire(SECOND)

    [run] = await fresh.runs()
    [tick] = await fresh.ticks(schedule.uid)
    assert (tick.outcome, tick.reason, tick.run_id) == (TickOutcome.RAN, TickReason.BOOT, run.id)


async def test_a_restart_without_a_boot_fires_nothing(rig: Rig, storage: Storage, clock: VirtualClock) -> None:
    await rig.schedule(reboot(overlap=Overlap.ALLOW))
    fresh = boot(storage, clock)
    await fresh.fire()

    await Rig(storage, clock).fire(MINUTE)
    await Rig(storage, clock).fire(DAY)

    assert len(await fresh.runs()) == 1


async def test_every_boot_has_one_row_and_verify_accepts_them(rig: Rig, storage: Storage, clock: VirtualClock) -> None:
    schedule = await rig.schedule(reboot(overlap=Overlap.ALLOW))

    for _ in range(3):
        rig = boot(storage, clock, downtime=DAY)
        await rig.fire()
        await rig.work_off(2)

    assert [tick.reason for tick in await rig.ticks(schedule.uid)] == [TickReason.BOOT] * 3
    assert [report.findings async for report in LedgerQueries(storage).verify(START)] == [[]]


async def test_moments_of_an_earlier_rule_are_decided_with_the_boot(
    rig: Rig, storage: Storage, clock: VirtualClock
) -> None:
    schedule = await rig.schedule(every(60))
    clock.advance(10 * MINUTE + 30 * SECOND)
    await rig.schedule(reboot())

    fresh = boot(storage, clock)
    await fresh.fire()

    rows = [(tick.reason, tick.count) for tick in await fresh.ticks(schedule.uid)]
    assert rows == [(TickReason.DOWN, 10), (TickReason.BOOT, 1)]


async def test_an_edit_between_boot_and_start_does_not_lose_the_boot(
    rig: Rig, storage: Storage, clock: VirtualClock
) -> None:
    await rig.schedule(reboot())
    fresh = boot(storage, clock)
    await fresh.schedule(reboot(payload=2))

    await fresh.fire()
    await fresh.fire(SECOND)

    assert len(await fresh.runs()) == 1


async def test_an_edit_into_another_rule_ends_it(rig: Rig, storage: Storage, clock: VirtualClock) -> None:
    await rig.schedule(reboot())
    await rig.schedule(manual())

    fresh = boot(storage, clock)
    await fresh.fire()

    assert await fresh.runs() == []


async def test_overlap_and_disabled_jobs_apply_as_for_any_tick(rig: Rig, storage: Storage, clock: VirtualClock) -> None:
    schedule = await rig.schedule(reboot())
    await boot(storage, clock).fire()
    await boot(storage, clock).fire()
    [job] = (await storage.definitions.get_jobs([JobId(REPORT)])).values()
    await storage.definitions.put_jobs([(job.id, replace(job.spec, enabled=False))])
    await boot(storage, clock).fire()

    rows = [(tick.outcome, tick.reason) for tick in await rig.ticks(schedule.uid)]
    assert rows == [
        (TickOutcome.RAN, TickReason.BOOT),
        (TickOutcome.SKIPPED, TickReason.OVERLAP),
        (TickOutcome.SKIPPED, TickReason.DISABLED),
    ]


async def test_a_jittered_boot_waits_for_its_time(rig: Rig, storage: Storage, clock: VirtualClock) -> None:
    schedule = await rig.schedule(reboot(jitter=Millis(30 * SECOND), jitter_mode=JitterMode.AFTER))
    fresh = boot(storage, clock)

    for _ in range(32):
        await fresh.fire(SECOND)

    [tick] = await fresh.ticks(schedule.uid)
    assert (tick.outcome, tick.reason) == (TickOutcome.RAN, TickReason.BOOT)
    assert tick.fire_at - tick.scheduled_for <= 30 * SECOND
