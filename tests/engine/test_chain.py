"""Chains from their scout to their end, on a virtual clock."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from foliot.domain.alert import AlertKind
from foliot.domain.chain.decision import Decision
from foliot.domain.chain.message import Decide, ReadStatus, Spawn, Spend
from foliot.domain.chain.state import ChainOutcome, ChainState
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import MINUTE
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.outcome import Failure, Reason
from foliot.domain.run.run import Status
from foliot.domain.tree.run_kind import RunKind, kind_of
from foliot.ports.chains import ChainFilter, ChainPage
from foliot.ports.runner import Attempt
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.testing.invariants import check_invariants
from tests.engine.chains import DISK, ChainRig, stage_of

MakeRig = Callable[..., ChainRig]
BUSY = Failure("busy", Reason.EXIT_CODE, 75)
BROKEN = Failure("broken", Reason.EXIT_CODE, 1)


@pytest.fixture
def chains(storage: Storage, clock: VirtualClock) -> MakeRig:
    return lambda script=None, **fields: ChainRig(storage, clock, script, **fields)


def keys(steps: list[Any]) -> list[tuple[str | None, Status]]:
    return [(step.child_key, step.status) for step in steps]


@pytest.mark.proves("R3-01", "R3-02", "R3-05", "R3-08", "R3-09", "R3-34", "R3-35", "R3-38", "R3-40", "R3-46", "R3-49")
async def test_a_chain_assembles_itself_and_closes(chains: MakeRig) -> None:
    rig = chains({"scout": 10, "action": 0, "verify": 0})
    await rig.chain()
    run_id = await rig.start()
    begun = rig.clock.now()

    run = await rig.go_on(run_id)

    assert (run.status, run.reason, kind_of(run)) == (Status.SUCCESS, None, RunKind.CHAIN)
    steps = await rig.steps(run_id)
    assert keys(steps) == [("scout.1", Status.SUCCESS), ("action.1", Status.SUCCESS), ("verify.1", Status.SUCCESS)]
    assert [step.due_at - begun for step in steps] == [0, 3 * MINUTE, 5 * MINUTE]
    assert {kind_of(step) for step in steps} == {RunKind.STEP}
    chain = await rig.read(run_id)
    assert [move.state for move in chain.moves] == [ChainState.ARMED, ChainState.ACTIVE, ChainState.CLOSED]
    assert chain.outcome is ChainOutcome.RESOLVED
    assert [alert.kind for alert in await rig.alerts()] == [AlertKind.CHAIN_ARMED]
    assert (await rig.state_of_class()).active == []
    assert await rig.storage.definitions.get_schedules([ScheduleId(DISK)]) == {}
    assert await check_invariants(rig.storage, now=rig.clock.now()) == []


@pytest.mark.proves("R3-04", "R3-39", "R3-43")
async def test_a_quiet_scout_arms_nothing(chains: MakeRig) -> None:
    rig = chains({"scout": 0})
    await rig.chain()

    runs = [await rig.go_on(await rig.start()) for _ in range(100)]

    assert {(run.status, len(await rig.steps(run.id))) for run in runs} == {(Status.SUCCESS, 1)}
    assert await rig.storage.queries.chains_page(ChainFilter()) == ChainPage([])
    assert await rig.alerts() == []


@pytest.mark.proves("R3-14", "R3-02", "C5")
async def test_at_expiry_a_running_step_is_cancelled(chains: MakeRig) -> None:
    rig = chains({"scout": 10, "action": None})
    await rig.chain(limits={"lifetime": 10 * MINUTE})
    run_id = await rig.start()

    run = await rig.go_on(run_id)

    assert (run.status, run.reason) == (Status.TIMEOUT, "chain_expired")
    assert [(step.child_key, step.status) for step in await rig.steps(run_id)][-1] == ("action.1", Status.CANCELLED)
    assert rig.runner.under_way == []
    assert await check_invariants(rig.storage, now=rig.clock.now()) == []


async def test_a_stopped_chain_ends_with_its_running_step(chains: MakeRig) -> None:
    rig = chains({"scout": 10, "action": None})
    await rig.chain()
    run_id = await rig.start()
    await rig.go_on(run_id, until=lambda chain: chain.state is ChainState.ACTIVE or bool(rig.runner.under_way))

    await rig.storage.orders.cancel([run_id])
    run = await rig.go_on(run_id, minutes=5)

    assert run.status is Status.CANCELLED
    assert (await rig.read(run_id)).outcome is ChainOutcome.STOPPED
    assert await check_invariants(rig.storage, now=rig.clock.now()) == []


@pytest.mark.proves("R3-47", "R3-51", "R3-13")
async def test_transient_failures_are_retried_at_their_times(chains: MakeRig) -> None:
    rig = chains({"scout": 10, "action": [BUSY, BUSY, BUSY, 0]})
    await rig.chain()
    run_id = await rig.start()

    run = await rig.go_on(run_id)

    assert run.status is Status.SUCCESS
    actions = [step for step in await rig.steps(run_id) if (step.child_key or "").startswith("action")]
    gaps = [later.due_at - earlier.finished_at for earlier, later in pairwise(actions) if earlier.finished_at]
    assert gaps == [2 * MINUTE, 5 * MINUTE, 12 * MINUTE]
    assert [step.payload["chain"]["attempt"] for step in actions] == [1, 2, 3, 4]
    assert {step.attempt for step in actions} == {1}


@pytest.mark.proves("R3-28", "R3-30", "R3-31", "R3-52", "B1", "B2")
async def test_three_failed_chains_open_the_breaker_of_their_class_alone(chains: MakeRig) -> None:
    rig = chains({"scout": 10, "action": BROKEN})
    await rig.chain()
    await rig.chain(job_id="other")
    runs = [await rig.go_on(await rig.start()) for _ in range(3)]

    refused = await rig.go_on(await rig.start())
    elsewhere = await rig.start(job_id="other")
    await rig.go_on(elsewhere, until=lambda chain: chain.is_armed)

    assert {run.reason for run in runs} == {"chain_escalated"}
    assert (refused.status, refused.reason) == (Status.SKIPPED, "chain_refused")
    assert (await rig.read(elsewhere)).is_armed
    [opened] = [alert for alert in await rig.alerts() if alert.kind == AlertKind.BREAKER_OPENED]
    assert (opened.subject, opened.facts["runs"]) == (DISK, [run.id for run in runs])
    assert await check_invariants(rig.storage, now=rig.clock.now()) == []


async def test_a_running_step_spawns_another_which_runs(chains: MakeRig) -> None:
    answers: list[Any] = []

    async def act(attempt: Attempt) -> int:
        answers.append(await rig.ask(attempt, Spawn(name="extra", payload={"disk": "sda"})))
        return 0

    rig = chains({"scout": 10, "action": act})
    await rig.chain(stages={"extra": {}})
    run_id = await rig.start()

    run = await rig.go_on(run_id)

    assert run.status is Status.SUCCESS
    assert sorted(rig.runner.stages) == ["action", "extra", "scout", "verify"]
    [extra] = [attempt for attempt in rig.runner.attempts if stage_of(attempt) == "extra"]
    assert extra.run_id == answers[0]["run_id"]
    assert extra.environment["FOLIOT_CHAIN_DEPTH"] == "2"


async def test_a_job_starts_a_bounded_follow_up(chains: MakeRig) -> None:
    async def report(attempt: Attempt) -> int:
        answer = await rig.ask(attempt, Spawn(name="clean"))
        assert answer is not None
        assert answer["is_new"]
        return 0

    rig = chains({"report": report, "clean": 0})
    await rig.job("report")
    await rig.job("clean")
    run_id = await rig.enqueue("report")
    for _ in range(5):
        await rig.turn()
        rig.clock.advance(MINUTE)

    runs = {str(run.job_id): run for run in await rig.runs()}
    assert {run.status for run in runs.values()} == {Status.SUCCESS}
    assert (runs["report.chain"].trigger, runs["clean"].parent_id) == ("chain", runs["report.chain"].id)
    assert runs["report"].id == run_id
    assert await check_invariants(rig.storage, now=rig.clock.now()) == []


async def test_a_stage_may_be_a_fanout(chains: MakeRig) -> None:
    rig = chains({"scout": 10})
    fanout = {"kind": "fanout", "spec": {"items": ["a", "b"], "inner_kind": "stage"}, "options": {"queue": "@trees"}}
    await rig.chain(stages={"action": fanout})
    run_id = await rig.start()

    run = await rig.go_on(run_id)

    assert run.status is Status.SUCCESS
    assert [step.child_key for step in await rig.steps(run_id)] == ["scout.1", "action.1", "verify.1"]
    items = [run for run in await rig.runs() if kind_of(run) is RunKind.ITEM]
    assert [item.status for item in items] == [Status.SUCCESS] * 2
    assert {item.root_id for item in items} == {run_id}
    assert await check_invariants(rig.storage, now=rig.clock.now()) == []


@pytest.mark.proves("R3-15")
async def test_what_runs_inside_of_a_step_belongs_to_its_chain(chains: MakeRig) -> None:
    answers: list[Any] = []

    async def follow_up(attempt: Attempt) -> int:
        answers.append(await rig.ask(attempt, Spawn(name="spread")))
        return 0

    async def item(attempt: Attempt) -> int:
        requests = (Decide(decision=Decision.CLOSE), Spend(tokens=2), ReadStatus(), Spawn(name="again"))
        answers.extend([await rig.ask(attempt, request) for request in requests])
        return 0

    rig = chains({"again": follow_up, "spread.item": item})
    await rig.job("again")
    fanout = {"items": ["a"], "inner_kind": "stage"}
    spread = JobSpec(kind="fanout", spec=fanout, options=Options(queue=TREES_QUEUE))
    await rig.storage.definitions.put_jobs([(JobId("spread"), spread)])
    await rig.enqueue("again")
    for _ in range(20):
        await rig.turn()
        rig.clock.advance(MINUTE)

    [record] = (await rig.storage.queries.chains_page(ChainFilter())).chains
    chain = await rig.read(record.run_id)
    assert [(step.key, step.depth, step.tokens) for step in chain.steps] == [
        ("spread.1", 1, 2), ("again.1", 2, 0), ("spread.2", 3, 2), ("again.2", 4, 0),
    ]  # fmt: skip
    assert [refused.code for refused in chain.refused] == ["decision_not_allowed", "decision_not_allowed", "max_depth"]
    assert [one.get("depth") for one in answers if "state" in one] == [1, 3]
    assert chain.tokens == 4
    assert await check_invariants(rig.storage, now=rig.clock.now()) == []


@pytest.mark.proves("R3-09")
async def test_a_refused_scout_run_never_runs_again(chains: MakeRig) -> None:
    rig = chains({"scout": 10, "action": None})
    await rig.chain()
    first = await rig.start()
    await rig.go_on(first, until=lambda chain: chain.is_armed)
    second = await rig.go_on(await rig.start(), minutes=2)
    attempts = len([one for one in rig.runner.attempts if stage_of(one) == "scout"])

    for _ in range(10):
        await rig.turn()
        rig.clock.advance(MINUTE)

    assert (second.status, second.reason) == (Status.SKIPPED, "chain_refused")
    assert len([one for one in rig.runner.attempts if stage_of(one) == "scout"]) == attempts
