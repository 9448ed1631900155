"""Retries and cancellation of a gated job concern its command, not the check of its dependencies."""

import pytest

from foliot import Foliot
from foliot.domain.gate.spec import Action, Gate
from foliot.domain.ids import JobId
from foliot.domain.instant import Millis
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.retry import Retry
from foliot.testing.inline import InlineEngine
from tests.adapters.runners.attempts import living, unique, until
from tests.engine.town import DIGEST, A, B, Town

RETRIED = Options(retry=Retry(retries=3, base=Millis(0)))


async def gate(town: Town, **fields: object) -> None:
    """Gate the digest on two jobs, with three retries."""
    spec = JobSpec(
        kind="workflow",
        inner_kind="python",
        spec={"handler": DIGEST},
        gate=Gate(depends_on=(A, B), **fields),  # type: ignore[arg-type]  # a test names what it means
        options=RETRIED,
        source="app",
    )
    await (await town.app.open()).jobs.put({DIGEST: spec})


@pytest.mark.proves("R0-50")
@pytest.mark.parametrize("action", [Action.SKIP, Action.FAIL])
async def test_a_declined_run_is_not_retried(town: Town, engine: InlineEngine, action: Action) -> None:
    await gate(town, on_missing=action)

    declined = await town.run(engine, "digest")

    assert (declined.status.is_terminal, declined.reason, declined.attempt) == (True, "dep_missing", 0)
    assert (await town.app.runs.attempts(declined.id), town.ran) == ([], [])
    assert len(await town.app.runs.page(job="digest")) == 1


@pytest.mark.proves("R0-50")
async def test_a_failed_command_is_retried_without_another_check(town: Town, engine: InlineEngine) -> None:
    await gate(town)
    await town.run(engine, "a")
    await town.run(engine, "b")
    town.failing = {"digest"}
    storage, asked = (await town.app.open()).storage, []
    look = storage.admission.dependency_states

    async def look_and_count(*given: object, **named: object) -> object:
        asked.append(given)
        return await look(*given, **named)  # type: ignore[arg-type]

    storage.admission.dependency_states = look_and_count  # type: ignore[method-assign, assignment]
    run = await town.run(engine, "digest")

    assert (run.status, run.attempt) == ("failed", 4)
    assert town.ran == ["a", "b", *["digest"] * 4]
    assert len(asked) == 1


@pytest.mark.proves("R0-54")
async def test_cancelling_a_gated_run_ends_its_running_command() -> None:
    word = unique()
    app = Foliot()
    app.shell("dep", "true")
    app.shell("gated", f"sleep {word}", depends_on=[JobId("dep")])
    async with InlineEngine(app) as engine:
        await app.enqueue("dep")
        await engine.join()
        run_id = await app.enqueue("gated")
        await engine.run_until_idle()
        await until(lambda: bool(living(f"sleep\0{word}")))

        await app.runs.cancel(run_id)
        await engine.join()

        assert (await app.runs.get(run_id)).status == "cancelled"
        assert living(f"sleep\0{word}") == []
