"""The configuration on the page about Python functions loads, and its jobs end as described."""

import asyncio
import re
import textwrap
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.config import load
from foliot.domain.instant import Instant
from foliot.testing.inline import InlineEngine

PAGE = (Path(__file__).parents[3] / "docs/howto/run-python-functions.md").read_text()


def fence(info: str) -> str:
    [found] = re.findall(rf"(?ms)^```{re.escape(info)}\n(.*?)^```$", PAGE)
    return textwrap.dedent(found)


@pytest.mark.parametrize(
    ("job", "status", "exit_code", "output"),
    [
        ("monthly-report", "success", None, {"month": "2026-01", "copies": 1, "shop": "corner"}),
        ("broken", "failed", 3, None),
    ],
)
async def test_jobs_on_the_page_about_python_functions_end_as_described(
    job: str, status: str, exit_code: int | None, output: object, tmp_path: Path
) -> None:
    (tmp_path / "reports.py").write_text(fence("python file=reports.py"))
    (tmp_path / "foliot.toml").write_text(fence("toml"))
    loaded = load(tmp_path / "foliot.toml", {}, Instant(0))
    assert loaded.configuration is not None, loaded.problems
    async with InlineEngine(Foliot()) as engine:
        services = await engine.app.open()
        await services.deployer.apply(loaded.configuration.declared)

        run_id = await engine.app.enqueue(job)
        async with asyncio.timeout(20):
            while not (run := await engine.app.runs.get(run_id)).status.is_terminal:
                await engine.run_until_idle()
                await asyncio.sleep(0.002)

        assert (run.status, run.exit_code, run.output_payload) == (status, exit_code, output)
