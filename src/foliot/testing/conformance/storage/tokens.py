"""The promises of a storage about tokens."""

import asyncio

from foliot.domain.access.actor import cli_actor
from foliot.domain.instant import MINUTE, Instant
from foliot.ports.audit import AuditFilter
from foliot.ports.tokens import NewToken, StoredToken
from foliot.testing.builders import an_id
from foliot.testing.conformance.storage.scene import Another, Contract, Scene

DIGEST = bytes(range(32))


def a_token(name: str = "deploy", **fields: object) -> NewToken:
    known = {"id": an_id(), "role": "admin", "scopes": (), "digest": DIGEST, "expires_at": None}
    return NewToken(**{**known, "name": name, **fields})  # type: ignore[arg-type]


async def names(scene: Scene, *, revoked: bool = False) -> list[str]:
    return [token.name for token in await scene.storage.tokens.page(revoked=revoked)]


class TokenContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_a_token_is_stored_with_its_creator(self, scene: Scene, another: Another) -> None:
        new = a_token(expires_at=Instant(9_000))
        assert await scene.storage.acting_as(cli_actor("anna")).tokens.add(new, at=Instant(1_000))

        found = await (await another()).tokens.get(new.id)
        assert found == StoredToken(*new, Instant(1_000), "cli:anna", None, None)

    async def test_a_token_with_scopes_has_no_role(self, scene: Scene) -> None:
        new = a_token(role=None, scopes=("trigger:a", "trigger:b"))
        await scene.storage.tokens.add(new)

        found = await scene.storage.tokens.get(new.id)
        assert found is not None
        assert (found.role, found.scopes) == (None, ("trigger:a", "trigger:b"))

    async def test_a_token_that_does_not_exist_is_none(self, scene: Scene) -> None:
        assert await scene.storage.tokens.get("missing") is None
        assert await scene.storage.tokens.get("\0") is None
        assert await scene.storage.tokens.revoke("missing") is None
        await scene.storage.tokens.save_use("missing")

    async def test_of_two_tokens_with_one_name_the_first_is_stored(self, scene: Scene, another: Another) -> None:
        other = await another()
        added = await asyncio.gather(scene.storage.tokens.add(a_token()), other.tokens.add(a_token()))

        assert sorted(added) == [False, True]
        assert await names(scene) == ["deploy"]

    async def test_the_name_of_a_revoked_token_is_free(self, scene: Scene) -> None:
        await scene.storage.tokens.add(a_token())
        await scene.storage.tokens.revoke("deploy")

        assert await scene.storage.tokens.add(a_token())
        assert await names(scene) == ["deploy"]
        assert await names(scene, revoked=True) == ["deploy", "deploy"]

    async def test_a_token_is_revoked_once_by_name_or_id(self, scene: Scene) -> None:
        for name in ("a", "b"):
            await scene.storage.tokens.add(a_token(name))
        first, second = await scene.storage.tokens.page()

        by_name = await scene.storage.tokens.revoke(first.name, at=Instant(1_000))
        by_id = await scene.storage.tokens.revoke(second.id, at=Instant(2_000))

        assert by_name == first._replace(revoked_at=Instant(1_000))
        assert by_id == second._replace(revoked_at=Instant(2_000))
        assert await scene.storage.tokens.revoke(first.name) is None
        assert await names(scene) == []
        found = await scene.storage.tokens.get(first.id)
        assert found == by_name

    async def test_tokens_are_listed_by_id_in_pages(self, scene: Scene) -> None:
        tokens = [a_token(name) for name in "cab"]
        for token in tokens:
            await scene.storage.tokens.add(token)

        first = await scene.storage.tokens.page(limit=2)
        rest = await scene.storage.tokens.page(after=first[-1].id, limit=2)
        assert [token.id for token in (*first, *rest)] == sorted(token.id for token in tokens)

    async def test_a_use_is_saved_once_a_minute(self, scene: Scene) -> None:
        await scene.storage.tokens.add(new := a_token())

        for at, saved in ((5_000, 5_000), (5_000 + MINUTE - 1, 5_000), (5_000 + MINUTE, 5_000 + MINUTE), (7, 7)):
            await scene.storage.tokens.save_use(new.id, at=Instant(at))
            found = await scene.storage.tokens.get(new.id)
            assert found is not None
            assert found.last_used_at == saved

    async def test_creating_and_revoking_are_recorded_without_the_digest(self, scene: Scene) -> None:
        await scene.storage.tokens.add(new := a_token())
        await scene.storage.tokens.add(a_token())
        await scene.storage.tokens.revoke("deploy")

        revoked, created = await scene.storage.audit.page(AuditFilter())
        assert (created.action, created.kind, created.id) == ("create", "token", "deploy")
        assert created.after == {"role": "admin", "scopes": [], "expires_at": None, "token_id": new.id}
        assert (revoked.action, revoked.before) == ("revoke", {"token_id": new.id})
