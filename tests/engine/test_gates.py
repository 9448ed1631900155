"""Gates from beginning to end, on a virtual clock."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta

import pytest

from foliot import Foliot
from foliot.domain.gate.spec import Action, Gate, WindowKind
from foliot.domain.ids import JobId
from foliot.domain.instant import DAY, HOUR, MINUTE
from foliot.domain.job import JobSpec
from foliot.errors import InvalidJob, NotFound
from foliot.service.views import RunView
from foliot.testing.inline import InlineEngine

A, B, DIGEST = JobId("a"), JobId("b"), JobId("digest")


class Town:
    """Two jobs, a third that depends on them, and what ran."""

    def __init__(self) -> None:
        self.app = Foliot()
        self.ran: list[str] = []
        self.failing: set[str] = set()
        for name in ("a", "b", "digest"):
            self.app.job(id=name)(self._work(name))

    def _work(self, name: str) -> Callable[[], None]:
        def work() -> None:
            self.ran.append(name)
            if name in self.failing:
                raise ValueError(name)

        return work

    async def gate(self, **fields: object) -> None:
        gate = Gate(depends_on=(A, B), **fields)  # type: ignore[arg-type]  # a test names what it means
        spec = JobSpec(kind="workflow", inner_kind="python", spec={"handler": "digest"}, gate=gate, source="app")
        await (await self.app.open()).registrar.put_jobs({DIGEST: spec})

    async def run(self, engine: InlineEngine, job: str) -> RunView:
        run_id = await self.app.enqueue(job)
        await engine.run_until_idle()
        return await self.app.run(run_id)


@pytest.fixture
def town() -> Town:
    return Town()


@pytest.fixture
async def engine(town: Town) -> AsyncIterator[InlineEngine]:
    async with InlineEngine(town.app) as engine:
        yield engine


@pytest.mark.proves("R0-05", "R0-18", "R0-19", "R0-22", "R0-24")
async def test_the_digest_runs_only_after_all_have_succeeded(town: Town, engine: InlineEngine) -> None:
    await town.gate()
    await town.run(engine, "a")
    town.failing = {"b"}
    await town.run(engine, "b")

    declined = await town.run(engine, "digest")
    assert (declined.status, declined.reason) == ("skipped", "dep_failed")
    assert "b (failed)" in (declined.error_message or "")
    assert declined.started_at is None

    town.failing = set()
    await town.run(engine, "b")
    passed = await town.run(engine, "digest")
    assert passed.status == "success"
    assert town.ran == ["a", "b", "b", "digest"]


@pytest.mark.proves("R0-10", "R0-15", "R0-50")
@pytest.mark.parametrize(("action", "status"), [("skip", "skipped"), ("fail", "failed"), ("run", "success")])
async def test_a_missing_dependency_is_treated_as_the_gate_says(
    town: Town, engine: InlineEngine, action: str, status: str
) -> None:
    await town.gate(on_missing=Action(action))

    run = await town.run(engine, "digest")

    assert run.status == status
    assert town.ran == (["digest"] if action == "run" else [])


@pytest.mark.proves("R0-14")
async def test_the_window_ends_at_the_planned_moment(town: Town, engine: InlineEngine) -> None:
    await town.gate(window=HOUR)
    await town.run(engine, "a")
    await town.run(engine, "b")
    await engine.advance(timedelta(minutes=59))
    assert (await town.run(engine, "digest")).status == "success"

    await engine.advance(timedelta(minutes=2))

    assert (await town.run(engine, "digest")).reason == "dep_missing"


async def test_a_gate_waits_for_a_dependency_that_is_under_way(town: Town, engine: InlineEngine) -> None:
    await town.gate(wait=10 * MINUTE)
    await town.run(engine, "a")
    later = await town.app.enqueue("b", delay=300)
    run_id = await town.app.enqueue("digest")
    await engine.run_until_idle()
    assert (await town.app.run(later)).status == "scheduled"

    # What is not due yet is not under way: the gate has declined.
    assert (await town.app.run(run_id)).reason == "dep_missing"


async def test_since_my_last_success_needs_a_new_run_of_each(town: Town, engine: InlineEngine) -> None:
    await town.gate(window=DAY, window_kind=WindowKind.LAST_SUCCESS)
    await town.run(engine, "a")
    await town.run(engine, "b")
    assert (await town.run(engine, "digest")).status == "success"
    await engine.advance(timedelta(seconds=1))

    assert (await town.run(engine, "digest")).reason == "dep_missing"

    await town.run(engine, "a")
    await town.run(engine, "b")
    await engine.advance(timedelta(seconds=1))
    assert (await town.run(engine, "digest")).status == "success"


@pytest.mark.proves("R0-74")
async def test_a_gate_does_not_look_again_during_its_cooldown(town: Town, engine: InlineEngine) -> None:
    await town.gate(cooldown=HOUR)
    assert (await town.run(engine, "digest")).reason == "dep_missing"
    await town.run(engine, "a")
    await town.run(engine, "b")
    await engine.advance(timedelta(minutes=1))

    assert (await town.run(engine, "digest")).reason == "cooldown"
    await engine.advance(timedelta(hours=1))
    assert (await town.run(engine, "digest")).status == "success"


@pytest.mark.proves("R0-51")
async def test_the_next_fire_checks_again_and_the_old_row_stays(town: Town, engine: InlineEngine) -> None:
    await town.gate()
    await town.app.upsert_schedule("daily", job_id="digest", cron_expr="0 6 * * *")
    await engine.advance(timedelta(days=1))
    await town.run(engine, "a")
    await town.run(engine, "b")
    await engine.advance(timedelta(days=1))

    runs = await town.app.runs(job="digest")
    assert [run.status for run in runs] == ["success", "skipped"]
    assert [tick.outcome for tick in await town.app.ticks("daily")] == ["ran", "ran"]


@pytest.mark.proves("R0-13")
async def test_a_gate_on_a_job_that_does_not_exist_is_refused(town: Town, engine: InlineEngine) -> None:
    registrar = (await town.app.open()).registrar
    spec = JobSpec(kind="shell", spec={"command": "true"}, gate=Gate(depends_on=(JobId("aa"),)))

    with pytest.raises(NotFound, match="aa"):
        await registrar.put_jobs({JobId("new"): spec})
    with pytest.raises(InvalidJob, match="itself"):
        await registrar.put_jobs({JobId("aa"): spec})


@pytest.mark.proves("D11")
async def test_a_job_that_a_gate_needs_cannot_be_deleted(town: Town, engine: InlineEngine) -> None:
    registrar = (await town.app.open()).registrar
    needed = JobSpec(kind="shell", spec={"command": "true"})
    gated = JobSpec(kind="shell", spec={"command": "true"}, gate=Gate(depends_on=(JobId("needed"),)))
    await registrar.put_jobs({JobId("needed"): needed, JobId("gated"): gated})

    with pytest.raises(InvalidJob, match="needed by gated"):
        await registrar.delete_job("needed")
