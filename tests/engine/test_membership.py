"""A worker's place among the living: kept in time, or given up in time."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import cast

import pytest

from foliot.domain.ids import IdSource, Token, WorkerId
from foliot.domain.instant import SECOND, Millis
from foliot.domain.lease import Renewal, Worker
from foliot.engine.attempt import Ending
from foliot.engine.membership import Membership
from foliot.ports.storage import Storage, Topic
from foliot.testing.clock import VirtualClock
from tests.engine.ease import ease

LEASE = Millis(60 * SECOND)
NOTHING = Renewal((), (), ())


class Register:
    """A worker store that answers as it is told."""

    def __init__(self) -> None:
        self.registered: list[Worker] = []
        self.retired: list[WorkerId] = []
        self.listed: list[list[Token] | None] = []
        self.answer: Renewal | None = NOTHING
        self.is_away = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def register(self, worker: Worker, ttl: Millis, *, at: object = None) -> None:
        if self.is_away:
            raise OSError("away")
        self.registered.append(worker)

    async def renew(
        self, worker_id: WorkerId, held: Collection[Token] | None, ttl: Millis, *, at: object = None
    ) -> Renewal | None:
        await self.gate.wait()
        if self.is_away:
            raise OSError("away")
        self.listed.append(None if held is None else list(held))
        return self.answer

    async def retire(self, worker_id: WorkerId) -> None:
        self.retired.append(worker_id)


class Store:
    def __init__(self) -> None:
        self.workers = Register()
        self.bell = asyncio.Event()

    def signal(self, topic: Topic) -> asyncio.Event:
        assert topic is Topic.CANCELS
        return self.bell


class Hands:
    """Whoever carries out attempts."""

    def __init__(self) -> None:
        self.held: list[Token] = [Token(1), Token(2)]
        self.ended: list[tuple[Token, Ending]] = []

    def end(self, tokens: Collection[Token], ending: Ending) -> None:
        self.ended += [(token, ending) for token in tokens]


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
async def membership(store: Store, clock: VirtualClock, hands: Hands) -> Membership:
    """A worker that has just registered."""
    ids = IdSource(iter(range(1, 1_000)).__next__)
    member = Membership(cast(Storage, store), clock, ids, label="here", queues=("default",), slots=4, lease=LEASE)
    member.serve(hands, on_join=lambda: None)
    await member.round()
    return member


async def test_the_first_round_registers(membership: Membership, store: Store) -> None:
    assert store.workers.registered == [membership.worker]


async def test_a_renewal_lists_what_is_held_well_before_expiry(membership: Membership, store: Store) -> None:
    rest = await membership.round()

    assert store.workers.listed == [[1, 2]]
    assert rest is not None
    assert rest <= LEASE // 3


async def test_whoever_wants_to_be_told_is_told_of_a_registration(store: Store, clock: VirtualClock) -> None:
    told = asyncio.Event()
    ids = IdSource(lambda: 1)
    member = Membership(cast(Storage, store), clock, ids, label="here", queues=("default",), slots=4)
    member.serve(Hands(), on_join=told.set)

    await member.round()

    assert told.is_set()


@pytest.mark.proves("S5")
async def test_a_cancel_reaches_the_attempt_with_the_renewal(
    membership: Membership, store: Store, hands: Hands
) -> None:
    store.workers.answer = Renewal(cancelled=(Token(2),), foreign=(), gone=())

    await membership.round()

    assert hands.ended == [(2, Ending.CANCEL)]


@pytest.mark.proves("L2")
async def test_an_attempt_whose_lease_is_gone_is_ended(membership: Membership, store: Store, hands: Hands) -> None:
    store.workers.answer = Renewal(cancelled=(), foreign=(), gone=(Token(1),))

    await membership.round()

    assert hands.ended == [(1, Ending.LEASE_LOST)]


@pytest.mark.proves("L5")
async def test_a_worker_that_had_expired_ends_everything_and_comes_back_under_a_new_id(
    membership: Membership, store: Store, hands: Hands
) -> None:
    before = membership.worker
    store.workers.answer = None

    await membership.round()

    assert hands.ended == [(1, Ending.LEASE_LOST), (2, Ending.LEASE_LOST)]
    assert membership.worker is not None
    assert before is not None
    assert membership.worker.id != before.id


@pytest.mark.proves("L5")
async def test_a_worker_that_cannot_renew_ends_everything_before_others_may_believe_it_dead(
    membership: Membership, store: Store, clock: VirtualClock, hands: Hands
) -> None:
    joined = clock.elapsed()
    store.workers.is_away = True

    while not hands.ended:
        clock.advance(await membership.round() or LEASE)

    assert clock.elapsed() - joined <= LEASE - LEASE // 6
    assert membership.worker is None


@pytest.mark.proves("L5")
async def test_a_storage_that_does_not_answer_is_not_waited_for_too_long(
    membership: Membership, store: Store, clock: VirtualClock, hands: Hands
) -> None:
    clock.advance(20 * SECOND)
    store.workers.gate.clear()
    renewing = asyncio.create_task(membership.round())
    await ease()

    clock.advance(30 * SECOND)
    await renewing

    assert hands.ended == [(1, Ending.LEASE_LOST), (2, Ending.LEASE_LOST)]


@pytest.mark.proves("L5")
@pytest.mark.parametrize("ask", [Membership.round, Membership.is_confirmed])
async def test_a_lease_counts_from_the_moment_it_was_asked_for(
    membership: Membership, store: Store, clock: VirtualClock, ask: Callable[[Membership], Awaitable[object]]
) -> None:
    """The storage may have granted it at any moment since, and the answer taken its time."""
    clock.advance(20 * SECOND)
    asked = clock.elapsed()
    store.workers.gate.clear()
    asking = asyncio.ensure_future(ask(membership))
    await ease()
    clock.advance(15 * SECOND)
    store.workers.gate.set()
    await asking

    clock.advance(asked + LEASE - 1 - clock.elapsed())
    assert not membership.has_run_out
    clock.advance(1)

    assert membership.has_run_out


@pytest.mark.proves("L5")
async def test_so_does_the_lease_of_a_worker_that_registers(
    membership: Membership, store: Store, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def register_slowly(*_: object) -> None:
        clock.advance(15 * SECOND)

    store.workers.answer = None
    monkeypatch.setattr(store.workers, "register", register_slowly)
    asked = clock.elapsed()
    await membership.round()

    clock.advance(asked + LEASE - clock.elapsed())

    assert membership.has_run_out


@pytest.mark.proves("L1")
async def test_whoever_asks_whether_it_lives_lists_nothing(membership: Membership, store: Store) -> None:
    assert await membership.is_confirmed()

    assert store.workers.listed == [None]


async def test_a_storage_that_comes_back_in_time_costs_nothing(
    membership: Membership, store: Store, clock: VirtualClock, hands: Hands
) -> None:
    clock.advance(20 * SECOND)
    store.workers.is_away = True
    clock.advance(await membership.round() or 0)
    store.workers.is_away = False

    await membership.round()
    clock.advance(40 * SECOND)
    await membership.round()

    assert hands.ended == []


async def test_a_failed_renewal_is_repeated_within_a_second(membership: Membership, store: Store) -> None:
    store.workers.is_away = True

    rests = [await membership.round() for _ in range(5)]

    assert rests == [SECOND] * 5


async def test_while_a_claim_is_under_way_nothing_is_listed(
    membership: Membership, store: Store, clock: VirtualClock
) -> None:
    async with membership.claiming():
        renewing = asyncio.create_task(membership.round())
        await ease()
        assert store.workers.listed == []
        clock.advance(SECOND)
        await renewing

    await membership.round()

    assert store.workers.listed == [None, [1, 2]]


@pytest.mark.proves("M4")
async def test_a_worker_that_always_claims_comes_to_list_what_it_holds(membership: Membership, store: Store) -> None:
    """So that a grant whose answer got lost is given back also by a worker that is never idle."""
    is_answered, is_answered_too = asyncio.Event(), asyncio.Event()
    first = asyncio.create_task(enter(membership, until=is_answered))
    await ease()
    renewing = asyncio.create_task(membership.round())
    await ease()
    second = asyncio.create_task(enter(membership, until=is_answered_too))
    await ease()

    is_answered.set()
    await renewing
    is_answered_too.set()
    await asyncio.gather(first, second)

    assert store.workers.listed == [[1, 2]]


async def test_a_claim_waits_for_a_listing_that_is_under_way(membership: Membership, store: Store) -> None:
    store.workers.gate.clear()
    renewing = asyncio.create_task(membership.round())
    await ease()
    claiming = asyncio.create_task(enter(membership))
    await ease()
    assert not claiming.done()

    store.workers.gate.set()
    await renewing

    assert await claiming == membership.worker


@pytest.mark.proves("S3", "L1")
async def test_a_renewal_that_waited_behind_a_claim_lists_nothing_while_that_claim_is_under_way(
    membership: Membership, store: Store, clock: VirtualClock
) -> None:
    store.workers.gate.clear()
    renewing = asyncio.create_task(renew_twice(membership))
    await ease()
    is_answered = asyncio.Event()
    claiming = asyncio.create_task(enter(membership, until=is_answered))
    await ease()

    store.workers.gate.set()
    await ease()
    assert store.workers.listed == [[1, 2]]
    clock.advance(SECOND)
    await renewing
    is_answered.set()
    await claiming

    assert store.workers.listed == [[1, 2], None]


async def renew_twice(membership: Membership) -> None:
    """At once, as when a cancel has rung meanwhile."""
    await membership.round()
    await membership.round()


async def enter(membership: Membership, until: asyncio.Event | None = None) -> Worker | None:
    async with membership.claiming() as worker:
        if until is not None:
            await until.wait()
        return worker


async def test_leaving_says_goodbye_once(membership: Membership, store: Store) -> None:
    await membership.leave()
    await membership.leave()

    assert [worker.id for worker in store.workers.registered] == store.workers.retired
