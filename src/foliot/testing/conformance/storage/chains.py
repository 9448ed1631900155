"""The promises of a storage about chains: documents of classes, records, requests of running steps, pages."""

import asyncio

import pytest
from msgspec.structs import replace

from foliot.domain.alert import Alert, AlertKind
from foliot.domain.chain.class_state import class_key, job_class
from foliot.domain.chain.decision import Decision
from foliot.domain.chain.message import Decide, ReadStatus, Spawn, Spend
from foliot.domain.chain.state import ChainOutcome, ChainState
from foliot.domain.ids import RunId, Token, WorkerId
from foliot.domain.instant import DAY, MINUTE, Millis
from foliot.domain.job.job import Options
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.reference import RunById
from foliot.domain.run.run import Status
from foliot.domain.tree.abandonment import abandon
from foliot.domain.tree.kind import ChildEnd, SharedDocument, Wanted
from foliot.domain.tree.run_kind import RunKind, kind_of
from foliot.domain.tree.settlement import SharedChange
from foliot.domain.tree.tree import MAX_DEPTH
from foliot.ports.audit import AuditFilter
from foliot.ports.chains import ChainFilter
from foliot.ports.pages import RunFilter
from foliot.testing.builders import a_finish, a_run, retention
from foliot.testing.conformance.storage.chain_builders import (
    DISK,
    alerts,
    arm_chain,
    ask,
    begin_action,
    class_state,
    document,
    end_step,
    prepare_opening,
    put_class,
    read,
    read_details,
    settle_chains,
    settlements,
    start_chain,
    step_claims,
)
from foliot.testing.conformance.storage.scene import Contract, Scene

SECOND_DAY = Millis(2 * DAY)


