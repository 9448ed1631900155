"""Finds the targets of messages: those of the job, else those of [notifications]."""

from typing import NamedTuple

from msgspec.structs import replace

from foliot.domain.ids import JobId
from foliot.domain.job.job import Job
from foliot.domain.notification.message import receiver_of
from foliot.domain.notification.rule import NO_OPTIONS, Notify, Target
from foliot.domain.notification.settings import NotificationSettings
from foliot.errors import SecretError
from foliot.ports.deliveries import Delivery
from foliot.ports.storage import Storage
from foliot.service.notifications.urls import UrlSecrets


class FoundTarget(NamedTuple):
    target: Target
    owner: JobId | None
    """The job whose option names it. None: [notifications]."""
    receiver: str


class Targets:
    """Fills `ports.notifier.Addresses`."""

    def __init__(self, storage: Storage, settings: NotificationSettings, urls: UrlSecrets) -> None:
        self._storage = storage
        self._settings = settings
        self._urls = urls

    def rule(self, job: Job | None, *, is_part: bool = False) -> Notify:
        """Return the options for runs of a job, with encrypted URLs. A part of another run, such as a step, is not
        notified to the default targets: the run that it is part of is."""
        own = NO_OPTIONS if job is None else job.spec.notify
        rule = own.over(self._settings.defaults)
        if is_part:
            rule = replace(rule, webhook_url=own.webhook_url, slack_webhook_url=own.slack_webhook_url)
        return rule

    async def of_job(self, job: Job | None, rule: Notify) -> list[FoundTarget]:
        """Return the targets of a rule of this job."""
        own = NO_OPTIONS if job is None else job.spec.notify
        return [
            FoundTarget(target, job.id, await self._receiver(target, job.id, url))
            if job is not None and own.urls.get(target)
            else FoundTarget(target, None, receiver_of(target, url))
            for target, url in rule.urls.items()
        ]

    def of_alerts(self) -> list[FoundTarget]:
        urls = {Target.LOG: "", **self._settings.defaults.urls}
        return [FoundTarget(target, None, receiver_of(target, url)) for target, url in urls.items()]

    async def find(self, delivery: Delivery) -> str | None:
        if delivery.target == Target.LOG:
            return ""
        if delivery.owner is None:
            return _url(self._settings.defaults, delivery.target)
        job = (await self._storage.definitions.get_jobs([delivery.owner])).get(delivery.owner)
        return None if job is None else _url(await self._urls.open(job.spec.notify), delivery.target)

    async def _receiver(self, target: Target, job_id: JobId, url: str) -> str:
        try:
            opened = await self._urls.open(Notify(webhook_url=url))
        except SecretError:
            # The sender reports it, again and again until the key is back.
            return f"{target}-job-{job_id}"
        return receiver_of(target, opened.webhook_url)


def _url(notify: Notify, name: str) -> str | None:
    return next((url for target, url in notify.urls.items() if target == name), None)
