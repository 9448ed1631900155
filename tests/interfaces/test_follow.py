"""Waiting for a run that no live worker can execute."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from foliot.domain.instant import MINUTE
from foliot.interfaces.cli.follow import report_started_run
from foliot.service.commands.run_request import RunRequest
from foliot.service.queries.run_view import RunView
from foliot.service.services import Services
from foliot.testing.builders import LEASE, REPORT, a_job_spec, a_worker
from foliot.testing.clock import VirtualClock
from foliot.wiring.services import open_services

BOTH_WAYS = True


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def services(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Services]:
    services = await open_services(f"sqlite:///{tmp_path / 'foliot.db'}", clock)
    await services.storage.definitions.put_jobs([(REPORT, a_job_spec(spec={"command": "true"}))])
    yield services
    await services.close()


@pytest.mark.parametrize(
    ("queues", "silent_for", "is_warned"),
    [(("default",), 0, False), (("default",), LEASE + MINUTE, True), (("mail",), 0, True), (None, 0, True)],
)
async def test_waiting_for_a_run_without_a_live_worker_prints_a_warning(
    services: Services,
    clock: VirtualClock,
    capsys: pytest.CaptureFixture[str],
    queues: tuple[str, ...] | None,
    silent_for: int,
    is_warned: bool,
) -> None:
    if queues is not None:
        await services.storage.work.register(a_worker(queues=queues), LEASE)
    clock.advance(silent_for)
    run_id = await services.runs.enqueue(REPORT, RunRequest())
    await services.runs.cancel(run_id)

    code = await report_started_run(services, run_id, wait=True, follow=False, is_json=False)

    out, err = capsys.readouterr()
    assert (code, out) == (1, f"{run_id}\n")
    assert ('no worker of queue "default" is alive: the run waits' in err) is is_warned
    assert err.splitlines()[-1].startswith("cancelled")


async def test_waiting_for_a_run_that_no_worker_fits_prints_the_reason(
    services: Services, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await services.storage.work.register(a_worker(), LEASE)
    run_id = await services.runs.enqueue(REPORT, RunRequest(options={"labels": ["gpu"]}))
    wait = services.runs.wait

    async def cancel_and_wait(run_id: str) -> RunView:
        await services.runs.cancel(run_id)
        return await wait(run_id)

    monkeypatch.setattr(services.runs, "wait", cancel_and_wait)

    await report_started_run(services, run_id, wait=True, follow=False, is_json=False)

    warning, hint, _ = capsys.readouterr().err.splitlines()
    assert warning.startswith("warning: no living worker can execute the run (required: gpu): ")
    assert hint == f"  See: foliot explain {run_id}"
