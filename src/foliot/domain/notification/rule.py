"""When the end of a run is notified, and to which targets: the options of a job, over those of [notifications]."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from foliot.domain.outbound.url import read_url
from foliot.errors import InvalidInput, InvalidJob, shown

SLACK_PREFIX: Final = "https://hooks.slack.com/"
SEALED: Final = "sealed:"
"""How the stored text of an encrypted URL begins. It is not a valid URL, so no user can give such a text."""
MAX_FAILURES: Final = 100
_HTTPS_HINT: Final = "Write it like https://example.org/hooks/foliot."


class Occasion(StrEnum):
    """Why a message about a run is sent."""

    FAILURE = "failure"
    """A run failed or timed out."""
    REPEATED_FAILURE = "repeated_failure"
    """The number of runs in a row that failed has reached `notify_after_failures`."""
    RECOVERY = "recovery"
    """A run succeeded after a failure that was notified."""
    END = "end"
    """A run ended, however it ended."""


BUILT_IN: Final = (Occasion.FAILURE, Occasion.RECOVERY)
AFTER_FAILURES: Final = 3


class Target(StrEnum):
    """The kinds of targets, each with its own notifier."""

    WEBHOOK = "webhook"
    SLACK = "slack"
    LOG = "log"


class Notify(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The options about notifications. Empty and None: not given."""

    webhook_url: str = ""
    slack_webhook_url: str = ""
    notify_on: tuple[Occasion, ...] | None = None
    notify_after_failures: int | None = None

    @property
    def urls(self) -> Mapping[Target, str]:
        """The given URLs by the kind of target."""
        urls = {Target.WEBHOOK: self.webhook_url, Target.SLACK: self.slack_webhook_url}
        return {target: url for target, url in urls.items() if url}

    @property
    def occasions(self) -> frozenset[Occasion]:
        return frozenset(BUILT_IN if self.notify_on is None else self.notify_on)

    @property
    def after_failures(self) -> int:
        return self.notify_after_failures or AFTER_FAILURES

    def over(self, defaults: "Notify") -> "Notify":
        """Return these options, with the defaults for those that are not given."""
        return Notify(
            webhook_url=self.webhook_url or defaults.webhook_url,
            slack_webhook_url=self.slack_webhook_url or defaults.slack_webhook_url,
            notify_on=defaults.notify_on if self.notify_on is None else self.notify_on,
            notify_after_failures=self.notify_after_failures or defaults.notify_after_failures,
        )

    def check(self) -> None:
        """Raise InvalidJob if an option is not valid. A URL that is stored encrypted was checked before."""
        for name, check in (("webhook_url", check_url), ("slack_webhook_url", check_slack_url)):
            url = getattr(self, name)
            if url and not url.startswith(SEALED):
                try:
                    check(url)
                except InvalidInput as error:
                    raise InvalidJob(f"{name} {error.message}", hint=error.hint, field=name) from None
        after = self.notify_after_failures
        if after is not None and not 1 <= after <= MAX_FAILURES:
            raise InvalidJob(
                f"notify_after_failures must be 1 to {MAX_FAILURES}, not {shown(after)}",
                hint="Give the number of failed runs in a row.",
                field="notify_after_failures",
            )


NO_OPTIONS: Final = Notify()
"""No option is given."""


def check_url(url: str) -> None:
    """Raise InvalidInput if it is not the URL of a webhook. The message does not contain it: it may be a secret."""
    try:
        read_url(url)
    except InvalidInput as error:
        raise InvalidInput(f"is not valid: {error.message}", hint=error.hint or _HTTPS_HINT) from None


def check_slack_url(url: str) -> None:
    if not url.startswith(SLACK_PREFIX):
        raise InvalidInput(
            f"does not begin with {SLACK_PREFIX}",
            hint="Copy the URL of an incoming webhook from the settings of your Slack app.",
        )
    check_url(url)
