"""Fanouts in workflows, workflows in fanouts, and gates that depend on fanouts."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from foliot.domain.gate.spec import Action, Gate
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import MINUTE, Millis
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.outcome import Success
from foliot.domain.run.run import Run, Status
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.ports.runner import Attempt
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.testing.invariants import check_invariants
from foliot.wiring.services import build_services
from tests.engine.fanouts import BAD, SCAN, FanoutRig, a_fanout, a_reducer, fail, statuses

LIST = "{{ steps.list.output }}"


def printing(output: Any, *, failing: tuple[object, ...] = ()) -> Any:
    """Build an answer: the step `list` returns `output`, and these items fail."""

    def answer(attempt: Attempt) -> Any:
        if attempt.spec.get("role") == "list":
            return Success(output=None if output is ... else msgspec.json.encode(output))
        return BAD if attempt.payload in failing else Success()

    return answer


async def start(rig: FanoutRig, scan: JobSpec, **fields: Any) -> RunId:
    """Start a workflow that lists items, scans each of them, and reports."""
    steps = (
        Step(name="list", definition=JobSpec(kind="stage", spec={"role": "list"})),
        Step(name="scan", definition=scan, after=(Edge(parent="list"),)),
        Step(name="report", definition=JobSpec(kind="stage", spec={"role": "report"}), after=(Edge(parent="scan"),)),
    )
    services = build_services(rig.storage, rig.clock, rig.ids)
    await services.workflows.put({"flow": WorkflowSpec(steps=steps, **fields)})
    return RunId(await services.workflows.start("flow"))


async def results(rig: FanoutRig, execution: RunId) -> dict[str, str | None]:
    return {step.name: step.state.result for step in await rig.storage.trees.steps(execution)}


async def step_run(rig: FanoutRig, execution: RunId, name: str) -> Run:
    [run] = [run for run in await rig.runs() if run.parent_id == execution and run.child_key == name]
    return run


@pytest.mark.parametrize(
    ("output", "items"),
    [
        (["a", "b"], ["a", "b"]),
        ([{"host": "a"}, 2, None], [{"host": "a"}, 2, None]),
        ("a\nb\n", ["a", "b"]),
        ('["a"]\nb', ['["a"]', "b"]),
        (["12", "true"], ["12", "true"]),
        ([], []),
        ("", []),
    ],
)
async def test_a_step_fans_out_over_the_output_of_an_earlier_step(
    storage: Storage, clock: VirtualClock, output: Any, items: list[Any]
) -> None:
    rig = FanoutRig(storage, clock, printing(output))
    execution = await start(rig, a_fanout(LIST, concurrency=1))

    run = await rig.go_on(execution)

    assert run.status is Status.SUCCESS
    scanned = [attempt.payload for attempt in rig.runner.attempts if "role" not in attempt.spec]
    assert scanned == items
    scan = await step_run(rig, execution, "scan")
    assert {child.root_id for child in await rig.children(scan.id)} <= {execution}
    assert await check_invariants(storage, now=clock.now()) == []


@pytest.mark.parametrize(
    ("output", "error"),
    [
        (..., "there are no items, not even an empty list"),
        (None, "there are no items, not even an empty list"),
        ({"a": 1}, "the items are an object, not a list and not text"),
        (5, "the items are a number, not a list and not text"),
        (True, "the items are true or false, not a list and not text"),
    ],
)
async def test_a_step_fails_if_the_earlier_output_is_no_list(
    storage: Storage, clock: VirtualClock, output: Any, error: str
) -> None:
    rig = FanoutRig(storage, clock, printing(output))
    execution = await start(rig, a_fanout(LIST))

    run = await rig.go_on(execution)

    assert run.status is Status.FAILED
    scan = await step_run(rig, execution, "scan")
    assert (scan.status, scan.reason) == (Status.FAILED, "inputs")
    assert scan.error is not None
    assert scan.error.startswith(error)
    assert await rig.children(scan.id) == []


@pytest.mark.parametrize(
    ("counts_as", "result", "report"), [("success", "success", "success"), ("failed", "failure", "skipped")]
)
async def test_a_partial_fanout_counts_as_the_workflow_says(
    storage: Storage, clock: VirtualClock, counts_as: Any, result: str, report: str
) -> None:
    rig = FanoutRig(storage, clock, printing(["a", "b"], failing=("b",)))
    execution = await start(rig, a_fanout(LIST, partial_tolerance=0.5), partial_counts_as=counts_as)

    await rig.go_on(execution)

    assert (await step_run(rig, execution, "scan")).status is Status.PARTIAL
    found = await results(rig, execution)
    assert (found["scan"], found["report"]) == (result, report)


async def test_cancelling_a_workflow_cancels_the_fanout_of_its_step(storage: Storage, clock: VirtualClock) -> None:
    items = list(range(300))
    rig = FanoutRig(storage, clock, lambda attempt: None)
    execution = await start(rig, a_fanout(items, reducer=a_reducer(run_on="always")))
    await rig.turn()
    await rig.turn()
    rig.runner.end(rig.runner.under_way[0])
    for _ in range(4):
        await rig.turn()
    assert len(rig.runner.under_way) == 4

    await storage.orders.cancel([execution])
    run = await rig.go_on(execution)

    scan = await step_run(rig, execution, "scan")
    assert (run.status, scan.status) == (Status.CANCELLED, Status.CANCELLED)
    assert set(statuses(await rig.children(scan.id))) == {Status.CANCELLED}
    assert rig.runner.reducers == []


async def test_the_timeout_of_a_workflow_ends_the_fanout_of_its_step(storage: Storage, clock: VirtualClock) -> None:
    rig = FanoutRig(storage, clock, lambda attempt: None if attempt.payload == "slow" else Success())
    execution = await start(rig, a_fanout(["a", "slow"]), options=Options(timeout=Millis(MINUTE)))
    for _ in range(6):
        await rig.turn()

    clock.advance(MINUTE)
    run = await rig.go_on(execution)

    scan = await step_run(rig, execution, "scan")
    assert (run.status, scan.status) == (Status.TIMEOUT, Status.CANCELLED)
    assert statuses(await rig.children(scan.id)) == [Status.SUCCESS, Status.CANCELLED]


# -- workflows in fanouts


async def nest(rig: FanoutRig, leaves: int = 3) -> None:
    """Define a fanout over a workflow, one step of which is a fanout."""
    inner = a_fanout([f"leaf {number}" for number in range(leaves)], reducer=a_reducer())
    steps = (
        Step(name="scan", definition=inner),
        Step(
            name="report", definition=JobSpec(kind="stage"), payload="{{ params.host }}", after=(Edge(parent="scan"),)
        ),
    )
    services = build_services(rig.storage, rig.clock, rig.ids)
    await services.workflows.put({"site": WorkflowSpec(steps=steps, params={"host": ""})})
    await rig.fanout([{"host": name} for name in "abc"], job="site", concurrency=2, reducer=a_reducer())


async def test_a_fanout_runs_a_workflow_for_each_item_which_fans_out_again(
    storage: Storage, clock: VirtualClock
) -> None:
    rig = FanoutRig(storage, clock)
    await nest(rig)
    run_id = await rig.enqueue(SCAN)

    run = await rig.go_on(run_id)

    assert run.status is Status.SUCCESS
    sites = await rig.children(run_id)
    assert [(site.job_id, site.status, site.payload) for site in sites] == [
        ("site", Status.SUCCESS, {"host": name}) for name in "abc"
    ]
    leaves = [run for run in await rig.runs() if run.job_id == "site.scan.item"]
    assert (len(leaves), {leaf.root_id for leaf in leaves}) == (9, {run_id})
    assert len(rig.runner.reducers) == 4
    assert [attempt.payload for attempt in rig.runner.attempts if attempt.job_id == "site.report"] == ["a", "b", "c"]
    assert await check_invariants(storage, now=clock.now()) == []


async def test_cancelling_a_fanout_cancels_the_trees_of_its_children(storage: Storage, clock: VirtualClock) -> None:
    rig = FanoutRig(storage, clock, lambda attempt: None)
    await nest(rig)
    run_id = await rig.enqueue(SCAN)
    for _ in range(6):
        await rig.turn()
    assert len(rig.runner.under_way) == 6

    await storage.orders.cancel([run_id])
    run = await rig.go_on(run_id)

    assert run.status is Status.CANCELLED
    assert {run.status for run in await rig.runs()} == {Status.CANCELLED}
    assert len(rig.runner.attempts) == 6
    assert await check_invariants(storage, now=clock.now()) == []


async def test_a_fanout_over_a_missing_job_fails_when_it_begins(storage: Storage, clock: VirtualClock) -> None:
    rig = FanoutRig(storage, clock)

    run = await rig.go_on(await rig.start(["a"], job="missing"))

    assert (run.status, run.reason) == (Status.FAILED, "launch_failed")
    assert run.error is not None
    assert "job 'missing' does not exist" in run.error


# -- gates


@pytest.mark.parametrize(
    ("failing", "counts_as", "status"),
    [
        ((), "success", Status.SUCCESS),
        (("b",), "success", Status.SUCCESS),
        (("b",), "failed", Status.SKIPPED),
        (("a", "b"), "success", Status.SKIPPED),
    ],
)
async def test_a_gate_depends_on_the_status_of_a_fanout(
    storage: Storage, clock: VirtualClock, failing: tuple[str, ...], counts_as: Any, status: Status
) -> None:
    rig = FanoutRig(storage, clock, fail(*failing))
    await rig.fanout(["a", "b"], partial_tolerance=0.5)
    gate = Gate(depends_on=(SCAN,), on_dep_fail=Action.SKIP, partial_counts_as=counts_as)
    await storage.definitions.put_jobs([(JobId("digest"), replace(JobSpec(kind="stage"), gate=gate))])
    await storage.definitions.watch_jobs({SCAN: gate.look_back})
    await rig.go_on(await rig.enqueue(SCAN))

    digest = await rig.enqueue("digest", is_gated=True)
    await rig.timekeeping.gates.round()
    run = await rig.go_on(digest)

    assert run.status is status


async def test_a_gate_waits_for_a_fanout_until_its_reducer_has_ended(storage: Storage, clock: VirtualClock) -> None:
    rig = FanoutRig(storage, clock, lambda attempt: None if attempt.spec.get("role") == "reducer" else Success())
    await rig.fanout(["a", "b"], reducer=a_reducer())
    gate = Gate(depends_on=(SCAN,), wait=Millis(60 * MINUTE))
    await storage.definitions.put_jobs([(JobId("digest"), replace(JobSpec(kind="stage"), gate=gate))])
    await storage.definitions.watch_jobs({SCAN: gate.look_back})
    scan = await rig.enqueue(SCAN)
    digest = await rig.enqueue("digest", is_gated=True)
    for _ in range(5):
        await rig.timekeeping.gates.round()
        await rig.turn()
    assert [await rig.status(run_id) for run_id in (scan, digest)] == [Status.RUNNING, Status.SCHEDULED]

    rig.runner.end(rig.runner.reducers[0].run_id)
    await rig.go_on(scan)
    clock.advance(MINUTE)
    await rig.timekeeping.gates.round()

    assert (await rig.go_on(digest)).status is Status.SUCCESS
