"""The promises of a storage about users and their sessions."""

import asyncio

from foliot.domain.access.actor import cli_actor
from foliot.domain.access.login import SEEN_INTERVAL
from foliot.domain.instant import DAY, Instant
from foliot.ports.audit import AuditFilter
from foliot.ports.users import NewSession, NewUser, StoredSession, StoredUser
from foliot.testing.builders import retention
from foliot.testing.conformance.storage.scene import Another, Contract, Scene

ANNA = NewUser("anna", "editor", "digest-1")
DIGEST = bytes(range(32))
LATER = Instant(9_000_000)


def a_session(user: str = "anna", password: str = "digest-1", digest: bytes = DIGEST) -> NewSession:
    return NewSession(digest, user, password, LATER)


async def actions(scene: Scene) -> list[tuple[str, str]]:
    return [(entry.action, entry.id) for entry in reversed(await scene.storage.audit.page(AuditFilter()))]


class UserContract(Contract):
    """Every storage must pass these tests unchanged."""

    is_pruned = True

    async def test_a_user_is_stored_with_its_creator(self, scene: Scene, another: Another) -> None:
        assert await scene.storage.acting_as(cli_actor("root")).users.add(ANNA, at=Instant(1_000))

        found = await (await another()).users.get("anna")
        assert found == StoredUser(*ANNA, Instant(1_000), "cli:root", Instant(1_000))

    async def test_of_two_users_with_one_name_the_first_is_stored(self, scene: Scene, another: Another) -> None:
        other = await another()
        added = await asyncio.gather(scene.storage.users.add(ANNA), other.users.add(ANNA._replace(role="admin")))

        assert sorted(added) == [False, True]
        assert len(await scene.storage.users.all()) == 1

    async def test_users_are_listed_by_name(self, scene: Scene) -> None:
        for name in ("b", "C", "a"):
            await scene.storage.users.add(ANNA._replace(name=name))

        assert [user.name for user in await scene.storage.users.all()] == ["C", "a", "b"]

    async def test_a_user_that_does_not_exist_is_none(self, scene: Scene) -> None:
        assert await scene.storage.users.get("missing") is None
        assert await scene.storage.users.get("\0") is None
        assert not await scene.storage.users.set_password("missing", "x")
        assert not await scene.storage.users.remove("missing")
        assert not await scene.storage.users.open_session(a_session("missing"))
        assert await scene.storage.users.get_session(DIGEST) is None
        await scene.storage.users.close_session(DIGEST)
        await scene.storage.users.save_seen(DIGEST)
        assert await actions(scene) == []

    async def test_a_session_has_the_role_of_its_user(self, scene: Scene, another: Another) -> None:
        await scene.storage.users.add(ANNA)
        assert await scene.storage.users.open_session(a_session(), at=Instant(5_000))

        found = await (await another()).users.get_session(DIGEST)
        assert found == StoredSession("anna", "editor", Instant(5_000), LATER, Instant(5_000))

    async def test_no_session_is_opened_with_a_password_that_was_changed(self, scene: Scene) -> None:
        await scene.storage.users.add(ANNA)
        await scene.storage.users.set_password("anna", "digest-2")

        assert not await scene.storage.users.open_session(a_session())
        assert await scene.storage.users.open_session(a_session(password="digest-2"))

    async def test_a_new_password_ends_all_sessions_of_the_user(self, scene: Scene) -> None:
        for name in ("anna", "bob"):
            await scene.storage.users.add(ANNA._replace(name=name))
            for nth in range(2):
                await scene.storage.users.open_session(a_session(name, digest=f"{name}{nth}".encode()))

        assert await scene.storage.users.set_password("anna", "digest-2", at=Instant(7_000))

        found = [await scene.storage.users.get_session(f"{name}{nth}".encode()) for name in ("anna", "bob")
                 for nth in range(2)]  # fmt: skip
        assert [session is None for session in found] == [True, True, False, False]
        user = await scene.storage.users.get("anna")
        assert user is not None
        assert (user.password, user.changed_at) == ("digest-2", 7_000)

    async def test_removing_a_user_ends_all_sessions(self, scene: Scene) -> None:
        await scene.storage.users.add(ANNA)
        await scene.storage.users.open_session(a_session())

        assert await scene.storage.users.remove("anna")
        assert await scene.storage.users.get("anna") is None
        assert await scene.storage.users.get_session(DIGEST) is None
        await scene.storage.users.add(ANNA)
        assert await scene.storage.users.get_session(DIGEST) is None

    async def test_a_use_of_a_session_is_saved_once_a_minute(self, scene: Scene) -> None:
        await scene.storage.users.add(ANNA)
        await scene.storage.users.open_session(a_session(), at=Instant(5_000))

        for at, saved in ((5_000 + SEEN_INTERVAL - 1, 5_000), (5_000 + SEEN_INTERVAL, 5_000 + SEEN_INTERVAL), (9, 9)):
            await scene.storage.users.save_seen(DIGEST, at=Instant(at))
            found = await scene.storage.users.get_session(DIGEST)
            assert found is not None
            assert found.seen_at == saved

    async def test_changes_and_logins_are_recorded_without_digests(self, scene: Scene) -> None:
        await scene.storage.users.add(ANNA)
        await scene.storage.users.open_session(a_session())
        for _ in range(2):
            await scene.storage.users.close_session(DIGEST)
        await scene.storage.users.set_password("anna", "digest-2")
        await scene.storage.users.remove("anna")

        names = ("create", "login", "logout", "password", "delete")
        assert await actions(scene) == [(action, "anna") for action in names]
        assert "digest-" not in str(await scene.storage.audit.page(AuditFilter()))

    async def test_pruning_removes_expired_sessions(self, scene: Scene) -> None:
        now = scene.clock.now()
        await scene.storage.users.add(ANNA)
        for digest, expires_at in ((b"old", now), (b"new", now + DAY)):
            await scene.storage.users.open_session(a_session(digest=digest)._replace(expires_at=Instant(expires_at)))
        await scene.prune_to_the_end(retention(), limit=100)

        assert await scene.storage.users.get_session(b"old") is None
        assert await scene.storage.users.get_session(b"new") is not None
