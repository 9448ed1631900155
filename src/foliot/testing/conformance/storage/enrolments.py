"""The promises of a storage about remote workers: enrolments and nonces."""

import asyncio

from foliot.domain.access.actor import cli_actor
from foliot.domain.instant import Instant
from foliot.ports.audit import AuditFilter
from foliot.ports.enrolments import NewEnrolment, StoredEnrolment
from foliot.testing.builders import an_id
from foliot.testing.conformance.storage.scene import Another, Contract, Scene

SEALED = bytes(range(256))
DIGEST = bytes(range(32))


def an_enrolment(**fields: object) -> NewEnrolment:
    known = {"id": an_id(), "name": "gpu-1", "labels": ("gpu", "linux"), "kinds": ("shell",), "sealed": SEALED}
    return NewEnrolment(**{**known, **fields})  # type: ignore[arg-type]


def an_invitation(**fields: object) -> NewEnrolment:
    return an_enrolment(**{"sealed": None, "join_digest": DIGEST, "join_expires_at": Instant(9_000), **fields})


class EnrolmentContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_an_enrolment_is_stored_with_its_creator(self, scene: Scene, another: Another) -> None:
        new = an_enrolment()
        assert await scene.storage.acting_as(cli_actor("anna")).enrolments.add(new, at=Instant(1_000))

        stored = StoredEnrolment(*new, Instant(1_000), "cli:anna", None, None)
        other = await another()
        assert await other.enrolments.get(new.id) == stored
        assert await other.enrolments.find("gpu-1") == stored
        assert await other.enrolments.all() == [stored]

    async def test_an_enrolment_that_does_not_exist_is_none(self, scene: Scene) -> None:
        enrolments = scene.storage.enrolments
        assert await enrolments.get("missing") is None
        assert await enrolments.find("missing") is None
        assert await enrolments.set_disabled("missing", True) is None
        assert not await enrolments.remove("missing")
        assert not await enrolments.join("missing", DIGEST, SEALED)

    async def test_of_two_enrolments_with_one_name_the_first_is_stored(self, scene: Scene, another: Another) -> None:
        other = await another()

        added = await asyncio.gather(scene.storage.enrolments.add(an_enrolment()), other.enrolments.add(an_enrolment()))

        assert sorted(added) == [False, True]
        assert len(await scene.storage.enrolments.all()) == 1

    async def test_an_invitation_is_used_once(self, scene: Scene, another: Another) -> None:
        new, other = an_invitation(), await another()
        await scene.storage.enrolments.add(new, at=Instant(1_000))

        joined = await asyncio.gather(
            scene.storage.enrolments.join(new.id, DIGEST, b"a", at=Instant(2_000)),
            other.enrolments.join(new.id, DIGEST, b"b", at=Instant(2_000)),
        )

        assert sorted(joined) == [False, True]
        found = await scene.storage.enrolments.get(new.id)
        assert found is not None
        assert found.sealed == (b"a" if joined[0] else b"b")
        assert (found.join_digest, found.join_expires_at) == (None, None)

    async def test_an_invitation_is_refused_with_another_digest_or_after_its_expiry(self, scene: Scene) -> None:
        new = an_invitation()
        await scene.storage.enrolments.add(new, at=Instant(1_000))

        assert not await scene.storage.enrolments.join(new.id, bytes(32), SEALED, at=Instant(2_000))
        assert not await scene.storage.enrolments.join(new.id, DIGEST, SEALED, at=Instant(9_000))
        found = await scene.storage.enrolments.get(new.id)
        assert found is not None
        assert found.sealed is None

    async def test_a_disabled_invitation_is_refused(self, scene: Scene) -> None:
        new = an_invitation()
        await scene.storage.enrolments.add(new, at=Instant(1_000))
        await scene.storage.enrolments.set_disabled("gpu-1", True)

        assert not await scene.storage.enrolments.join(new.id, DIGEST, SEALED, at=Instant(2_000))

    async def test_an_enrolment_is_disabled_and_enabled(self, scene: Scene) -> None:
        await scene.storage.enrolments.add(an_enrolment())

        disabled = await scene.storage.enrolments.set_disabled("gpu-1", True, at=Instant(5_000))
        enabled = await scene.storage.enrolments.set_disabled("gpu-1", False, at=Instant(6_000))

        assert disabled is not None
        assert enabled is not None
        assert (disabled.disabled_at, enabled.disabled_at) == (Instant(5_000), None)

    async def test_a_removed_enrolment_is_gone(self, scene: Scene) -> None:
        await scene.storage.enrolments.add(an_enrolment())

        assert await scene.storage.enrolments.remove("gpu-1")
        assert await scene.storage.enrolments.all() == []

    async def test_each_change_is_in_the_audit_trail_without_the_secret(self, scene: Scene) -> None:
        enrolments = scene.storage.acting_as(cli_actor("anna")).enrolments
        await enrolments.add(an_enrolment())
        await enrolments.set_disabled("gpu-1", True)
        await enrolments.remove("gpu-1")

        entries = await scene.storage.audit.page(AuditFilter())

        assert [(one.actor, one.action, one.kind, one.id) for one in entries] == [
            ("cli:anna", action, "worker", "gpu-1") for action in ("delete", "change", "create")
        ]
        assert "sealed" not in str(entries)

    async def test_a_nonce_is_taken_once_by_all_processes(self, scene: Scene, another: Another) -> None:
        other = await another()

        taken = await asyncio.gather(
            scene.storage.enrolments.take_nonce("a", "n", Instant(9_000), at=Instant(1_000)),
            other.enrolments.take_nonce("a", "n", Instant(9_000), at=Instant(1_000)),
        )

        assert sorted(taken) == [False, True]
        assert not await scene.storage.enrolments.take_nonce("a", "n", Instant(9_000), at=Instant(8_999))
        assert await scene.storage.enrolments.take_nonce("b", "n", Instant(9_000), at=Instant(1_000))

    async def test_an_expired_nonce_is_deleted(self, scene: Scene) -> None:
        await scene.storage.enrolments.take_nonce("a", "n", Instant(9_000), at=Instant(1_000))

        assert await scene.storage.enrolments.take_nonce("a", "n", Instant(19_000), at=Instant(9_000))

    async def test_taking_a_nonce_saves_the_use_of_the_enrolment(self, scene: Scene) -> None:
        new = an_enrolment()
        await scene.storage.enrolments.add(new)

        await scene.storage.enrolments.take_nonce(new.id, "n", Instant(9_000), at=Instant(1_000))

        found = await scene.storage.enrolments.get(new.id)
        assert found is not None
        assert found.last_used_at == Instant(1_000)
