"""Tokens: what they allow, when they end, and what is stored of them."""

import logging
from datetime import timedelta
from pathlib import Path

import pytest

from foliot.domain.access.actor import cli_actor
from foliot.domain.access.principal import Principal, PrincipalKind, trigger_scope
from foliot.domain.access.role import Permission, Role
from foliot.domain.access.token import token_text
from foliot.domain.ids import JobId
from foliot.domain.instant import DAY, MINUTE, to_datetime
from foliot.domain.job.job import JobSpec
from foliot.errors import InvalidInput, NotFound, StorageUnavailable
from foliot.ports.storage import Storage
from foliot.service.commands.tokens import TokenService
from foliot.service.services import Services
from foliot.testing.clock import VirtualClock

JOB = JobSpec(kind="shell", spec={"command": "true"})


@pytest.fixture
def tokens(services: Services) -> TokenService:
    return services.acting_as(cli_actor("anna")).tokens


async def test_a_token_proves_its_name_and_role(tokens: TokenService) -> None:
    created = await tokens.create(role="editor", name="deploy")

    assert await tokens.verify(created.secret) == Principal(kind=PrincipalKind.TOKEN, name="deploy", role=Role.EDITOR)
    assert created.secret.startswith(created.token.prefix)
    assert (created.token.created_by, created.token.state) == ("cli:anna", "active")


async def test_a_trigger_token_may_start_one_job_and_nothing_else(tokens: TokenService, services: Services) -> None:
    await services.jobs.put({JobId("report"): JOB, JobId("other"): JOB})
    created = await tokens.create(job="report")

    principal = await tokens.verify(created.secret)
    assert principal is not None
    assert principal.scopes == {trigger_scope("report")}
    assert principal.may_trigger("report")
    assert not principal.may_trigger("other")
    assert not any(principal.may(permission) for permission in Permission)


async def test_a_trigger_token_for_a_missing_job_is_refused(tokens: TokenService) -> None:
    with pytest.raises(NotFound):
        await tokens.create(job="missing")


@pytest.mark.parametrize("given", [{}, {"role": "admin", "job": "report"}, {"role": "root"}])
async def test_a_token_needs_a_role_or_a_job(tokens: TokenService, given: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        await tokens.create(**given)


async def test_two_tokens_cannot_have_one_name(tokens: TokenService) -> None:
    await tokens.create(role="viewer", name="ci")

    with pytest.raises(InvalidInput, match="exists"):
        await tokens.create(role="viewer", name="ci")


@pytest.mark.proves("Z7")
async def test_a_revoked_token_is_refused_at_once(tokens: TokenService) -> None:
    created = await tokens.create(role="admin", name="ci")

    assert (await tokens.revoke("ci")).state == "revoked"

    assert await tokens.verify(created.secret) is None
    with pytest.raises(NotFound):
        await tokens.revoke("ci")
    assert [token.name async for token in tokens.all()] == []
    assert [token.state async for token in tokens.all(revoked=True)] == ["revoked"]


@pytest.mark.proves("Z7")
async def test_an_expired_token_is_refused(tokens: TokenService, clock: VirtualClock) -> None:
    expires = to_datetime(clock.now()) + timedelta(days=90)
    created = await tokens.create(role="admin", expires=expires)

    clock.advance(90 * DAY - 1)
    assert await tokens.verify(created.secret) is not None
    clock.advance(1)
    assert await tokens.verify(created.secret) is None
    assert (await tokens.get(created.token.id)).state == "expired"


async def test_an_expiry_in_the_past_is_refused(tokens: TokenService, clock: VirtualClock) -> None:
    with pytest.raises(InvalidInput, match="expires"):
        await tokens.create(role="admin", expires=to_datetime(clock.now()))


async def test_a_wrong_secret_with_the_right_id_is_refused(tokens: TokenService) -> None:
    created = await tokens.create(role="admin")

    assert await tokens.verify(token_text(created.token.id, 1)) is None
    for text in ("", "x", "fol_", created.secret[:-1], created.secret.lower(), "x" * 100_000):
        assert await tokens.verify(text) is None


async def test_the_last_use_is_saved_once_a_minute(tokens: TokenService, clock: VirtualClock) -> None:
    created = await tokens.create(role="viewer")
    assert created.token.last_used_at is None

    await tokens.verify(created.secret)
    first = (await tokens.get(created.token.id)).last_used_at
    clock.advance(MINUTE - 1)
    await tokens.verify(created.secret)
    assert (await tokens.get(created.token.id)).last_used_at == first
    clock.advance(1)
    await tokens.verify(created.secret)
    assert (await tokens.get(created.token.id)).last_used_at == to_datetime(clock.now())


async def test_a_token_is_accepted_if_its_use_cannot_be_saved(
    tokens: TokenService, storage: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    created = await tokens.create(role="viewer", name="ci")

    async def refuse(*_args: object, **_kwargs: object) -> None:
        raise StorageUnavailable("the disk is full")

    monkeypatch.setattr("foliot.adapters.storage.sqlite.tokens.SqliteTokens.save_use", refuse)
    with caplog.at_level(logging.WARNING):
        assert await tokens.verify(created.secret) is not None
    assert [record.msg for record in caplog.records] == ["token_use_not_saved"]


@pytest.mark.proves("Z7")
async def test_no_file_of_the_database_contains_a_token(tokens: TokenService, storage: Storage, tmp_path: Path) -> None:
    created = await tokens.create(role="admin", name="ci")
    await tokens.verify(created.secret)
    await tokens.revoke("ci")
    await storage.close()

    files = contents(tmp_path)
    secret = created.secret.removeprefix(created.token.prefix).lstrip("_")
    assert any(created.token.id.encode() in data for data in files)
    assert not any(secret.encode() in data or secret[:52].encode() in data for data in files)


def contents(directory: Path) -> list[bytes]:
    return [path.read_bytes() for path in directory.iterdir() if path.is_file()]


@pytest.mark.proves("Z47")
async def test_a_refused_token_is_recorded_with_its_id_and_never_its_text(
    tokens: TokenService, services: Services
) -> None:
    created = await tokens.create(role="viewer")
    await tokens.revoke(created.token.id)

    await tokens.record_refusal(created.secret, "192.0.2.7")
    await tokens.record_refusal("hunter2", "192.0.2.7")

    other, own, *_ = await services.audit.page()
    assert (own.action, own.kind, own.id, own.after) == ("refuse", "token", created.token.id, {"address": "192.0.2.7"})
    assert other.id == "unknown"
    assert "hunter2" not in str(other)
    assert created.secret not in str(own)
