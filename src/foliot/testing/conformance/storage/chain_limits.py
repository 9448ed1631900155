"""The promises of a storage about the limits of chains: however many steps ask at once, none is exceeded."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from foliot.domain.alert import AlertKind
from foliot.domain.chain.class_state import BreakerState, job_class
from foliot.domain.chain.message import Spawn, Spend
from foliot.domain.chain.state import ChainOutcome, ChainState
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import MINUTE
from foliot.domain.run.lease import Claim
from foliot.domain.run.outcome import Success
from foliot.domain.run.run import Status
from foliot.ports.chains import ChainFilter
from foliot.ports.pages import RunFilter
from foliot.testing.builders import a_finish, a_run
from foliot.testing.conformance.storage.chain_builders import (
    DISK,
    alerts,
    arm_chain,
    ask,
    begin_action,
    class_state,
    codes,
    end_step,
    put_class,
    read,
    settle_chains,
    start_chain,
    step_claims,
)
from foliot.testing.conformance.storage.scene import Another, Contract, Scene

MANY = 50
WIDE = {"max_children": 100, "spawns": 100, "class_spawns": 1_000, "max_depth": 10}


class ChainLimitContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("R3-16", "R3-20", "R3-24", "R3-29", "C1", "B4", "B5")
    @pytest.mark.parametrize(
        ("limits", "accepted", "code"),
        [
            ({"max_children": 8}, 7, "max_children"),
            ({"spawns": 3}, 3, "spawn_rate"),
            ({"class_spawns": 10}, 10, "class_spawn_rate"),
            ({"max_depth": 1}, 0, "max_depth"),
        ],
    )
    async def test_of_fifty_parallel_spawns_exactly_as_many_as_the_limit_are_accepted(
        self, scene: Scene, another: Another, limits: Mapping[str, int], accepted: int, code: str
    ) -> None:
        await put_class(scene, stages={"extra": {}}, limits={**WIDE, **limits})
        run_id = await arm_chain(scene)
        claim = await begin_action(scene, run_id)

        answers = await self.spawn_at_once(scene, another, claim)

        found = codes(answers)
        assert (found.count("new"), found.count(code)) == (accepted, 1)
        assert set(found) <= {"new", code, "breaker_open", "chain_closed"}
        chain = await read(scene, run_id)
        assert chain.children == 1 + accepted
        assert await children(scene, run_id) == 1 + accepted
        opened = [alert for alert in await alerts(scene) if alert.kind == AlertKind.BREAKER_OPENED]
        assert len(opened) == 1
        assert opened[0].facts["signature"].startswith(code)
        assert claim.run_id in opened[0].facts["runs"]
        assert opened[0].facts["resume_at"] is not None
        await settle_chains(scene)
        await end_step(scene, claim)
        assert (await read(scene, run_id)).outcome is ChainOutcome.FAILED
        assert await open_runs(scene) == []

    async def test_a_used_budget_refuses_all_spawns_with_one_alert(self, scene: Scene, another: Another) -> None:
        await put_class(scene, stages={"extra": {}}, limits={**WIDE, "tokens": 10})
        run_id = await arm_chain(scene)
        claim = await begin_action(scene, run_id)
        await ask(scene, claim, Spend(tokens=10))

        found = codes(await self.spawn_at_once(scene, another, claim))

        assert found.count("budget") == 1
        assert set(found) == {"budget", "chain_closed"}
        kinds = [alert.kind for alert in await alerts(scene)]
        assert sorted(kinds) == [AlertKind.BUDGET_USED, AlertKind.CHAIN_ARMED, AlertKind.CHAIN_ESCALATED]
        assert (await class_state(scene)).breaker(scene.now) is BreakerState.CLOSED

    @pytest.mark.proves("C6")
    async def test_an_expired_chain_spawns_nothing(self, scene: Scene, another: Another) -> None:
        await put_class(scene, stages={"extra": {}}, limits={**WIDE, "lifetime": 4 * MINUTE})
        run_id = await arm_chain(scene)
        claim = await begin_action(scene, run_id)
        scene.clock.advance(MINUTE - 1_000)

        found = codes(await self.spawn_at_once(scene, another, claim))

        assert found == ["expired"] * MANY
        assert (await class_state(scene)).breaker(scene.now) is BreakerState.CLOSED
        assert (await read(scene, run_id)).children == 1

    @pytest.mark.proves("R3-25", "R3-26", "C2")
    async def test_of_fifty_equal_spawns_one_is_created(self, scene: Scene, another: Another) -> None:
        await put_class(scene, stages={"extra": {}}, limits=WIDE)
        run_id = await arm_chain(scene)
        claim = await begin_action(scene, run_id)

        answers = await self.spawn_at_once(scene, another, claim, key="same")

        assert sorted(codes(answers)) == ["new"] + ["same"] * (MANY - 1)
        assert len({answer["run_id"] for answer in answers if answer is not None}) == 1
        assert await children(scene, run_id) == 2

    @pytest.mark.proves("R3-23", "C1")
    async def test_of_fifty_scouts_only_as_many_as_allowed_arm_a_chain(self, scene: Scene, another: Another) -> None:
        await put_class(scene, limits={"max_concurrent": 3, "class_spawns": 1_000})
        claims = await self.scouts(scene, 20)

        answers = await self.trigger_at_once(scene, another, claims, slots=len(claims))

        found = codes(answers)
        assert (found.count("new"), found.count("max_concurrent")) == (3, len(claims) - 3)
        assert len((await class_state(scene)).active) == 3
        assert len((await scene.storage.queries.chains_page(ChainFilter())).chains) == 3

    @pytest.mark.proves("R3-27", "R3-42", "C2")
    async def test_racing_scouts_of_one_incident_arm_one_chain(self, scene: Scene, another: Another) -> None:
        await put_class(scene)
        claims = await self.scouts(scene, 20)

        found = codes(await self.trigger_at_once(scene, another, claims, slots=1))

        assert sorted(found) == sorted(["new"] + ["duplicate"] * (len(claims) - 1))
        assert len((await scene.storage.queries.chains_page(ChainFilter())).chains) == 1
        found_again = Success(b'{"decision":"trigger","slot":"lot-0"}', 10)
        for claim in claims:
            await scene.finish(a_finish(claim, found_again))
        await settle_chains(scene)
        assert len((await scene.storage.queries.chains_page(ChainFilter())).chains) == 1
        assert [alert.kind for alert in await alerts(scene)] == [AlertKind.CHAIN_ARMED]

    @pytest.mark.proves("R3-27", "R3-43")
    async def test_scouts_that_end_at_once_arm_one_chain(self, scene: Scene) -> None:
        await put_class(scene)
        claims = await self.scouts(scene, 10)
        for claim in claims:
            await scene.finish(a_finish(claim, Success(exit_code=10)))

        await asyncio.gather(*(settle_chains(scene) for _ in range(3)))
        await settle_chains(scene)

        assert len((await scene.storage.queries.chains_page(ChainFilter())).chains) == 1
        assert [alert.kind for alert in await alerts(scene)] == [AlertKind.CHAIN_ARMED]

    @pytest.mark.proves("R3-19", "R3-24", "R3-29", "R3-32", "C1", "C3", "B2", "B4", "B5")
    async def test_a_hostile_step_never_gets_past_the_limits(self, scene: Scene, another: Another) -> None:
        limits = {"max_children": 8, "spawns": 100, "class_spawns": 1_000, "max_depth": 4}
        await put_class(scene, stages={"extra": {}}, limits=limits)
        other = await arm_chain(scene, slot="peaceful")
        run_id = await arm_chain(scene)
        stale: Claim | None = None
        for _ in range(12):
            scene.clock.advance(MINUTE)
            for claim in (await step_claims(scene, run_id)).values():
                await asyncio.gather(
                    *(ask(scene, claim, Spawn(name="extra", dedupe_key=f"{claim.run_id}.{n}")) for n in range(10)),
                    ask(scene, claim, Spawn(name="extra", dedupe_key="deep", claims={"depth": 0, "maxDepth": 99})),
                    ask(
                        scene,
                        claim,
                        Spawn(name="extra", dedupe_key="token"),
                        token=None if stale is None else stale.token,
                    ),
                )
                stale = claim
                await end_step(scene, claim)

        chain = await read(scene, run_id)
        assert chain.state is ChainState.CLOSED
        assert chain.children <= 8
        assert max(step.depth for step in chain.steps) <= 4
        assert await children(scene, run_id) == chain.children
        kinds = [alert.kind for alert in await alerts(scene)]
        assert kinds.count(AlertKind.BREAKER_OPENED) == 1
        await settle_chains(scene)
        assert (await read(scene, other)).outcome is ChainOutcome.BREAKER_OPEN
        assert await open_runs(scene) == []
        refused = await arm_chain(scene, slot="later")
        run = await scene.run(refused)
        assert (run.status, run.reason) == (Status.SKIPPED, "chain_refused")
        assert "is open until" in (run.error or "")

    @pytest.mark.proves("C3", "B4")
    @pytest.mark.parametrize(
        "claims", [{"depth": 1 + 1}, {"chainId": "other"}, {"maxChildren": 99}, {"expiresAt": "2099"}, {"x": 1}]
    )
    async def test_a_forged_claim_opens_the_breaker(self, scene: Scene, claims: Mapping[str, Any]) -> None:
        await put_class(scene, stages={"extra": {}})
        run_id = await arm_chain(scene)
        claim = await begin_action(scene, run_id)

        answer = await ask(scene, claim, Spawn(name="extra", claims=claims))
        honest = await ask(scene, claim, Spawn(name="extra", claims={"depth": 1, "chainClass": DISK}))

        assert codes([answer, honest])[0] == "forged"
        assert codes([honest])[0] in ("breaker_open", "chain_closed")
        assert (await class_state(scene)).breaker(scene.now) is BreakerState.OPEN
        assert (await read(scene, run_id)).children == 1

    async def test_a_true_claim_is_accepted(self, scene: Scene) -> None:
        await put_class(scene, stages={"extra": {}})
        claim = await begin_action(scene, await arm_chain(scene))

        answer = await ask(scene, claim, Spawn(name="extra", claims={"depth": 1, "chainClass": DISK}))

        assert codes([answer]) == ["new"]

    @pytest.mark.proves("B4")
    async def test_forgery_by_a_run_without_a_chain_opens_the_breaker_of_its_job(self, scene: Scene) -> None:
        await scene.job("report")
        await scene.job("clean")
        claim = await scene.start(a_run(job_id="report"))

        answers = [await ask(scene, claim, Spawn(name="clean", claims=forged)) for forged in ({"depth": 0}, {})]

        assert codes(answers) == ["forged", "breaker_open"]
        state = await class_state(scene, job_class("report"))
        assert (state.breaker(scene.now), state.active) == (BreakerState.OPEN, [])
        assert [alert.kind for alert in await alerts(scene)] == [AlertKind.BREAKER_OPENED]
        assert await scene.storage.queries.page_runs(RunFilter(job_id=JobId("clean"))) == []

    async def test_follow_ups_of_a_run_have_the_default_limits(self, scene: Scene, another: Another) -> None:
        await scene.job("report")
        await scene.job("clean")
        claim = await scene.start(a_run(job_id="report"))

        found = codes(await self.spawn_at_once(scene, another, claim, name="clean"))

        assert (found.count("new"), found.count("spawn_rate")) == (3, 1)

    # -- many at once

    async def spawn_at_once(
        self, scene: Scene, another: Another, claim: Claim, *, name: str = "extra", key: str | None = None
    ) -> list[Mapping[str, Any] | None]:
        storages = [scene.storage, await another()]
        requests = [Spawn(name=name, dedupe_key=str(n) if key is None else key) for n in range(MANY)]
        asked = [ask(scene, claim, one, storage=storages[n % 2]) for n, one in enumerate(requests)]
        return list(await asyncio.gather(*asked))

    async def scouts(self, scene: Scene, count: int) -> list[Claim]:
        runs = [await start_chain(scene) for _ in range(count)]
        return [claim for run_id in runs for claim in (await step_claims(scene, run_id)).values()]

    async def trigger_at_once(
        self, scene: Scene, another: Another, claims: list[Claim], *, slots: int
    ) -> list[Mapping[str, Any] | None]:
        storages = [scene.storage, await another()]
        asked = [
            ask(scene, claim, Spawn(name="action", slot=f"lot-{n % slots}"), storage=storages[n % 2])
            for n, claim in enumerate(claims)
        ]
        return list(await asyncio.gather(*asked))


async def children(scene: Scene, run_id: RunId) -> int:
    """Return how many runs of steps the chain has, without its scout."""
    runs = await scene.storage.queries.page_runs(RunFilter(parent_id=run_id, limit=1_000))
    return sum(not (run.child_key or "").startswith("scout") for run in runs)


async def open_runs(scene: Scene) -> list[RunId]:
    runs = await scene.storage.queries.page_runs(RunFilter(limit=1_000))
    return [run.id for run in runs if not run.status.is_terminal]
