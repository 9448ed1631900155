"""The URLs of jobs are encrypted in the database, and compared and shown without revealing them."""

from itertools import count
from typing import Any

import pytest

from foliot.adapters.secrets import KeyStore
from foliot.domain.deploy.deployment import Action, Declared
from foliot.domain.ids import IdSource, JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.notification.rule import SEALED, Notify
from foliot.errors import InvalidJob, SecretKeyUnusable
from foliot.ports.storage import Storage
from foliot.service.queries.job_view import view_job
from foliot.service.services import Services
from foliot.testing.clock import VirtualClock
from foliot.wiring.services import build_services

A = JobId("a")
KEY = {"FOLIOT_SECRET_KEY": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}
URL, SLACK = "https://x.example/hunter2", "https://hooks.slack.com/services/hunter2"


@pytest.fixture
def services(storage: Storage, clock: VirtualClock) -> Services:
    return build_services(storage, clock, IdSource(count(1).__next__), KeyStore(KEY))


def declared(url: str = URL, **fields: Any) -> Declared:
    notify = Notify(webhook_url=url, slack_webhook_url=SLACK)
    spec = {"kind": "shell", "spec": {"command": "x"}, "source": "file", "notify": notify, **fields}
    return Declared(jobs={A: JobSpec(**spec)})


@pytest.mark.proves("Z28")
async def test_the_stored_definition_and_its_view_do_not_contain_the_urls(services: Services) -> None:
    await services.deployer.apply(declared())

    job = await services.jobs.record(A)
    assert "hunter2" not in repr(job)
    assert job.spec.notify.webhook_url.startswith(SEALED)
    assert view_job(job).notify == {"webhook_url": "***", "slack_webhook_url": "***"}
    assert (await services.urls.open(job.spec.notify)).webhook_url == URL


async def test_applying_again_changes_nothing(services: Services) -> None:
    await services.deployer.apply(declared())

    [change] = (await services.deployer.apply(declared())).jobs

    assert change.action is Action.UNCHANGED
    assert (await services.jobs.record(A)).revision == 1


async def test_a_changed_url_is_a_change_that_does_not_show_it(services: Services) -> None:
    await services.deployer.apply(declared())

    [change] = (await services.deployer.plan(declared("https://y.example/hunter3"))).jobs

    [difference] = change.fields
    assert difference == ("webhook_url", "https://x.example/***", "https://y.example/***")


async def test_another_change_keeps_the_encrypted_text_of_the_urls(services: Services) -> None:
    await services.deployer.apply(declared())
    before = (await services.jobs.record(A)).spec.notify
    await services.deployer.apply(declared(description="new"))

    assert (await services.jobs.record(A)).spec.notify == before


async def test_a_removed_job_keeps_its_encrypted_urls(services: Services) -> None:
    await services.deployer.apply(declared())
    await services.deployer.apply(Declared())

    job = await services.jobs.record(A)
    assert not job.spec.enabled
    assert "hunter2" not in repr(job)


async def test_without_a_key_a_url_is_refused_and_nothing_is_stored(storage: Storage, clock: VirtualClock) -> None:
    bare = build_services(storage, clock, IdSource(count(1).__next__), KeyStore({}))

    with pytest.raises(SecretKeyUnusable):
        await bare.deployer.apply(declared())

    assert await storage.definitions.get_jobs([A]) == {}


async def test_with_another_key_the_url_is_stored_anew(
    services: Services, storage: Storage, clock: VirtualClock
) -> None:
    await services.deployer.apply(declared())
    other = {"FOLIOT_SECRET_KEY": "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE="}
    moved = build_services(storage, clock, IdSource(count(1).__next__), KeyStore(other))
    await moved.deployer.apply(declared())

    assert (await moved.urls.open((await moved.jobs.record(A)).spec.notify)).webhook_url == URL


async def test_an_invalid_url_is_refused_by_its_name(services: Services) -> None:
    with pytest.raises(InvalidJob) as refused:
        await services.deployer.apply(declared("file:///etc/hunter2"))

    assert refused.value.field == "webhook_url"
    assert "hunter2" not in str(refused.value)
