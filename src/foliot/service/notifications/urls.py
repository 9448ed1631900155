"""Encrypts the URLs in the options of a job: the path of a webhook often is a secret."""

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from foliot.domain.ids import JobId
from foliot.domain.job.job import Job, JobSpec
from foliot.domain.notification.rule import SEALED, Notify
from foliot.errors import SecretError, SecretUnreadable
from foliot.ports.secrets import Secrets

_FIELDS: Final = ("webhook_url", "slack_webhook_url")
_PURPOSE: Final = "notification-url"
"""Not bound to the job: a job can be renamed."""


class UrlSecrets:
    """Encrypts and decrypts. The first call reads a file and loads a package, so it is done in a thread."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    async def seal(self, jobs: Mapping[JobId, JobSpec], stored: Mapping[JobId, Job]) -> dict[JobId, JobSpec]:
        """Return definitions with encrypted URLs. An unchanged URL keeps its stored text, so the job is unchanged too.
        Raise SecretKeyUnusable if there is no key."""
        return {
            job_id: await self._sealed(spec, stored[job_id].spec if job_id in stored else None)
            for job_id, spec in jobs.items()
        }

    async def readable(self, spec: JobSpec) -> JobSpec:
        """Return a definition with readable URLs. One that cannot be decrypted stays as it is."""
        try:
            return replace(spec, notify=await self.open(spec.notify)) if spec.notify.urls else spec
        except SecretError:
            return spec

    async def open(self, notify: Notify) -> Notify:
        """Return the options with readable URLs. Raise SecretError if they cannot be decrypted."""
        urls = {name: await self._open(getattr(notify, name)) for name in _FIELDS}
        return replace(notify, **urls)

    async def _sealed(self, spec: JobSpec, stored: JobSpec | None) -> JobSpec:
        if not spec.notify.urls:
            return spec
        known = spec if stored is None else await self.readable(stored)
        urls = {}
        for name in _FIELDS:
            url = getattr(spec.notify, name)
            is_unchanged = stored is not None and url == getattr(known.notify, name)
            urls[name] = getattr(stored.notify, name) if stored and is_unchanged else await self._seal(url)
        return replace(spec, notify=replace(spec.notify, **urls))

    async def _seal(self, url: str) -> str:
        if not url or url.startswith(SEALED):
            return url
        sealed = await asyncio.to_thread(self._secrets.seal, url.encode(), _PURPOSE)
        return SEALED + b64encode(sealed).decode()

    async def _open(self, url: str) -> str:
        if not url.startswith(SEALED):
            return url
        try:
            sealed = b64decode(url.removeprefix(SEALED), validate=True)
        except ValueError:
            raise SecretUnreadable(
                "the URL of a notification was changed in the database", hint="Store it again."
            ) from None
        return (await asyncio.to_thread(self._secrets.unseal, sealed, _PURPOSE)).decode()
