"""What claimed runs do is at hand when they start, whatever was forgotten meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Collection
from typing import Any, cast

import pytest

from foliot import Foliot, Workflow
from foliot.domain.ids import RunId
from foliot.domain.lease import Claim
from foliot.domain.workflow.execution import Execution
from foliot.engine.definitions import Definitions
from foliot.engine.plans import Plans
from foliot.ports.storage import Storage
from foliot.testing.builders import a_claim
from foliot.testing.inline import InlineEngine


class Elsewhere:
    """A storage whose answers take their time."""

    def __init__(self, storage: Storage) -> None:
        self.executions = self
        self._storage = storage

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)

    async def get(self, run_ids: Collection[RunId]) -> dict[RunId, Execution]:
        await asyncio.sleep(0)
        return await self._storage.executions.get(run_ids)


@pytest.fixture
async def engine() -> AsyncIterator[InlineEngine]:
    app = Foliot()
    app.job(id="extract")(lambda: None)
    flow = Workflow("etl")
    flow.step("extract", job="extract")
    app.workflow(flow)
    async with InlineEngine(app) as engine:
        yield engine


@pytest.fixture
async def steps(engine: InlineEngine) -> list[Claim]:
    """The same step of several executions."""
    started = [await engine.app.workflows.start("etl") for _ in range(6)]
    await engine.run_until_idle()
    return [a_claim(root=RunId(run_id), item="extract") for run_id in started]


@pytest.fixture
async def definitions(engine: InlineEngine) -> Definitions:
    """Those of two executions are kept."""
    storage = cast(Storage, Elsewhere((await engine.app.open()).storage))
    return Definitions(storage, Plans(storage), kept=2)


async def are_loaded(definitions: Definitions, claims: list[Claim]) -> bool:
    await definitions.load(claims)
    return all(definitions.of(claim).job is not None for claim in claims)


@pytest.mark.proves("R2-04")
async def test_an_old_execution_is_not_forgotten_for_new_ones_that_come_with_it(
    definitions: Definitions, steps: list[Claim]
) -> None:
    await definitions.load(steps[:1])

    assert await are_loaded(definitions, steps)


@pytest.mark.proves("R2-04")
async def test_an_execution_is_not_forgotten_for_those_that_are_loaded_beside_it(
    definitions: Definitions, steps: list[Claim]
) -> None:
    await definitions.load(steps[:2])

    both = asyncio.gather(are_loaded(definitions, steps[:4]), are_loaded(definitions, steps[1:]))

    assert all(await both)


async def test_what_is_not_needed_any_more_is_forgotten(definitions: Definitions, steps: list[Claim]) -> None:
    await definitions.load(steps[:4])

    await definitions.load(steps[4:])

    assert [definitions.of(step).job is None for step in steps] == [True, True, True, True, False, False]


async def test_a_step_whose_execution_is_gone_has_no_definition(definitions: Definitions) -> None:
    assert not await are_loaded(definitions, [a_claim(root=RunId("01KDVDNA00000000000000ZZZZ"), item="extract")])
