"""The promises of a storage about DSNs."""

import asyncio

from foliot.domain.instant import Instant
from foliot.ports.dsns import StoredDsn
from foliot.testing.conformance.storage.scene import Another, Contract, Scene

SEALED = bytes(range(256))
"""Sealed values are bytes, with every value that a byte can have."""


class DsnContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_a_dsn_is_stored_byte_for_byte(self, scene: Scene, another: Another) -> None:
        assert await scene.storage.dsns.put("main", "sqlite", SEALED, at=Instant(1_000))

        found = await (await another()).dsns.get("main")
        assert found == StoredDsn("main", "sqlite", SEALED, Instant(1_000))

    async def test_a_dsn_replaces_one_with_the_same_name(self, scene: Scene) -> None:
        await scene.storage.dsns.put("main", "sqlite", b"first", at=Instant(1_000))

        assert not await scene.storage.dsns.put("main", "postgresql", b"second", at=Instant(2_000))
        assert await scene.storage.dsns.all() == [StoredDsn("main", "postgresql", b"second", Instant(2_000))]

    async def test_dsns_are_listed_by_name(self, scene: Scene) -> None:
        for name in ("b", "C", "a"):
            await scene.storage.dsns.put(name, "sqlite", b"x")

        assert [one.name for one in await scene.storage.dsns.all()] == ["C", "a", "b"]

    async def test_a_dsn_that_does_not_exist_is_none(self, scene: Scene) -> None:
        assert await scene.storage.dsns.get("main") is None
        assert await scene.storage.dsns.all() == []

    async def test_removing_returns_the_names_that_existed(self, scene: Scene) -> None:
        for name in ("a", "b"):
            await scene.storage.dsns.put(name, "sqlite", b"x")

        assert await scene.storage.dsns.remove(["missing", "a", "a"]) == ["a"]
        assert await scene.storage.dsns.remove(["a"]) == []
        assert [one.name for one in await scene.storage.dsns.all()] == ["b"]

    async def test_of_concurrent_calls_for_one_name_one_creates_it(self, scene: Scene, another: Another) -> None:
        other = await another()

        new = await asyncio.gather(
            scene.storage.dsns.put("main", "sqlite", b"a"), other.dsns.put("main", "sqlite", b"b")
        )

        assert sorted(new) == [False, True]
        assert len(await scene.storage.dsns.all()) == 1
