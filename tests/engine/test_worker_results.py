"""A reducer gets a manifest, and functions in the worker's process read results."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from foliot import Foliot, current_run
from foliot.domain.access.run_token import RunLease
from foliot.domain.fanout.result import ChildResult, ResultQuery
from foliot.domain.fanout.spec import FANOUT
from foliot.domain.ids import JobId, RunId, Token, WorkerId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.run import Status
from foliot.engine.worker.results import answer_results
from foliot.errors import InvalidInput, ResultsUnavailable
from foliot.ports.channel import Handler
from foliot.ports.storage import Storage
from foliot.ports.work import Work
from foliot.service.queries.run_view import RunView
from foliot.testing.builders import a_claim
from foliot.testing.clock import VirtualClock
from foliot.testing.inline import InlineEngine
from tests.engine.rig import Rig
from tests.interfaces.serving import served

REDUCER = JobId("digest.reducer")


class Channel:
    """A channel that keeps what is published."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.published: list[bytes] = []
        self.failure: OSError | None = None

    async def open(self) -> None: ...

    def grant(self, lease: RunLease, handlers: Mapping[str, Handler]) -> Mapping[str, str]:
        return {}

    def revoke(self, lease: Token) -> None: ...

    @asynccontextmanager
    async def publish(self, pages: AsyncIterator[bytes]) -> AsyncIterator[str | None]:
        if self.failure is not None:
            raise self.failure
        self.files["/manifest"] = b"".join([page async for page in pages])
        self.published.append(self.files["/manifest"])
        try:
            yield "/manifest"
        finally:
            del self.files["/manifest"]

    async def close(self) -> None: ...


def a_fanout(child: Mapping[str, Any], reducer: Mapping[str, Any], kind: str = "stage", **fields: Any) -> JobSpec:
    own = {"inner_kind": kind, "items": ["a", "b", "c"], "reducer": {"kind": kind, "spec": reducer}}
    return JobSpec(kind=FANOUT, spec={**child, **own, **fields}, options=Options(queue=TREES_QUEUE))


async def run_fanout(rig: Rig) -> RunId:
    """Run a fanout to its end."""
    await rig.storage.definitions.put_jobs([(JobId("digest"), a_fanout({}, {}))])
    run_id = await rig.enqueue("digest")
    while not (await rig.run(run_id)).status.is_terminal:
        await rig.work()
        await rig.settle()
    return run_id


# -- the manifest


@pytest.fixture
def channel() -> Channel:
    return Channel()


@pytest.fixture
def rig(storage: Storage, clock: VirtualClock, channel: Channel) -> Rig:
    return Rig(storage, clock, channel=channel)


async def test_a_reducer_gets_the_path_of_a_manifest_that_exists_while_it_runs(rig: Rig, channel: Channel) -> None:
    run_id = await run_fanout(rig)

    *children, reducer = rig.stage.attempts
    assert (await rig.run(run_id)).status is Status.SUCCESS
    assert reducer.environment["FOLIOT_MANIFEST"] == "/manifest"
    assert ["FOLIOT_MANIFEST" in child.environment for child in children] == [False] * 3
    [manifest] = channel.published
    assert [json.loads(line)["item"] for line in manifest.splitlines()] == ["a", "b", "c"]
    assert channel.files == {}


async def test_a_reducer_whose_manifest_cannot_be_written_fails_with_the_reason(rig: Rig, channel: Channel) -> None:
    channel.failure = OSError("no space left on device")
    run_id = await run_fanout(rig)

    assert (await rig.run(run_id)).status is Status.FAILED
    [reducer] = await rig.runs(lambda run: run.job_id == REDUCER)
    assert (reducer.reason, reducer.error) == (
        "launch_failed",
        "the manifest could not be written: no space left on device",
    )


# -- requests


class Results:
    """A work port that has one page of results."""

    def __init__(self) -> None:
        self.queries: list[ResultQuery] = []
        self.page: list[ChildResult] | None = []

    async def results(
        self, run_id: RunId, worker_id: WorkerId, token: Token, query: ResultQuery
    ) -> list[ChildResult] | None:
        self.queries.append(query)
        return self.page


