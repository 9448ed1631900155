"""The settings of [notifications], and what else notifications need of a configuration."""

from typing import Final

from msgspec import Struct

from foliot.domain.notification.rule import Notify


class NotificationSettings(Struct, frozen=True, kw_only=True):
    """For all jobs and for alerts. They are never stored in the database."""

    defaults: Notify = Notify()
    secrets: tuple[str, ...] = ()
    """The keys that sign webhooks. During a rotation there are two, and each message has a signature by both."""
    public_url: str = ""
    """The address of this server for people, to which links in messages lead."""

    @property
    def is_configured(self) -> bool:
        return bool(self.defaults.urls)

    def link(self, run_id: str) -> str:
        return f"{self.public_url.rstrip('/')}/runs/{run_id}" if self.public_url else ""


NOT_CONFIGURED: Final = NotificationSettings()
