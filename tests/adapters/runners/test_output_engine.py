"""Outputs of commands in runs and steps of the engine."""

from datetime import timedelta
from pathlib import Path

from foliot import Foliot
from foliot.domain.workflow.builder import Workflow
from foliot.testing.inline import InlineEngine

FIRST_BAD = 'if test -e {seen}; then echo \'{{"path": "/x"}}\'; else touch {seen}; echo oops; fi > "$FOLIOT_OUTPUT"'


async def settle(engine: InlineEngine) -> None:
    await engine.run_until_idle()
    await engine.join()


async def test_the_output_of_a_command_is_stored_with_its_run() -> None:
    app = Foliot()
    app.shell("count", "echo '{\"rows\": 3}'", output="json")

    async with InlineEngine(app) as engine:
        run_id = await app.enqueue("count")
        await settle(engine)
        run = await app.runs.get(run_id)

    assert (run.status, run.output_payload, run.exit_code) == ("success", {"rows": 3}, 0)


async def test_a_run_with_an_invalid_output_file_is_retried_with_a_new_file(tmp_path: Path) -> None:
    app = Foliot()
    app.shell("flaky", FIRST_BAD.format(seen=tmp_path / "seen"), output="file", retries=1, retry_delay=1)

    async with InlineEngine(app) as engine:
        run_id = await app.enqueue("flaky")
        await settle(engine)
        await engine.advance(timedelta(seconds=2))
        await settle(engine)
        run = await app.runs.get(run_id)

    assert (run.status, run.output_payload, run.attempt) == ("success", {"path": "/x"}, 2)


async def test_the_next_step_reads_the_output_by_a_template() -> None:
    app = Foliot()
    flow = Workflow("etl")
    flow.step("extract", shell='echo \'{"path": "a b; exit 1"}\'', output="json")
    flow.step("load", shell='printf %s "$FILE"', env={"FILE": "{{ steps.extract.output.path }}"}, output="text").after(
        "extract"
    )
    app.workflow(flow)

    async with InlineEngine(app) as engine:
        await app.workflows.start("etl")
        await settle(engine)
        runs = await app.runs.page(children=True)

    assert "a b; exit 1" in [run.output_payload for run in runs]
