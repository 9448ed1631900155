"""Dependencies between jobs."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from foliot import Foliot, Workflow, current_run
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.workflow.conditions import Condition
from foliot.domain.workflow.spec import Edge
from foliot.errors import CycleDetected, InvalidJob, InvalidRun, NotFound
from foliot.testing.inline import InlineEngine

RAN: list[tuple[str, str | None]] = []
FAILING: set[str] = set()
HELD: dict[str, asyncio.Event] = {}


@pytest.fixture
def app() -> Foliot:
    app = Foliot()
    for name in "abcd":

        @app.job(id=name)
        async def work(name: str = name) -> None:
            RAN.append((name, current_run().execution_id))
            if name in HELD:
                await HELD[name].wait()
            if name in FAILING:
                raise ValueError(name)

    app.schedule("hourly", "a", cron="0 * * * *")
    return app


@pytest.fixture
async def engine(app: Foliot) -> AsyncIterator[InlineEngine]:
    RAN.clear()
    FAILING.clear()
    async with InlineEngine(app) as engine:
        yield engine


def ran() -> list[str]:
    return [name for name, _ in RAN]


@pytest.mark.proves("R2-12", "R2-22", "R2-38", "R2-45")
async def test_a_schedule_of_a_root_job_starts_its_dependent_jobs(app: Foliot, engine: InlineEngine) -> None:
    await app.jobs.add_dependency("b", "a")
    await app.jobs.add_dependency("c", "b", "complete")

    await engine.advance(timedelta(hours=1))

    assert ran() == ["a", "b", "c"]
    assert len({execution for _, execution in RAN}) == 1
    assert RAN[0][1] is not None
    assert await app.jobs.dependencies("b") == [Edge(parent="a")]


@pytest.mark.proves("R2-03")
@pytest.mark.parametrize("failing", ["", "a", "b"])
async def test_a_workflow_declared_whole_has_the_edges_and_results_of_one_declared_edge_by_edge(
    app: Foliot, engine: InlineEngine, failing: str
) -> None:
    edges = {"b": {"a": "success"}, "c": {"b": "success"}, "d": dict.fromkeys("abc", "complete")}
    whole = Workflow("whole")
    for name in "abcd":
        step = whole.step(name, job=name)
        for parent, when in edges.get(name, {}).items():
            step.after(parent, when)
            await app.jobs.add_dependency(name, parent, when)
    await (await app.open()).workflows.put({"whole": whole.spec})
    FAILING.update(failing)

    await app.workflows.start("whole")
    await engine.run_until_idle()
    declared = ran()
    RAN.clear()
    await engine.advance(timedelta(hours=1))

    assert ran() == declared == {"": list("abcd"), "a": list("ad"), "b": list("abd")}[failing]
    for declared_step in whole.spec.steps:
        assert set(declared_step.after) == set(await app.jobs.dependencies(declared_step.name))


@pytest.mark.proves("R2-39")
async def test_a_job_without_children_has_no_execution(app: Foliot, engine: InlineEngine) -> None:
    await engine.advance(timedelta(hours=1))

    assert RAN == [("a", None)]


@pytest.mark.proves("R2-18", "R2-23")
async def test_an_edge_that_closes_a_cycle_is_refused(app: Foliot, engine: InlineEngine) -> None:
    await app.jobs.add_dependency("b", "a")
    await app.jobs.add_dependency("c", "b")

    with pytest.raises(CycleDetected, match="b -> c -> a -> b"):
        await app.jobs.add_dependency("a", "c")
    with pytest.raises(CycleDetected):
        await app.jobs.add_dependency("a", "a")
    assert await app.jobs.dependencies("a") == []


@pytest.mark.proves("R2-18", "R2-20")
async def test_an_edge_with_a_missing_job_or_condition_is_refused(app: Foliot, engine: InlineEngine) -> None:
    with pytest.raises(NotFound):
        await app.jobs.add_dependency("nobody", "a")
    with pytest.raises(NotFound):
        await app.jobs.add_dependency("a", "nobody")
    with pytest.raises(InvalidJob, match="Did you mean"):
        await app.jobs.add_dependency("b", "a", "sucess")
    await app.jobs.remove_dependency("b", "a")


async def test_adding_an_edge_twice_is_a_no_op_and_conditions_are_merged(app: Foliot, engine: InlineEngine) -> None:
    await app.jobs.add_dependency("b", "a")
    await app.jobs.add_dependency("b", "a")
    await app.jobs.add_dependency("b", "a", "failure")

    both = frozenset({Condition.SUCCESS, Condition.FAILURE})
    assert await app.jobs.dependencies("b") == [Edge(parent="a", when=both)]


async def test_removing_one_of_two_parents_keeps_the_other(app: Foliot, engine: InlineEngine) -> None:
    await app.jobs.add_dependency("d", "b")
    await app.jobs.add_dependency("d", "c")

    await app.jobs.remove_dependency("d", "b")

    assert [edge.parent for edge in await app.jobs.dependencies("d")] == ["c"]


async def test_without_edges_a_root_job_runs_alone(app: Foliot, engine: InlineEngine) -> None:
    await app.jobs.add_dependency("b", "a")
    await app.jobs.remove_dependency("b", "a")

    await engine.advance(timedelta(hours=1))

    assert RAN == [("a", None)]


async def test_declaring_a_job_again_keeps_its_edges(app: Foliot, engine: InlineEngine) -> None:
    await app.jobs.add_dependency("b", "a")
    services = await app.open()
    job = await services.jobs.record("a")
    await services.jobs.put({job.id: type(job.spec)(kind="python", spec={"handler": "a"}, source="app")})

    await engine.advance(timedelta(hours=1))

    assert ran() == ["a", "b"]


@pytest.mark.proves("R2-55")
async def test_deleting_a_job_removes_its_edges(app: Foliot, engine: InlineEngine) -> None:
    services = await app.open()
    await services.jobs.put({JobId("x"): JobSpec(kind="shell", spec={"command": "true"})})
    await app.jobs.add_dependency("x", "a")

    await app.jobs.delete("x")
    await engine.advance(timedelta(hours=1))

    assert RAN == [("a", None)]


async def test_a_diamond_of_jobs_runs_its_last_job_once(app: Foliot, engine: InlineEngine) -> None:
    for child, parent in (("b", "a"), ("c", "a"), ("d", "b"), ("d", "c")):
        await app.jobs.add_dependency(child, parent)

    await engine.advance(timedelta(hours=1))

    assert sorted(ran()) == ["a", "b", "c", "d"]
    assert (ran()[0], ran()[-1]) == ("a", "d")


async def test_a_failure_skips_jobs_that_wait_for_success(app: Foliot, engine: InlineEngine) -> None:
    FAILING.add("a")
    await app.jobs.add_dependency("b", "a")
    await app.jobs.add_dependency("c", "a", "failure")

    await engine.advance(timedelta(hours=1))

    assert ran() == ["a", "c"]


@pytest.mark.proves("R2-19")
async def test_edges_accept_display_names_of_jobs(app: Foliot, engine: InlineEngine) -> None:
    services = await app.open()
    named = {
        JobId(f"j{number}"): JobSpec(kind="shell", spec={"command": "true"}, name=name)
        for number, name in enumerate(("Nightly import", "Morning report"))
    }
    await services.jobs.put(named)

    await app.jobs.add_dependency("Morning report", "Nightly import", "complete")

    complete = Edge(parent="j0", when=frozenset({Condition.COMPLETE}))
    assert await app.jobs.dependencies("Morning report") == await app.jobs.dependencies("j1") == [complete]
    await app.jobs.remove_dependency("Morning report", "Nightly import")
    assert await app.jobs.dependencies("j1") == []
    with pytest.raises(NotFound):
        await app.jobs.dependencies("Evening report")


@pytest.fixture
async def held(app: Foliot, engine: InlineEngine) -> asyncio.Event:
    """An execution of a, b and c in sequence, in which a waits until the test releases it."""
    for child, parent in (("b", "a"), ("c", "b")):
        await app.jobs.add_dependency(child, parent)
    HELD["a"] = asyncio.Event()
    await engine.advance(timedelta(hours=1))
    return HELD.pop("a")


@pytest.mark.proves("R2-21")
async def test_an_edge_of_an_open_execution_cannot_be_removed(
    app: Foliot, engine: InlineEngine, held: asyncio.Event
) -> None:
    for child, parent in (("b", "a"), ("c", "b")):
        with pytest.raises(InvalidRun, match="has not ended"):
            await app.jobs.remove_dependency(child, parent)

    held.set()
    await engine.run_until_idle()
    await app.jobs.remove_dependency("c", "b")

    assert ran() == ["a", "b", "c"]
    assert await app.jobs.dependencies("c") == []


@pytest.mark.proves("R2-21")
async def test_an_edge_of_an_open_execution_cannot_be_removed_after_its_root_got_a_parent(
    app: Foliot, engine: InlineEngine, held: asyncio.Event
) -> None:
    await app.jobs.add_dependency("a", "d")

    with pytest.raises(InvalidRun, match="has not ended"):
        await app.jobs.remove_dependency("b", "a")
    await app.jobs.remove_dependency("a", "d")
    held.set()


@pytest.mark.proves("R2-20", "R2-21")
async def test_an_edge_outside_of_open_executions_can_be_removed(
    app: Foliot, engine: InlineEngine, held: asyncio.Event
) -> None:
    await app.jobs.remove_dependency("c", "a")
    await app.jobs.add_dependency("d", "c")

    await app.jobs.remove_dependency("d", "c")

    assert await app.jobs.dependencies("d") == []
    held.set()


@pytest.mark.proves("R2-24", "R2-60", "R2-66")
async def test_an_edge_added_during_an_execution_applies_to_the_next(
    app: Foliot, engine: InlineEngine, held: asyncio.Event
) -> None:
    await app.jobs.add_dependency("d", "a")
    held.set()
    await engine.run_until_idle()
    assert ran() == ["a", "b", "c"]

    await engine.advance(timedelta(hours=1))

    assert sorted(ran()[3:]) == ["a", "b", "c", "d"]


# -- several roots


@pytest.mark.proves("R2-41", "R2-49")
async def test_a_child_of_two_roots_runs_once_when_both_have_ended(app: Foliot, engine: InlineEngine) -> None:
    await app.jobs.add_dependency("d", "a")
    await app.jobs.add_dependency("d", "b", "complete")
    HELD["b"] = asyncio.Event()
    await engine.advance(timedelta(hours=1))
    assert sorted(ran()) == ["a", "b"]

    HELD.pop("b").set()
    await engine.run_until_idle()

    assert (sorted(ran()), ran()[-1]) == (["a", "b", "d"], "d")
    assert len({execution for _, execution in RAN}) == 1


async def test_a_root_that_fails_skips_the_common_child(app: Foliot, engine: InlineEngine) -> None:
    FAILING.add("b")
    for parent in "ab":
        await app.jobs.add_dependency("d", parent)

    await engine.advance(timedelta(hours=1))

    assert sorted(ran()) == ["a", "b"]


async def test_two_roots_with_schedules_of_their_own_are_not_joined(app: Foliot, engine: InlineEngine) -> None:
    await app.schedules.upsert("daily", job_id="b", cron="0 0 * * *")
    await app.jobs.add_dependency("d", "a")

    with pytest.raises(
        InvalidJob, match='"d" would join jobs that start on schedules of their own: "a", "b"'
    ) as caught:
        await app.jobs.add_dependency("d", "b")

    assert "depends_on" in caught.value.hint
    assert await app.jobs.dependencies("d") == [Edge(parent="a")]
    await app.schedules.delete("daily")
    await app.jobs.add_dependency("d", "b")


async def test_a_root_that_gets_a_schedule_later_starts_the_whole_unit(app: Foliot, engine: InlineEngine) -> None:
    for parent in "ab":
        await app.jobs.add_dependency("d", parent)
    await app.schedules.delete("hourly", force=True)
    await app.schedules.upsert("other", job_id="b", cron="0 * * * *")

    await engine.advance(timedelta(hours=1))

    assert sorted(ran()) == ["a", "b", "d"]


async def test_a_job_that_waits_runs_alone_by_its_own_schedule(app: Foliot, engine: InlineEngine) -> None:
    await app.schedules.delete("hourly", force=True)
    for child, parent in (("b", "a"), ("c", "b")):
        await app.jobs.add_dependency(child, parent)
    await app.schedules.upsert("own", job_id="b", cron="0 * * * *")

    await engine.advance(timedelta(hours=1))

    assert RAN == [("b", None)]


async def test_a_unit_is_started_by_hand_under_the_name_of_its_first_root(app: Foliot, engine: InlineEngine) -> None:
    for parent in "ab":
        await app.jobs.add_dependency("d", parent)

    await app.workflows.start("after:a")
    await engine.run_until_idle()

    assert sorted(ran()) == ["a", "b", "d"]


async def test_an_edge_of_an_open_execution_cannot_be_removed_whichever_root_started_it(
    app: Foliot, engine: InlineEngine
) -> None:
    for parent in "ab":
        await app.jobs.add_dependency("d", parent)
    HELD["a"] = asyncio.Event()
    await engine.advance(timedelta(hours=1))

    with pytest.raises(InvalidRun, match="has not ended"):
        await app.jobs.remove_dependency("d", "b")

    HELD.pop("a").set()
    await engine.run_until_idle()
    await app.jobs.remove_dependency("d", "b")


@pytest.mark.proves("R2-60")
async def test_concurrently_added_edges_are_all_stored(app: Foliot, engine: InlineEngine) -> None:
    await asyncio.gather(*(app.jobs.add_dependency(child, "a") for child in "bcd"))
    await engine.advance(timedelta(hours=1))

    assert sorted(ran()) == ["a", "b", "c", "d"]
