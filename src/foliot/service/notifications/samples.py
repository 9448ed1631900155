"""Sends a test message to targets, and returns what each of them answers."""

from collections.abc import Mapping

from foliot.domain.instant import Instant
from foliot.domain.notification.message import Message, sample_document
from foliot.domain.notification.rule import Target
from foliot.domain.notification.settings import NotificationSettings
from foliot.domain.secrets import public_hook
from foliot.ports.notifier import Notifier
from foliot.service.answers import SampleAnswer
from foliot.service.services import Services


async def urls_of(settings: NotificationSettings, services: Services, job_id: str) -> Mapping[Target, str]:
    """Return the URLs for a job by the kind of target."""
    job = await services.jobs.record(job_id)
    return (await services.urls.open(job.spec.notify)).over(settings.defaults).urls


async def send_samples(
    notifiers: Mapping[str, Notifier], urls: Mapping[Target, str], message_id: str, job_id: str | None, now: Instant
) -> list[SampleAnswer]:
    message = Message(message_id, sample_document(now, job_id))
    results = []
    for target, url in urls.items():
        answer = await notifiers[target].deliver(message, url)
        results.append(
            SampleAnswer(target=target, place=public_hook(url), is_accepted=answer.is_accepted, answer=answer.text)
        )
    return results
