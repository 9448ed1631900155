"""The promises of a storage about logs."""

import pytest
from msgspec.structs import replace

from foliot.domain.ids import Token
from foliot.testing.builders import a_chunk, a_run_id, given_back, some_runs, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Contract, Scene


class LogContract(Contract):
    """Every storage must pass these tests unchanged."""

    @pytest.mark.proves("E4")
    async def test_log_chunks_are_read_as_they_were_written(self, scene: Scene) -> None:
        claim = await scene.start()
        chunks = [
            a_chunk(claim, 0, bytes(range(256))),
            a_chunk(claim, 1, b"", "stderr"),
            a_chunk(claim, 2, "ünï\n".encode(), "meta"),
        ]

        assert await scene.storage.work.append_log(chunks) == []
        assert await scene.storage.queries.read_log(claim.run_id) == chunks

    async def test_log_chunks_are_read_in_order_however_they_were_saved(self, scene: Scene) -> None:
        claim = await scene.start()

        await scene.storage.work.append_log([a_chunk(claim, 10), a_chunk(claim, 2)])
        await scene.storage.work.append_log([a_chunk(claim, 1)])

        assert [chunk.seq for chunk in await scene.storage.queries.read_log(claim.run_id)] == [1, 2, 10]

    @pytest.mark.proves("M4")
    async def test_saving_a_log_chunk_twice_is_a_no_op(self, scene: Scene) -> None:
        claim = await scene.start()
        chunk = a_chunk(claim)
        await scene.storage.work.append_log([chunk])

        assert await scene.storage.work.append_log([chunk, a_chunk(claim, 1)]) == []
        assert len(await scene.storage.queries.read_log(claim.run_id)) == 2

    @pytest.mark.proves("L2", "S10")
    async def test_a_former_lease_holder_cannot_append_to_the_log(self, scene: Scene) -> None:
        former = await scene.start()
        await scene.finish(given_back(former))
        [current] = await scene.claim()

        stale = await scene.storage.work.append_log([a_chunk(former, data=b"old"), a_chunk(current, data=b"new")])

        assert stale == [former.token]
        assert [chunk.data for chunk in await scene.storage.queries.read_log(former.run_id)] == [b"new"]

    @pytest.mark.proves("L2")
    async def test_the_log_of_an_ended_run_takes_no_chunks(self, scene: Scene) -> None:
        claim = await scene.start()
        await scene.finish(succeeded(claim))

        assert await scene.storage.work.append_log([a_chunk(claim)]) == [claim.token]
        assert await scene.storage.queries.read_log(claim.run_id) == []

    @pytest.mark.proves("L2")
    async def test_a_token_cannot_append_to_the_log_of_another_run(self, scene: Scene) -> None:
        mine, other = await scene.start(), await scene.start()
        forged = a_chunk(mine)._replace(run_id=other.run_id)

        assert await scene.storage.work.append_log([forged]) == [mine.token]
        assert await scene.storage.queries.read_log(other.run_id) == []

    @pytest.mark.proves("L2")
    async def test_a_mixed_batch_saves_only_chunks_of_the_tokens_own_run(self, scene: Scene) -> None:
        mine, other = await scene.start(), await scene.start()
        printed, forged = a_chunk(other), a_chunk(mine, seq=1)._replace(token=other.token)

        assert await scene.storage.work.append_log([printed, forged]) == [other.token]
        assert await scene.storage.queries.read_log(mine.run_id) == []
        assert await scene.storage.queries.read_log(other.run_id) == [printed]

    async def test_a_stale_log_token_is_returned_once_for_many_chunks(self, scene: Scene) -> None:
        claim = await scene.start()
        stale = replace(claim, token=Token(claim.token + 1_000))

        told = await scene.storage.work.append_log([a_chunk(stale, seq) for seq in range(3)])

        assert told == [stale.token]

    @pytest.mark.proves("S10")
    async def test_logs_of_attempts_are_read_in_sequence(self, scene: Scene) -> None:
        first = await scene.start()
        await scene.storage.work.append_log([a_chunk(first, 0, b"a"), a_chunk(first, 1, b"b")])
        await scene.finish(to_retry(first))
        [second] = await scene.claim()
        await scene.storage.work.append_log([a_chunk(second, 0, b"c")])

        chunks = await scene.storage.queries.read_log(first.run_id)

        assert [(chunk.token, chunk.data) for chunk in chunks] == [
            (first.token, b"a"),
            (first.token, b"b"),
            (second.token, b"c"),
        ]

    async def test_a_log_is_read_on_from_a_given_chunk(self, scene: Scene) -> None:
        first = await scene.start()
        await scene.storage.work.append_log([a_chunk(first, seq) for seq in range(3)])
        await scene.finish(to_retry(first))
        [second] = await scene.claim()
        await scene.storage.work.append_log([a_chunk(second, 0)])

        page = await scene.storage.queries.read_log(first.run_id, limit=2)
        rest = await scene.storage.queries.read_log(first.run_id, after=(page[-1].token, page[-1].seq))

        assert [(chunk.token, chunk.seq) for chunk in page] == [(first.token, 0), (first.token, 1)]
        assert [(chunk.token, chunk.seq) for chunk in rest] == [(first.token, 2), (second.token, 0)]

    async def test_every_run_has_its_own_log(self, scene: Scene) -> None:
        await scene.create(*some_runs(2))
        one, two = await scene.claim()
        await scene.storage.work.append_log([a_chunk(one, data=b"one"), a_chunk(two, data=b"two")])

        assert [chunk.data for chunk in await scene.storage.queries.read_log(two.run_id)] == [b"two"]
        assert await scene.storage.queries.read_log(a_run_id()) == []

    async def test_appending_no_chunks_is_a_no_op(self, scene: Scene) -> None:
        assert await scene.storage.work.append_log([]) == []
