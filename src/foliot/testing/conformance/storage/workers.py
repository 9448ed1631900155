"""The promises of a storage about workers and their leases."""

import pytest

from foliot.domain.ids import Token, WorkerId
from foliot.domain.instant import MINUTE, SECOND, Millis
from foliot.domain.run.lease import Claim, ExpiredLease, Finish, Renewal, WorkerState
from foliot.domain.run.outcome import Lost
from foliot.domain.run.run import Status
from foliot.testing.builders import LEASE, a_run, a_worker, an_id, failed, lost, some_runs, succeeded
from foliot.testing.conformance.storage.scene import Contract, Scene

NOTHING_NEW = Renewal((), (), ())


class LeaseContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_a_registered_worker_is_listed_as_alive(self, scene: Scene) -> None:
        worker = a_worker("anna", queues=("fast", "slow"), slots=4)

        await scene.storage.work.register(worker, LEASE, at=scene.now)

        states = await scene.storage.admission.workers(at=scene.now)
        assert states == [WorkerState(worker, scene.now, scene.now, is_alive=True, running=0)]

    async def test_the_list_of_workers_has_their_numbers_of_runs(self, scene: Scene) -> None:
        anna, bert = await scene.worker("anna"), await scene.worker("bert")
        await scene.create(*some_runs(3))
        await scene.claim(2, worker=anna)
        [claim] = await scene.claim(worker=bert)
        await scene.finish(succeeded(claim))

        states = await scene.storage.admission.workers(at=scene.now)

        assert {state.worker.id: state.running for state in states} == {anna.id: 2, bert.id: 0}

    async def test_a_renewal_extends_a_worker(self, scene: Scene) -> None:
        worker = await scene.worker()
        registered_at = scene.now
        scene.clock.advance(LEASE - SECOND)
        assert await renew(scene, worker.id) == NOTHING_NEW
        renewed_at = scene.now
        scene.clock.advance(LEASE - SECOND)

        [state] = await scene.storage.admission.workers(at=scene.now)

        assert (state.is_alive, state.registered_at, state.seen_at) == (True, registered_at, renewed_at)

    async def test_a_renewal_shows_whether_the_worker_is_draining(self, scene: Scene) -> None:
        worker = await scene.worker()
        shown = []
        for is_draining in (False, True, False):
            await scene.storage.work.renew(worker.id, [], LEASE, is_draining=is_draining, at=scene.now)
            [state] = await scene.storage.admission.workers(at=scene.now)
            shown.append((state.is_draining, state.serves(worker.queues[0])))

        assert shown == [(False, True), (True, False), (False, True)]

    async def test_a_renewal_extends_all_leases_of_a_worker(self, scene: Scene) -> None:
        worker = await scene.worker()
        claim = await scene.start(worker=worker)
        for _ in range(3):
            scene.clock.advance(LEASE - SECOND)
            assert await renew(scene, worker.id, claim.token) == NOTHING_NEW

        assert await scene.storage.upkeep.expired_leases(100, at=scene.now) == []

    @pytest.mark.proves("R1-20")
    async def test_an_expired_worker_cannot_renew_and_stays_expired(self, scene: Scene) -> None:
        worker = await scene.worker()
        scene.clock.advance(LEASE + 1)

        assert await renew(scene, worker.id) is None
        assert await renew(scene, worker.id) is None
        [state] = await scene.storage.admission.workers(at=scene.now)
        assert not state.is_alive

    @pytest.mark.proves("R1-20")
    async def test_a_worker_is_dead_exactly_at_its_expiry(self, scene: Scene) -> None:
        holder, idle = await scene.worker("holder"), await scene.worker("idle")
        claim = await scene.start(worker=holder)
        await scene.create(a_run())
        scene.clock.advance(LEASE - 1)
        assert await scene.storage.upkeep.expired_leases(9, at=scene.now) == []
        assert await scene.storage.upkeep.remove_expired_workers(at=scene.now) == 0

        scene.clock.advance(1)

        states = await scene.storage.admission.workers(at=scene.now)
        assert [state.is_alive for state in states] == [False, False]
        assert [await renew(scene, worker.id) for worker in (holder, idle)] == [None, None]
        assert await scene.claim(worker=idle) == []
        assert await scene.storage.upkeep.remove_expired_workers(at=scene.now) == 1
        assert [expired.token for expired in await scene.storage.upkeep.expired_leases(9, at=scene.now)] == [
            claim.token
        ]

    @pytest.mark.proves("L3")
    async def test_a_worker_found_dead_stays_dead_when_the_clock_is_set_back(self, scene: Scene) -> None:
        worker = await scene.worker()
        claim = await scene.start(worker=worker)
        await scene.create(a_run())
        scene.clock.advance(LEASE)
        assert len(await scene.storage.upkeep.expired_leases(9, at=scene.now)) == 1

        scene.clock.step(-LEASE)

        assert await renew(scene, worker.id, claim.token) is None
        assert await scene.claim(worker=worker) == []
        assert [expired.token for expired in await scene.storage.upkeep.expired_leases(9, at=scene.now)] == [
            claim.token
        ]

    @pytest.mark.proves("L1", "L4")
    async def test_a_worker_whose_process_has_ended_can_be_made_to_expire_at_once(self, scene: Scene) -> None:
        doomed, alive, nameless = (
            a_worker(name)._replace(process=process) for name, process in (("a", "p 1"), ("b", "p 2"), ("c", ""))
        )
        for worker in (doomed, alive, nameless):
            await scene.storage.work.register(worker, LEASE, at=scene.now)
        claim = await scene.start(worker=doomed)
        await scene.start(worker=alive)
        assert sorted(await scene.storage.upkeep.worker_processes()) == sorted([(doomed.id, "p 1"), (alive.id, "p 2")])

        await scene.storage.upkeep.expire_workers([doomed.id])

        assert await scene.storage.upkeep.worker_processes() == [(alive.id, "p 2")]
        assert await renew(scene, doomed.id, claim.token) is None
        assert await scene.claim(worker=doomed) == []
        assert [expired.token for expired in await scene.storage.upkeep.expired_leases(9, at=scene.now)] == [
            claim.token
        ]
        assert await renew(scene, alive.id) is not None

    async def test_an_unregistered_worker_cannot_renew(self, scene: Scene) -> None:
        assert await renew(scene, WorkerId(an_id())) is None

    async def test_a_renewal_returns_the_leases_to_cancel(self, scene: Scene) -> None:
        worker = await scene.worker()
        wanted, other = await scene.start(worker=worker), await scene.start(worker=worker)
        await scene.cancel(wanted.run_id)

        renewal = await renew(scene, worker.id, wanted.token, other.token)

        assert renewal == Renewal(cancelled=(wanted.token,), foreign=(), gone=())
        assert await renew(scene, worker.id, wanted.token, other.token) == renewal

    async def test_a_renewal_without_a_list_gives_no_lease_back(self, scene: Scene) -> None:
        worker = await scene.worker()
        wanted, other = await scene.start(worker=worker), await scene.start(worker=worker)
        await scene.cancel(wanted.run_id)

        renewal = await scene.storage.work.renew(worker.id, None, LEASE, at=scene.now)

        assert renewal == Renewal(cancelled=(wanted.token,), foreign=(), gone=())
        assert (await scene.run(other.run_id)).status is Status.RUNNING

    async def test_a_lease_that_the_renewal_does_not_list_is_given_back(self, scene: Scene) -> None:
        worker = await scene.worker()
        known, unknown = await scene.start(worker=worker), await scene.start(worker=worker)

        renewal = await renew(scene, worker.id, known.token)

        assert renewal == Renewal(cancelled=(), foreign=(unknown.token,), gone=())
        run = await scene.run(unknown.run_id)
        assert (run.status, run.attempt, run.worker_id) == (Status.QUEUED, 0, None)
        assert await scene.ready() == [unknown.run_id]
        assert await scene.finish(succeeded(unknown)) == [unknown.token]

    async def test_a_run_given_back_by_a_renewal_keeps_its_limit_places(self, scene: Scene) -> None:
        worker = await scene.worker()
        unknown = await scene.start(a_run(max_concurrent=1), worker=worker)
        await scene.create(a_run(max_concurrent=1))

        await renew(scene, worker.id)

        assert await scene.ready() == [unknown.run_id]

    async def test_a_cancelled_run_given_back_by_a_renewal_has_ended(self, scene: Scene) -> None:
        worker = await scene.worker()
        unknown = await scene.start(worker=worker)
        await scene.cancel(unknown.run_id)

        await renew(scene, worker.id)

        assert await scene.status(unknown.run_id) is Status.CANCELLED

    @pytest.mark.proves("L2")
    async def test_a_renewal_returns_the_leases_that_are_gone(self, scene: Scene) -> None:
        worker = await scene.worker()
        done = await scene.start(worker=worker)
        await scene.finish(succeeded(done))
        invented = Token(done.token + 1_000)

        renewal = await renew(scene, worker.id, done.token, invented)

        assert renewal is not None
        assert (renewal.cancelled, renewal.foreign) == ((), ())
        assert sorted(renewal.gone) == [done.token, invented]

    @pytest.mark.proves("L2")
    async def test_a_renewal_reports_the_lease_of_another_worker_as_gone(self, scene: Scene) -> None:
        anna, bert = await scene.worker("anna"), await scene.worker("bert")
        claim = await scene.start(worker=bert)

        renewal = await renew(scene, anna.id, claim.token)

        assert renewal == Renewal(cancelled=(), foreign=(), gone=(claim.token,))
        assert await scene.status(claim.run_id) is Status.RUNNING

    @pytest.mark.proves("R1-21")
    async def test_the_leases_of_an_expired_worker_are_found(self, scene: Scene) -> None:
        dead, live = await scene.worker("dead"), await scene.worker("live", ttl=Millis(10 * LEASE))
        claim = await scene.start(a_run(payload=b"1", max_concurrent=2), worker=dead)
        await scene.start(worker=live)
        assert await scene.storage.upkeep.expired_leases(100, at=scene.now) == []
        scene.clock.advance(LEASE + 1)

        assert await scene.storage.upkeep.expired_leases(100, at=scene.now) == [expired(claim)]

    async def test_expired_leases_are_read_up_to_a_limit(self, scene: Scene) -> None:
        worker = await scene.worker()
        await scene.create(*some_runs(3))
        await scene.claim(worker=worker)
        scene.clock.advance(LEASE + 1)

        assert len(await scene.storage.upkeep.expired_leases(2, at=scene.now)) == 2

    @pytest.mark.proves("R1-21", "R1-22", "R1-49", "L4", "S6")
    async def test_a_run_of_a_dead_worker_is_taken_over(self, scene: Scene) -> None:
        worker = await scene.worker()
        claim = await scene.start(worker=worker)
        scene.clock.advance(LEASE + 1)
        [lease] = await scene.storage.upkeep.expired_leases(100, at=scene.now)

        await scene.finish(Finish(lease.run_id, lease.worker_id, lease.token, Lost()))
        [taken] = await scene.claim()

        assert (taken.run_id, taken.attempt, taken.lost) == (claim.run_id, 2, 1)
        assert taken.token > claim.token
        assert await scene.finish(succeeded(taken)) == []

    @pytest.mark.proves("L2", "L4", "S10")
    async def test_a_late_finish_of_a_dead_worker_changes_nothing(self, scene: Scene) -> None:
        worker = await scene.worker()
        claim = await scene.start(worker=worker)
        scene.clock.advance(LEASE + 1)
        await scene.finish(lost(claim))
        [taken] = await scene.claim()

        before = await scene.run(claim.run_id)
        # An end of that attempt is recorded, but another one.
        assert await scene.finish(succeeded(claim)) == [claim.token]

        assert await scene.run(claim.run_id) == before
        assert (before.status, before.token) == (Status.RUNNING, taken.token)

    @pytest.mark.proves("L4")
    async def test_a_finish_after_expiry_is_saved_while_its_token_is_current(self, scene: Scene) -> None:
        worker = await scene.worker()
        claim = await scene.start(worker=worker)
        scene.clock.advance(LEASE + 1)

        assert await scene.finish(succeeded(claim)) == []

        assert await scene.status(claim.run_id) is Status.SUCCESS
        assert await scene.storage.upkeep.expired_leases(100, at=scene.now) == []
        assert await scene.finish(lost(claim)) == [claim.token]
        assert await scene.status(claim.run_id) is Status.SUCCESS

    async def test_a_retired_worker_is_removed(self, scene: Scene) -> None:
        worker = await scene.worker()
        await scene.create(a_run())

        await scene.storage.work.retire(worker.id)

        assert await scene.storage.admission.workers(at=scene.now) == []
        assert await scene.claim(worker=worker) == []
        assert await renew(scene, worker.id) is None

    async def test_leases_of_a_retired_worker_are_expired_immediately(self, scene: Scene) -> None:
        worker = await scene.worker()
        claim = await scene.start(worker=worker)

        await scene.storage.work.retire(worker.id)

        assert await scene.storage.upkeep.expired_leases(100, at=scene.now) == [expired(claim)]
        assert await renew(scene, worker.id, claim.token) is None
        assert await scene.claim(worker=worker) == []

    async def test_retiring_an_unregistered_worker_changes_nothing(self, scene: Scene) -> None:
        worker = await scene.worker()

        await scene.storage.work.retire(WorkerId(an_id()))

        assert [state.worker for state in await scene.storage.admission.workers(at=scene.now)] == [worker]

    async def test_expired_workers_without_leases_are_removed(self, scene: Scene) -> None:
        idle, busy = await scene.worker("idle"), await scene.worker("busy")
        live = await scene.worker("live", ttl=Millis(10 * LEASE))
        claim = await scene.start(worker=busy)
        scene.clock.advance(LEASE + 1)

        assert await scene.storage.upkeep.remove_expired_workers(at=scene.now) == 1
        assert await listed(scene) == {busy.id, live.id}
        assert idle.id not in await listed(scene)

        await scene.finish(failed(claim))
        assert await scene.storage.upkeep.remove_expired_workers(at=scene.now) == 1
        assert await listed(scene) == {live.id}

    @pytest.mark.proves("S8")
    async def test_a_live_worker_keeps_its_runs(self, scene: Scene) -> None:
        live = await scene.worker("live", ttl=Millis(10 * LEASE))
        claim = await scene.start(worker=live)
        await scene.worker("dead")
        scene.clock.advance(LEASE + MINUTE)

        await scene.storage.upkeep.remove_expired_workers(at=scene.now)
        await scene.release()
        await scene.storage.admission.admit(100, at=scene.now)

        assert await scene.status(claim.run_id) is Status.RUNNING
        assert await scene.finish(succeeded(claim)) == []


def expired(claim: Claim) -> ExpiredLease:
    return ExpiredLease(claim.run_id, claim.worker_id, claim.token, claim.attempt)


async def renew(scene: Scene, worker_id: WorkerId, *held: Token) -> Renewal | None:
    return await scene.storage.work.renew(worker_id, held, LEASE, at=scene.now)


async def listed(scene: Scene) -> set[WorkerId]:
    return {state.worker.id for state in await scene.storage.admission.workers(at=scene.now)}
