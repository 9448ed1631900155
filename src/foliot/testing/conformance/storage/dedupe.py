"""The promises of a storage about dedupe keys."""

from typing import Any

import pytest

from foliot.domain.ids import JobId
from foliot.domain.instant import HOUR, MINUTE
from foliot.domain.run.run import NewRun
from foliot.ports.orders import Created
from foliot.testing.builders import a_run, failed, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Contract, Scene


def keyed(scope: str = "forever", **fields: Any) -> NewRun:
    return a_run(**{"dedupe_key": "order-1", "dedupe_scope": scope, **fields})


class DedupeContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("R1-41")
    async def test_a_second_run_with_a_key_returns_the_first(self, scene: Scene) -> None:
        first, second = keyed(payload=b"1"), keyed(payload=b"2")
        await scene.create(first)

        created = await scene.storage.orders.create([second], at=scene.now)

        assert created == [Created(first.id, is_new=False)]
        assert (await scene.run(first.id)).payload == 1
        assert await scene.storage.queries.get_runs([second.id]) == {}
        assert await scene.ready() == [first.id]

    @pytest.mark.proves("R1-41")
    async def test_two_equal_keys_in_one_batch_create_one_run(self, scene: Scene) -> None:
        first, second, other = keyed(), keyed(), keyed(dedupe_key="order-2")

        created = await scene.storage.orders.create([first, second, other], at=scene.now)

        assert created == [Created(first.id, True), Created(first.id, False), Created(other.id, True)]

    @pytest.mark.proves("R1-41")
    async def test_dedupe_keys_of_two_jobs_are_independent(self, scene: Scene) -> None:
        first, second = keyed(), keyed(job_id=JobId("other"))

        assert await scene.create(first, second) == [first.id, second.id]

    async def test_runs_without_a_key_are_all_created(self, scene: Scene) -> None:
        first, second = a_run(), a_run()

        assert await scene.create(first, second) == [first.id, second.id]

    async def test_a_key_of_scope_forever_outlives_its_run(self, scene: Scene) -> None:
        first = await scene.start(keyed("forever"))
        await scene.finish(succeeded(first))
        scene.clock.advance(1_000 * HOUR)

        assert await scene.create(keyed("forever")) == [first.run_id]

    async def test_an_active_key_is_taken_while_its_run_is_open(self, scene: Scene) -> None:
        first = await scene.start(keyed("active", retry_delay=MINUTE))
        assert await scene.create(keyed("active")) == [first.run_id]

        await scene.finish(to_retry(first))

        assert await scene.create(keyed("active")) == [first.run_id]

    async def test_an_active_key_is_free_when_its_run_is_terminal(self, scene: Scene) -> None:
        first = await scene.start(keyed("active"))
        await scene.finish(failed(first))
        second = keyed("active")

        assert await scene.create(second) == [second.id]
        assert await scene.create(keyed("active")) == [second.id]

    async def test_an_active_key_is_free_when_its_run_is_cancelled(self, scene: Scene) -> None:
        [first] = await scene.create(keyed("active"))
        await scene.cancel(first)
        second = keyed("active")

        assert await scene.create(second) == [second.id]

    async def test_a_dedupe_window_lasts_for_its_time_after_the_run_has_ended(self, scene: Scene) -> None:
        first = await scene.start(keyed("window", dedupe_for=HOUR))
        await scene.finish(succeeded(first))
        scene.clock.advance(HOUR - 1)

        assert await scene.create(keyed("window", dedupe_for=HOUR)) == [first.run_id]

    async def test_a_key_is_free_after_its_dedupe_window(self, scene: Scene) -> None:
        await scene.create(keyed("window", dedupe_for=HOUR))
        scene.clock.advance(HOUR + 1)
        second = keyed("window", dedupe_for=HOUR)

        assert await scene.create(second) == [second.id]

    async def test_a_dedupe_window_excludes_its_end(self, scene: Scene) -> None:
        await scene.create(keyed("window", dedupe_for=HOUR))
        scene.clock.advance(HOUR)
        second = keyed("window", dedupe_for=HOUR)

        assert await scene.create(second) == [second.id]

    async def test_a_second_run_does_not_extend_the_dedupe_window(self, scene: Scene) -> None:
        [first] = await scene.create(keyed("window", dedupe_for=HOUR))
        scene.clock.advance(HOUR - 1)
        assert await scene.create(keyed("window", dedupe_for=HOUR)) == [first]
        scene.clock.advance(2)
        third = keyed("window", dedupe_for=HOUR)

        assert await scene.create(third) == [third.id]

    @pytest.mark.parametrize("former", ["active", "window"])
    async def test_a_key_that_is_taken_again_has_the_scope_of_its_new_run(self, scene: Scene, former: str) -> None:
        first = await scene.start(keyed(former, dedupe_for=MINUTE))
        await scene.finish(succeeded(first))
        scene.clock.advance(MINUTE)
        second = await scene.start(keyed("forever"))
        await scene.finish(succeeded(second))
        scene.clock.advance(HOUR)

        assert second.run_id != first.run_id
        assert await scene.create(keyed("forever")) == [second.run_id]

    async def test_the_scope_of_the_run_that_holds_the_key_applies(self, scene: Scene) -> None:
        first = await scene.start(keyed("active"))
        assert await scene.create(keyed("forever")) == [first.run_id]
        await scene.finish(succeeded(first))
        second = keyed("forever")

        assert await scene.create(second) == [second.id]
