"""A worker renews its registration in time, or ends its attempts in time."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import cast

import pytest

from foliot.domain.ids import IdSource, Token, WorkerId
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.lease import LOCAL, Order, Renewal, Worker, WorkerFacts
from foliot.engine.worker.attempt import Ending
from foliot.engine.worker.heartbeat import Heartbeat
from foliot.errors import StorageUnavailable
from foliot.ports.work import Work
from foliot.testing.clock import VirtualClock
from tests.engine.ease import ease

LEASE = Millis(60 * SECOND)
NOTHING = Renewal((), (), ())


class Store:
    """A work port with results set by the test."""

    def __init__(self) -> None:
        self.registered: list[Worker] = []
        self.retired: list[WorkerId] = []
        self.listed: list[list[Token] | None] = []
        self.answer: Renewal | None = NOTHING
        self.is_away = False
        self.is_draining = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def register(self, worker: Worker, ttl: Millis, *, at: object = None) -> None:
        if self.is_away:
            raise StorageUnavailable("away")
        self.registered.append(worker)

    async def renew(
        self,
        worker_id: WorkerId,
        held: Collection[Token] | None,
        ttl: Millis,
        *,
        is_draining: bool = False,
        at: object = None,
    ) -> Renewal | None:
        await self.gate.wait()
        if self.is_away:
            raise StorageUnavailable("away")
        self.is_draining = is_draining
        self.listed.append(None if held is None else list(held))
        return self.answer

    async def retire(self, worker_id: WorkerId) -> None:
        self.retired.append(worker_id)


class Holder:
    """Executes attempts."""

    def __init__(self) -> None:
        self.held: list[Token] = [Token(1), Token(2)]
        self.ended: list[tuple[Token, Ending]] = []

    def end(self, tokens: Collection[Token], ending: Ending) -> None:
        self.ended += [(token, ending) for token in tokens]


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def holder() -> Holder:
    return Holder()


@pytest.fixture
async def heartbeat(store: Store, clock: VirtualClock, holder: Holder) -> Heartbeat:
    """A worker that has just registered."""
    ids = IdSource(iter(range(1, 1_000)).__next__)
    heartbeat = a_heartbeat(store, clock, ids)
    heartbeat.attach(holder, try_claims=lambda: None)
    await heartbeat.round()
    return heartbeat


def a_heartbeat(store: Store, clock: VirtualClock, ids: IdSource, facts: WorkerFacts = LOCAL) -> Heartbeat:
    work, wake = cast(Work, store), asyncio.Event()
    return Heartbeat(work, clock, ids, label="here", queues=("default",), slots=4, facts=facts, wake=wake, lease=LEASE)


async def test_the_first_round_registers(heartbeat: Heartbeat, store: Store) -> None:
    assert store.registered == [heartbeat.worker]


async def test_a_renewal_lists_held_leases_before_expiry(heartbeat: Heartbeat, store: Store) -> None:
    rest = await heartbeat.round()

    assert store.listed == [[1, 2]]
    assert rest is not None
    assert rest <= LEASE // 3


async def test_a_registration_wakes_the_claims(store: Store, clock: VirtualClock) -> None:
    told = asyncio.Event()
    heartbeat = a_heartbeat(store, clock, IdSource(lambda: 1))
    heartbeat.attach(Holder(), try_claims=told.set)

    await heartbeat.round()

    assert told.is_set()


@pytest.mark.proves("S5")
async def test_a_renewal_ends_cancelled_attempts(heartbeat: Heartbeat, store: Store, holder: Holder) -> None:
    store.answer = Renewal(cancelled=(Token(2),), foreign=(), gone=())

    await heartbeat.round()

    assert holder.ended == [(2, Ending.CANCEL)]


@pytest.mark.proves("L2")
async def test_an_order_to_drain_is_announced_once(heartbeat: Heartbeat, store: Store, holder: Holder) -> None:
    told: list[str] = []
    heartbeat.on_drained = lambda: told.append("drained")
    await heartbeat.round()

    for order in (Order.PAUSE, Order.DRAIN, Order.DRAIN):
        store.answer = NOTHING._replace(order=order)
        await heartbeat.round()

    assert told == ["drained"]
    assert holder.ended == []


async def test_an_attempt_whose_lease_is_gone_is_ended(heartbeat: Heartbeat, store: Store, holder: Holder) -> None:
    store.answer = Renewal(cancelled=(), foreign=(), gone=(Token(1),))

    await heartbeat.round()

    assert holder.ended == [(1, Ending.LEASE_LOST)]


@pytest.mark.proves("L5")
async def test_a_worker_that_had_expired_ends_all_attempts_and_registers_under_a_new_id(
    heartbeat: Heartbeat, store: Store, holder: Holder
) -> None:
    before = heartbeat.worker
    store.answer = None

    await heartbeat.round()

    assert holder.ended == [(1, Ending.LEASE_LOST), (2, Ending.LEASE_LOST)]
    assert heartbeat.worker is not None
    assert before is not None
    assert heartbeat.worker.id != before.id


@pytest.mark.proves("L5")
async def test_a_worker_that_cannot_renew_ends_its_attempts_before_it_expires(
    heartbeat: Heartbeat, store: Store, clock: VirtualClock, holder: Holder
) -> None:
    joined = clock.elapsed()
    store.is_away = True

    while not holder.ended:
        clock.advance(await heartbeat.round() or LEASE)

    assert clock.elapsed() - joined <= LEASE - LEASE // 6
    assert heartbeat.worker is None


@pytest.mark.proves("L5")
async def test_a_renewal_has_a_deadline(
    heartbeat: Heartbeat, store: Store, clock: VirtualClock, holder: Holder
) -> None:
    clock.advance(20 * SECOND)
    store.gate.clear()
    renewing = asyncio.create_task(heartbeat.round())
    await ease()

    clock.advance(30 * SECOND)
    await renewing

    assert holder.ended == [(1, Ending.LEASE_LOST), (2, Ending.LEASE_LOST)]


@pytest.mark.proves("L5")
@pytest.mark.parametrize("ask", [Heartbeat.round, Heartbeat.is_still_registered])
async def test_a_lease_counts_from_the_start_of_the_renewal(
    heartbeat: Heartbeat, store: Store, clock: VirtualClock, ask: Callable[[Heartbeat], Awaitable[object]]
) -> None:
    """The storage may have granted it at any time since then, and the response may have been slow."""
    clock.advance(20 * SECOND)
    asked = clock.elapsed()
    store.gate.clear()
    asking = asyncio.ensure_future(ask(heartbeat))
    await ease()
    clock.advance(15 * SECOND)
    store.gate.set()
    await asking

    clock.advance(asked + LEASE - 1 - clock.elapsed())
    assert not heartbeat.is_expired
    clock.advance(1)

    assert heartbeat.is_expired


@pytest.mark.proves("L5")
async def test_the_first_lease_counts_from_the_start_of_the_registration(
    heartbeat: Heartbeat, store: Store, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def register_slowly(*_: object) -> None:
        clock.advance(15 * SECOND)

    store.answer = None
    monkeypatch.setattr(store, "register", register_slowly)
    asked = clock.elapsed()
    await heartbeat.round()

    clock.advance(asked + LEASE - clock.elapsed())

    assert heartbeat.is_expired


async def test_a_registration_check_lists_no_leases(heartbeat: Heartbeat, store: Store) -> None:
    assert await heartbeat.is_still_registered()

    assert store.listed == [None]


async def test_a_storage_that_recovers_in_time_ends_no_attempts(
    heartbeat: Heartbeat, store: Store, clock: VirtualClock, holder: Holder
) -> None:
    clock.advance(20 * SECOND)
    store.is_away = True
    clock.advance(await heartbeat.round() or 0)
    store.is_away = False

    await heartbeat.round()
    clock.advance(40 * SECOND)
    await heartbeat.round()

    assert holder.ended == []


async def test_a_failed_renewal_is_repeated_within_a_second(heartbeat: Heartbeat, store: Store) -> None:
    store.is_away = True

    rests = [await heartbeat.round() for _ in range(5)]

    assert rests == [SECOND] * 5


async def test_failed_renewals_are_logged_as_one_outage(
    heartbeat: Heartbeat, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    store.is_away = True
    for _ in range(3):
        await heartbeat.round()
    store.is_away = False
    await heartbeat.round()

    assert [record.message for record in caplog.records] == ["storage_outage_began", "storage_outage_ended"]


async def test_a_renewal_without_an_answer_is_logged_as_an_outage(
    heartbeat: Heartbeat, store: Store, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    clock.advance(20 * SECOND)
    store.gate.clear()
    renewing = asyncio.create_task(heartbeat.round())
    await ease()
    clock.advance(30 * SECOND)
    await renewing

    [began, _] = [vars(record) for record in caplog.records]
    assert (began["message"], began["problem"]) == ("storage_outage_began", "the database did not answer in time")


async def test_the_outage_of_a_remote_worker_names_the_server(
    store: Store, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    heartbeat = a_heartbeat(store, clock, IdSource(iter(range(1, 1_000)).__next__), WorkerFacts(is_remote=True))
    await heartbeat.round()
    store.gate.clear()
    renewing = asyncio.create_task(heartbeat.round())
    await ease()
    clock.advance(50 * SECOND)
    await renewing

    assert vars(caplog.records[-2])["problem"] == "the server did not answer in time"


async def test_a_worker_that_was_registered_slowly_is_renewed_before_its_lease_ends(
    heartbeat: Heartbeat, store: Store, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def register_slowly(*_: object) -> None:
        clock.advance(45 * SECOND)

    store.answer = None
    monkeypatch.setattr(store, "register", register_slowly)

    assert await heartbeat.round() == 0


async def test_a_renewal_during_a_claim_lists_no_leases(
    heartbeat: Heartbeat, store: Store, clock: VirtualClock
) -> None:
    async with heartbeat.claiming():
        renewing = asyncio.create_task(heartbeat.round())
        await ease()
        assert store.listed == []
        clock.advance(SECOND)
        await renewing

    await heartbeat.round()

    assert store.listed == [None, [1, 2]]


@pytest.mark.proves("M4")
async def test_a_worker_that_always_claims_still_lists_its_leases(heartbeat: Heartbeat, store: Store) -> None:
    """A claim whose response was lost must be given back by a worker that is never idle, too."""
    is_answered, is_answered_too = asyncio.Event(), asyncio.Event()
    first = asyncio.create_task(enter(heartbeat, until=is_answered))
    await ease()
    renewing = asyncio.create_task(heartbeat.round())
    await ease()
    second = asyncio.create_task(enter(heartbeat, until=is_answered_too))
    await ease()

    is_answered.set()
    await renewing
    is_answered_too.set()
    await asyncio.gather(first, second)

    assert store.listed == [[1, 2]]


async def test_a_claim_waits_for_a_listing_in_flight(heartbeat: Heartbeat, store: Store) -> None:
    store.gate.clear()
    renewing = asyncio.create_task(heartbeat.round())
    await ease()
    claiming = asyncio.create_task(enter(heartbeat))
    await ease()
    assert not claiming.done()

    store.gate.set()
    await renewing

    assert await claiming == heartbeat.worker


@pytest.mark.proves("S3", "L1")
async def test_a_renewal_that_waits_for_a_claim_lists_no_leases_during_it(
    heartbeat: Heartbeat, store: Store, clock: VirtualClock
) -> None:
    store.gate.clear()
    renewing = asyncio.create_task(renew_twice(heartbeat))
    await ease()
    is_answered = asyncio.Event()
    claiming = asyncio.create_task(enter(heartbeat, until=is_answered))
    await ease()

    store.gate.set()
    await ease()
    assert store.listed == [[1, 2]]
    clock.advance(SECOND)
    await renewing
    is_answered.set()
    await claiming

    assert store.listed == [[1, 2], None]


async def renew_twice(heartbeat: Heartbeat) -> None:
    """Renew again immediately, as after a cancellation signal."""
    await heartbeat.round()
    await heartbeat.round()


async def enter(heartbeat: Heartbeat, until: asyncio.Event | None = None) -> Worker | None:
    async with heartbeat.claiming() as worker:
        if until is not None:
            await until.wait()
        return worker


async def test_a_worker_is_retired_once(heartbeat: Heartbeat, store: Store) -> None:
    await heartbeat.retire()
    await heartbeat.retire()

    assert [worker.id for worker in store.registered] == store.retired