async def test_a_request_chooses_the_page() -> None:
    work = Results()

    answer = await answer_results(cast(Work, work), a_claim(), {"type": "results", "after": 7, "failed": True})

    assert answer == {"results": []}
    assert work.queries == [ResultQuery(after=7, failed=True)]


@pytest.mark.parametrize("fields", [{"after": "7"}, {"after": None}, {"failed": 1}, {"failed": "yes"}])
async def test_a_wrong_field_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="wrong field"):
        await answer_results(cast(Work, Results()), a_claim(), fields)


async def test_a_run_that_belongs_to_no_fanout_is_refused() -> None:
    work = Results()
    work.page = None

    with pytest.raises(ResultsUnavailable, match="no results to read"):
        await answer_results(cast(Work, work), a_claim(), {})


# -- functions in the worker's process


def an_app() -> Foliot:
    app = Foliot()

    @app.job
    async def child(item: str) -> str:
        if item == "b":
            raise ValueError(item)
        return item.upper()

    @app.job
    def plain(**summary: Any) -> list[Any]:
        return [(one.index, one.item, one.output) for one in current_run().results()]

    @app.job
    async def asynchronous(**summary: Any) -> list[Any]:
        return [(one.index, one.item, one.output) async for one in current_run().results()]

    @app.job
    async def only_failed(**summary: Any) -> list[Any]:
        return [(one.item, str(one.error).splitlines()[-1]) async for one in current_run().results(failed=True)]

    @app.job
    async def blocking(**summary: Any) -> list[Any]:
        return list(current_run().results())

    return app


def over_functions(reducer: str) -> JobSpec:
    return a_fanout({"handler": "child"}, {"handler": reducer}, "python", partial_tolerance=0.5)


async def reduced(app: Foliot, reducer: str) -> RunView:
    """Run a fanout to its end, and return the run of its reducer."""
    await (await app.open()).jobs.put({JobId("digest"): over_functions(reducer)})
    await app.runs.wait(await app.enqueue("digest"))
    [run] = await app.runs.page(job=REDUCER)
    return run


ALL = [[0, "a", "A"], [1, "b", None], [2, "c", "C"]]


@pytest.mark.parametrize(
    ("reducer", "output"),
    [("plain", ALL), ("asynchronous", ALL), ("only_failed", [["b", "ValueError: b"]])],
)
async def test_functions_read_results(reducer: str, output: list[Any], tmp_path: Any) -> None:
    app = an_app()
    app._url = f"sqlite:///{tmp_path}/foliot.db"
    async with served(app):
        run = await reduced(app, reducer)

    assert (run.status, run.output_payload) == ("success", output)


async def test_a_coroutine_that_would_block_the_worker_is_told_how_to_read(tmp_path: Any) -> None:
    app = an_app()
    app._url = f"sqlite:///{tmp_path}/foliot.db"
    async with served(app):
        run = await reduced(app, "blocking")

    assert run.status == "failed"
    assert "async for result in current_run().results()" in str(run.error_message)


async def test_a_function_outside_of_a_fanout_has_no_results(tmp_path: Any) -> None:
    app = an_app()
    app._url = f"sqlite:///{tmp_path}/foliot.db"
    async with served(app):
        run = await app.runs.wait(await app.enqueue("plain"))

    assert run.status == "failed"
    assert "this run has no results to read" in str(run.error_message)


@pytest.mark.parametrize("reducer", ["plain", "asynchronous"])
async def test_the_inline_engine_gives_results_to_functions(reducer: str) -> None:
    app = an_app()
    async with InlineEngine(app) as engine:
        await (await app.open()).jobs.put({JobId("digest"): over_functions(reducer)})
        await app.enqueue("digest")
        await engine.run_until_idle()

        [run] = await app.runs.page(job=REDUCER)
    assert run.output_payload == ALL