class ChainContract(Contract):
    """Every storage must pass these tests unchanged."""

    # -- documents of classes

    async def test_a_document_that_does_not_exist_has_the_version_0(self, scene: Scene) -> None:
        assert await document(scene) == SharedDocument(0, None)

    async def test_arming_saves_record_document_and_alert_together(self, scene: Scene) -> None:
        await put_class(scene)

        run_id = await arm_chain(scene)

        details = await read_details(scene, run_id)
        assert details.record is not None
        assert (details.record.state, details.record.slot, details.record.children) == (ChainState.ARMED, "main", 1)
        assert [one.run_id for one in (await class_state(scene)).active] == [run_id]
        assert (await document(scene)).version == 1
        assert [(alert.kind, alert.subject) for alert in await alerts(scene)] == [(AlertKind.CHAIN_ARMED, DISK)]

    async def test_of_two_settlements_of_one_class_the_second_is_decided_again(self, scene: Scene) -> None:
        await put_class(scene)
        runs = [await start_chain(scene), await start_chain(scene)]
        for run_id in runs:
            [claim] = (await step_claims(scene, run_id)).values()
            await scene.storage.work.finish([a_finish(claim, Success(exit_code=10))], at=scene.now)
        decided = await settlements(scene)

        saved = await scene.storage.trees.settle(decided, at=scene.now)

        assert len(saved) == 1
        assert len((await class_state(scene)).active) == 1
        assert len(await alerts(scene)) == 1
        await settle_chains(scene)
        assert sorted(await scene.statuses(*runs)) == sorted([Status.RUNNING, Status.SKIPPED])

    async def test_an_outdated_settlement_changes_nothing(self, scene: Scene) -> None:
        await put_class(scene)
        run_id = await arm_chain(scene)
        claim = await begin_action(scene, run_id)
        await scene.finish(a_finish(claim, Success(exit_code=0)))
        [decided] = await settlements(scene)
        assert await scene.storage.trees.settle([decided], at=scene.now) == [run_id]

        before = await read_details(scene, run_id)
        assert await scene.storage.trees.settle([decided], at=scene.now) == []

        assert await read_details(scene, run_id) == before

    async def test_an_opening_based_on_an_older_document_gives_the_run_back(self, scene: Scene) -> None:
        await put_class(scene, stages={"scout": None})
        first, second = await prepare_opening(scene, payload={"slot": "a"}), await prepare_opening(scene)
        assert await scene.storage.trees.open([first], at=scene.now) == []

        assert await scene.storage.trees.open([second], at=scene.now) == [second.claim.token]

        assert len((await class_state(scene)).active) == 1
        run = await scene.run(second.tree.run_id)
        assert (run.status, run.token) == (Status.RUNNING, second.claim.token)
        assert await scene.storage.queries.chain(second.tree.run_id) is None
        assert len(await alerts(scene)) == 1

    async def test_two_openings_of_one_class_in_one_call(self, scene: Scene) -> None:
        await put_class(scene, stages={"scout": None})
        both = [await prepare_opening(scene, payload={"slot": slot}) for slot in "ab"]

        assert await scene.storage.trees.open(both, at=scene.now) == [both[1].claim.token]
        assert [one.slot for one in (await class_state(scene)).active] == ["a"]

    async def test_ends_of_steps_are_loaded_with_their_outputs(self, scene: Scene) -> None:
        await put_class(scene)
        run_id = await start_chain(scene)
        [claim] = (await step_claims(scene, run_id)).values()
        await scene.finish(a_finish(claim, Failure("broken", Reason.EXIT_CODE, 3, output=b'{"tokens":5}')))

        loaded = await scene.storage.trees.load([Wanted(run_id=run_id, ends=frozenset({"scout.1", "other"}))])

        end = ChildEnd(Status.FAILED, "exit_code", "broken", 3, b'{"tokens":5}', claim.started_at)
        assert loaded[run_id].ends == {"scout.1": end}

    @pytest.mark.proves("R3-14", "C5")
    async def test_at_expiry_pending_steps_are_cancelled_and_the_chain_is_closed(self, scene: Scene) -> None:
        await put_class(scene, limits={"lifetime": 5 * MINUTE}, stages={"verify": {"delay": MINUTE}})
        run_id = await arm_chain(scene)
        action = await begin_action(scene, run_id)
        scene.clock.advance(30_000)
        await end_step(scene, action)
        assert await settlements(scene) == []

        scene.clock.advance(90_000)
        await settle_chains(scene)

        chain = await read(scene, run_id)
        assert (chain.state, chain.outcome) == (ChainState.CLOSED, ChainOutcome.EXPIRED)
        assert [step.status for step in chain.steps if step.stage == "verify"] == [Status.CANCELLED]
        assert (await scene.run(run_id)).status is Status.TIMEOUT
        assert (await class_state(scene)).active == []

    async def test_a_chain_that_is_ended_without_its_rules_frees_its_place(self, scene: Scene) -> None:
        await put_class(scene)
        run_id, other = await arm_chain(scene), await arm_chain(scene, slot="other")
        await scene.cancel(run_id)
        [one] = (await scene.storage.trees.unsettled(10, notes_per_tree=10, at=scene.now)).trees

        for _ in range(2):
            children = await scene.storage.trees.open_children(run_id)
            [one] = (await scene.storage.trees.unsettled(10, notes_per_tree=10, at=scene.now)).trees
            await scene.storage.trees.settle([abandon(one.tree, one.notes.items, children)], at=scene.now)

        assert await scene.status(run_id) is Status.CANCELLED
        page = await scene.storage.queries.chains_page(ChainFilter(state=ChainState.CLOSED))
        assert [(chain.run_id, chain.outcome) for chain in page.chains] == [(run_id, ChainOutcome.STOPPED)]
        assert [chain.run_id for chain in (await class_state(scene)).active] == [other]

    # -- requests

    @pytest.mark.proves("C3")
    async def test_only_the_current_lease_may_ask(self, scene: Scene) -> None:
        await put_class(scene)
        run_id = await arm_chain(scene)
        claim = await begin_action(scene, run_id)
        work = scene.storage.work
        before = await read_details(scene, run_id)

        stale = [
            await work.ask_chain(claim.run_id, claim.worker_id, Token(claim.token + 1), Spawn(name="verify")),
            await work.ask_chain(claim.run_id, WorkerId("other"), claim.token, Spawn(name="verify")),
            await work.ask_chain(run_id, claim.worker_id, claim.token, Spawn(name="verify")),
            await work.ask_chain(RunId("a\0b"), claim.worker_id, claim.token, Spawn(name="verify")),
        ]

        assert stale == [None] * 4
        assert await read_details(scene, run_id) == before
        await end_step(scene, claim)
        assert await ask(scene, claim, Spawn(name="verify")) is None

    @pytest.mark.proves("R3-10", "R3-11", "R3-12", "R3-13", "R3-17", "R3-26")
    async def test_a_step_spawns_a_stage_once(self, scene: Scene) -> None:
        await put_class(scene, stages={"extra": {}})
        run_id = await arm_chain(scene)
        claim = await begin_action(scene, run_id)

        first = await ask(scene, claim, Spawn(name="extra", delay=Millis(5_000), payload={"n": 1}))
        second = await ask(scene, claim, Spawn(name="extra"))

        assert first is not None
        assert second is not None
        assert (first["is_new"], second["is_new"], first["run_id"]) == (True, False, second["run_id"])
        run = await scene.run(RunId(first["run_id"]))
        assert (run.parent_id, run.child_key, run.trigger) == (run_id, "extra.1", "chain")
        assert run.due_at == scene.after(5_000)
        assert run.payload["data"] == {"n": 1}
        about = run.payload["chain"]
        assert (about["chain_class"], about["depth"], about["attempt"]) == (DISK, 2, 1)
        assert about["chain_id"] == (await read(scene, run_id)).id

    @pytest.mark.proves("R3-15")
    @pytest.mark.parametrize("levels", [1, MAX_DEPTH])
    async def test_a_run_inside_of_a_step_asks_the_chain_of_the_step(self, scene: Scene, levels: int) -> None:
        await put_class(scene, stages={"extra": {}})
        run_id = await arm_chain(scene)
        inner = await begin_action(scene, run_id)
        for _ in range(levels):
            inner = await scene.start(a_run(parent_id=inner.run_id, root_id=run_id, child_key="0"))

        created = await ask(scene, inner, Spawn(name="extra"))
        spent = await ask(scene, inner, Spend(tokens=3))
        status = await ask(scene, inner, ReadStatus())
        decided = await ask(scene, inner, Decide(decision=Decision.CLOSE))

        assert created is not None
        assert (await scene.run(RunId(created["run_id"]))).parent_id == run_id
        chain = await read(scene, run_id)
        assert [(step.key, step.depth, step.parent) for step in chain.steps][-1] == ("extra.1", 2, "action.1")
        assert (spent, status and status["stage"]) == ({"tokens": 3, "usd": 0.0}, "action")
        assert decided is not None
        assert (decided["code"], "only the step itself decides" in decided["error"]) == ("decision_not_allowed", True)

    async def test_a_decision_based_on_the_state_before_a_request_is_not_saved(self, scene: Scene) -> None:
        await put_class(scene, stages={"extra": {}})
        run_id = await arm_chain(scene)
        claim = await begin_action(scene, run_id)
        await scene.cancel(run_id)
        [decided] = await settlements(scene)

        await ask(scene, claim, Spend(tokens=5))

        assert await scene.storage.trees.settle([decided], at=scene.now) == []
        assert (await read(scene, run_id)).tokens == 5

    @pytest.mark.proves("C4")
    async def test_nothing_is_spawned_into_a_stopped_chain(self, scene: Scene) -> None:
        await put_class(scene, stages={"extra": {}})
        run_id = await arm_chain(scene)
        claim = await begin_action(scene, run_id)
        await scene.cancel(run_id)

        refused = await ask(scene, claim, Spawn(name="extra"))
        await settle_chains(scene)
        again = await ask(scene, claim, Spawn(name="extra"))

        assert refused is not None
        assert again is not None
        assert (refused["code"], again["code"]) == ("chain_closed", "chain_closed")
        assert (await read(scene, run_id)).children == 1

    async def test_a_scout_that_asks_for_the_action_arms_the_chain(self, scene: Scene) -> None:
        await put_class(scene)
        run_id = await start_chain(scene)
        [claim] = (await step_claims(scene, run_id)).values()

        answer = await ask(scene, claim, Spawn(name="action", slot="lot-7"))
        again = await ask(scene, claim, Spawn(name="action", slot="lot-7"))

        assert answer is not None
        assert again is not None
        assert (answer["is_new"], again["is_new"], again["run_id"]) == (True, False, answer["run_id"])
        await end_step(scene, claim, 10)
        record = (await read_details(scene, run_id)).record
        assert record is not None
        assert (record.slot, record.children, record.state) == ("lot-7", 1, ChainState.ARMED)
        assert len(await alerts(scene)) == 1

    async def test_a_told_decision_and_a_spending_are_kept(self, scene: Scene) -> None:
        await put_class(scene)
        run_id = await arm_chain(scene)
        claim = await begin_action(scene, run_id)

        await ask(scene, claim, Spend(tokens=7, usd=0.5))
        told = await ask(scene, claim, Decide(decision=Decision.CLOSE, reason="fixed by hand"))
        again = await ask(scene, claim, Decide(decision=Decision.DONE))
        status = await ask(scene, claim, ReadStatus())
        await end_step(scene, claim)

        assert told is not None and again is not None and status is not None  # noqa: PT018
        assert (told["decision"], again["code"]) == ("close", "already_decided")
        assert (status["state"], status["tokens"], status["usd"]) == ("active", 7, 0.5)
        record = (await read_details(scene, run_id)).record
        assert record is not None
        assert (record.outcome, record.tokens, record.usd) == (ChainOutcome.RESOLVED, 7, 0.5)

    # -- chains that runs start by themselves

    async def test_a_run_starts_a_chain_with_its_first_follow_up(self, scene: Scene) -> None:
        await scene.job("report")
        await scene.job("clean", options=Options(priority=3))
        claim = await scene.start(a_run(job_id="report"))

        first = await ask(scene, claim, Spawn(name="clean", delay=Millis(2_000), payload=[1]))
        other = await ask(scene, claim, Spawn(name="clean", dedupe_key="b"))

        assert first is not None
        assert other is not None
        step, second = await scene.run(RunId(first["run_id"])), await scene.run(RunId(other["run_id"]))
        assert (step.job_id, step.priority, step.payload, step.status) == ("clean", 3, [1], Status.SCHEDULED)
        assert step.parent_id is not None
        assert second.parent_id == step.parent_id
        root = await scene.run(step.parent_id)
        assert (root.status, root.trigger, kind_of(root)) == (Status.RUNNING, "chain", RunKind.CHAIN)
        assert (kind_of(step), step.root_id) == (RunKind.STEP, root.id)
        details = await read_details(scene, root.id)
        assert details.record is not None
        assert (details.record.class_id, details.record.slot) == (job_class("report"), claim.run_id)
        scene.clock.advance(2_000)
        for one in (await step_claims(scene, root.id)).values():
            await end_step(scene, one)
        assert await scene.status(root.id) is Status.SUCCESS
        assert (await class_state(scene, job_class("report"))).active == []

    async def test_a_follow_up_names_an_existing_job(self, scene: Scene) -> None:
        claim = await scene.start()
        runs = len(await scene.storage.queries.page_runs(RunFilter()))

        answers = [await ask(scene, claim, Spawn(name=name)) for name in ("missing", "a\0b", "")]

        assert [one and one["code"] for one in answers] == ["job_not_found"] * 3
        assert len(await scene.storage.queries.page_runs(RunFilter())) == runs
        assert await scene.storage.queries.chain_classes() == []

    async def test_a_run_without_a_chain_decides_nothing(self, scene: Scene) -> None:
        claim = await scene.start()

        answers = [
            await ask(scene, claim, one) for one in (Decide(decision=Decision.CLOSE), Spend(tokens=1), ReadStatus())
        ]

        assert [one and one["code"] for one in answers] == ["no_chain"] * 3

    # -- classes

    @pytest.mark.proves("R3-30")
    async def test_a_class_is_changed_in_the_version_that_was_read(self, scene: Scene) -> None:
        await put_class(scene, stages={"extra": {}})
        run_id = await arm_chain(scene)
        claim = await begin_action(scene, run_id)
        version, body = await document(scene)
        stopped = replace(await class_state(scene), is_stopped=True).encode()
        alert = Alert(AlertKind.BREAKER_CLOSED, DISK, {"by": "ann"})
        orders = scene.storage.orders

        outdated = await orders.change_class(
            SharedChange(class_key(DISK), version - 1, stopped), [run_id], [alert], at=scene.now
        )
        assert (outdated, await document(scene)) == (False, SharedDocument(version, body))
        assert await orders.change_class(
            SharedChange(class_key(DISK), version, stopped), [run_id], [alert], at=scene.now
        )

        late = await ask(scene, claim, Spawn(name="extra"))
        await settle_chains(scene)
        assert late is not None
        assert late["code"] == "chain_closed"
        assert (await class_state(scene)).is_stopped
        assert await scene.status(claim.run_id) is Status.CANCELLING
        assert (await alerts(scene))[-1] == alert
        refused = await arm_chain(scene, slot="other")
        assert (await scene.run(refused)).reason == Reason.CHAIN_REFUSED

    async def test_a_class_without_a_document_can_be_changed(self, scene: Scene) -> None:
        change = SharedChange(class_key("new"), 0, (await class_state(scene)).encode())

        assert await scene.storage.orders.change_class(change, [], [], at=scene.now)
        assert not await scene.storage.orders.change_class(change, [], [], at=scene.now)
        [entry] = await scene.storage.audit.page(AuditFilter(id=change.key))
        assert (entry.action, entry.kind, entry.after) == ("change", "chains", {"cancelled": [], "alerts": []})
        assert not await scene.storage.orders.change_class(
            change._replace(key=class_key("none"), version=3), [], [], at=scene.now
        )

    async def test_classes_are_listed_with_their_documents(self, scene: Scene) -> None:
        await put_class(scene)
        await put_class(scene, "quiet")
        await scene.job("report")
        await scene.job("clean")
        await arm_chain(scene)
        await ask(scene, await scene.start(a_run(job_id="report")), Spawn(name="clean"))

        classes = await scene.storage.queries.chain_classes()

        assert [(one.class_id, one.job is not None, one.document.version > 0) for one in classes] == [
            (DISK, True, True),
            ("job:report", False, True),
            ("quiet", True, False),
        ]

    # -- lists

    async def test_chains_are_listed_newest_first_in_pages(self, scene: Scene) -> None:
        await put_class(scene, limits={"max_concurrent": 10})
        await put_class(scene, "other")
        runs = []
        for slot in "abc":
            runs.append(await arm_chain(scene, slot=slot))
            scene.clock.advance(1_000)
        elsewhere = await arm_chain(scene, "other")
        await scene.cancel(runs[0])
        await settle_chains(scene)
        queries = scene.storage.queries

        first = await queries.chains_page(ChainFilter(limit=3))
        rest = await queries.chains_page(ChainFilter(limit=3, before=first.next))
        own = await queries.chains_page(ChainFilter(class_id=DISK))
        closed = await queries.chains_page(ChainFilter(class_id=DISK, state=ChainState.CLOSED))
        armed = await queries.chains_page(ChainFilter(state=ChainState.ARMED, limit=2))
        armed_own = await queries.chains_page(ChainFilter(class_id=DISK, state=ChainState.ARMED))
        not_closed = await queries.chains_page(ChainFilter(is_open=True, limit=2))
        own_rest = await queries.chains_page(ChainFilter(class_id=DISK, is_open=True, before=not_closed.next))

        assert [one.run_id for one in first.chains] == [elsewhere, runs[2], runs[1]]
        assert ([one.run_id for one in rest.chains], rest.next) == ([runs[0]], None)
        assert [one.run_id for one in own.chains] == runs[::-1]
        assert [(one.run_id, one.outcome) for one in closed.chains] == [(runs[0], ChainOutcome.STOPPED)]
        assert [one.run_id for one in armed.chains] == [elsewhere, runs[2]]
        assert [one.run_id for one in armed_own.chains] == [runs[2], runs[1]]
        assert [one.run_id for one in not_closed.chains] == [elsewhere, runs[2]]
        assert [one.run_id for one in own_rest.chains] == [runs[1]]

    async def test_a_chain_is_found_by_run_and_by_id(self, scene: Scene) -> None:
        await put_class(scene)
        first = await arm_chain(scene)
        await scene.cancel(first)
        await settle_chains(scene)
        second = await arm_chain(scene)

        found = await read_details(scene, first)
        assert found.record is not None
        newest = await read_details(scene, found.record.chain_id)

        assert (found.run.id, newest.run.id) == (first, second)
        assert {run.child_key for run in newest.steps.values()} == {"scout.1", "action.1"}
        assert await scene.storage.queries.chain("nothing") is None
        quiet = await start_chain(scene)
        assert (await read_details(scene, quiet)).record is None

    @pytest.mark.proves("R3-09")
    async def test_a_pruned_chain_leaves_no_row(self, scene: Scene) -> None:
        await put_class(scene)
        run_id = await arm_chain(scene)
        await scene.cancel(run_id)
        await settle_chains(scene)
        scene.clock.advance(SECOND_DAY)

        for _ in range(5):
            await scene.prune(retention(runs_age=DAY, executions_age=DAY))

        assert (await scene.storage.queries.chains_page(ChainFilter())).chains == []
        assert await scene.storage.queries.chain(run_id) is None

    async def test_a_chain_is_shown_as_a_root_with_steps(self, scene: Scene) -> None:
        await put_class(scene)
        run_id = await arm_chain(scene)

        roots = await scene.storage.queries.page_runs(RunFilter(roots=True))
        steps = await scene.storage.queries.runs(RunFilter(), parent=RunById(run_id))

        assert [(run.id, kind_of(run)) for run in roots] == [(run_id, RunKind.CHAIN)]
        assert isinstance(steps, list)
        assert {kind_of(step) for step in steps} == {RunKind.STEP}
        assert await scene.storage.queries.get_executions([run_id]) == {}

    async def test_parallel_requests_and_settlements_do_not_block_each_other(self, scene: Scene) -> None:
        await put_class(scene, stages={"extra": {}}, limits={"spawns": 100, "class_spawns": 1_000, "max_children": 100})
        claims = []
        for slot in "abc":
            run_id = await arm_chain(scene, slot=slot)
            claims.append(await begin_action(scene, run_id))
        asks = [ask(scene, claim, Spawn(name="extra", dedupe_key=str(n))) for n in range(5) for claim in claims]

        await asyncio.gather(*asks, *(settle_chains(scene) for _ in range(3)))

        assert [(await read(scene, one.parent_id or RunId(""))).children for one in claims] == [6, 6, 6]
