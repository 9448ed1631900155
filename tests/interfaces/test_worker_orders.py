"""foliot worker pause, resume and drain."""

import asyncio
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.domain.instant import MINUTE, Millis
from foliot.domain.run.lease import WorkerFacts
from foliot.testing.builders import a_worker
from tests.interfaces.conftest import Call


@pytest.fixture
def workers(elsewhere: Path) -> None:
    """Two remote workers of one enrolment, with different versions."""

    async def register() -> None:
        async with Foliot(f"sqlite:///{elsewhere}/foliot.db") as app:
            services = await app.open()
            for name, version in (("a", "1.0"), ("b", "1.1")):
                facts = WorkerFacts(pool="gpus", version=version, is_remote=True, labels=("gpu",))
                await services.storage.work.register(a_worker(name, facts=facts), Millis(10 * MINUTE))

    asyncio.run(register())


def orders(call: Call) -> dict[str, str]:
    [page] = call("top", "--once", "--json").objects
    return {worker["name"]: worker["order"] for worker in page["workers"]}


@pytest.mark.usefixtures("workers")
def test_all_workers_of_an_enrolment_are_paused_and_resumed(call: Call) -> None:
    assert call("worker", "pause", "gpus") == (0, "paused gpus: 2 workers\n", "")
    assert orders(call) == {"a": "pause", "b": "pause"}

    assert call("worker", "resume", "gpus") == (0, "resumed gpus: 2 workers\n", "")
    assert orders(call) == {"a": "", "b": ""}


@pytest.mark.usefixtures("workers")
def test_workers_with_an_old_version_are_drained(call: Call) -> None:
    assert call("worker", "drain", "--version", "1.0") == (0, "draining version 1.0: 1 worker\n", "")

    assert orders(call) == {"a": "drain", "b": ""}
    assert "1.0" in call("top", "--once").out


@pytest.mark.usefixtures("workers")
def test_one_worker_is_drained_by_its_name(call: Call) -> None:
    [done] = call("worker", "drain", "b", "--json").objects

    assert done == {"name": "b", "done": "draining", "workers": 1}
    assert orders(call) == {"a": "", "b": "drain"}


@pytest.mark.usefixtures("workers")
def test_wrong_names_are_refused(call: Call) -> None:
    assert call("worker", "pause", "missing").code == 1
    assert call("worker", "drain", "missing").code == 1
    assert call("worker", "drain", "--version", "9").code == 1
    assert call("worker", "drain").code == 2
    assert call("worker", "pause").code == 2
    assert orders(call) == {"a": "", "b": ""}
