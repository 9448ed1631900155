"""The options about notifications, of a job and of [notifications]."""

from collections.abc import Callable
from typing import Any, Final

from foliot.domain.notification.rule import MAX_FAILURES, Occasion, check_slack_url, check_url
from foliot.domain.notification.signature import key_of
from foliot.domain.vocabulary.field import Field, Schema
from foliot.domain.vocabulary.readers import TEXT, Reader, list_of, whole, word_of
from foliot.errors import InvalidInput

LEAST_SECRET: Final = 16
MOST_SECRETS: Final = 2
_OCCASIONS: Final = list_of(word_of(Occasion))


def _checked(check: Callable[[str], None]) -> Reader:
    """Return a reader of URLs. No error contains the URL: it may be a secret."""

    def read(value: Any) -> str:
        url: str = TEXT.read(value)
        if url:
            check(url)
        return url

    return Reader("URL", read)


def _secrets(value: Any) -> tuple[str, ...]:
    secrets = tuple(TEXT.read(item) for item in (value if isinstance(value, list | tuple) else [value]))
    if any(len(secret) < LEAST_SECRET for secret in secrets):
        hint = "Create one with: openssl rand -base64 32"
        raise InvalidInput(f"must have at least {LEAST_SECRET} characters", hint=hint)
    for secret in secrets:
        try:
            key_of(secret)
        except ValueError:
            raise InvalidInput("begins with whsec_, but is not Base64", hint="Copy it again, as a whole.") from None
    if len(secrets) > MOST_SECRETS:
        raise InvalidInput(f"can have {MOST_SECRETS} keys, not {len(secrets)}", hint="Name the new and the old key.")
    return secrets


WEB_ADDRESS: Final = _checked(check_url)
WEBHOOK_URL: Final = Field(
    "webhook_url",
    WEB_ADDRESS,
    "Where messages about ends of runs are sent, as signed JSON. Default: that of `[notifications]`.",
)
SLACK_URL: Final = Field(
    "slack_webhook_url",
    _checked(check_slack_url),
    "An incoming webhook of Slack that gets the same messages. Default: that of `[notifications]`.",
)
NOTIFY_ON: Final = Field(
    "notify_on",
    _OCCASIONS._replace(read=lambda value: tuple(dict.fromkeys(_OCCASIONS.read(value)))),
    "What is notified: each `failure`, a `repeated_failure` (once, when `notify_after_failures` runs in a row have"
    " failed), the `recovery` after a notified failure, or every `end`. `[]`: nothing.",
    '["failure", "recovery"]',
)
NOTIFY_AFTER_FAILURES: Final = Field(
    "notify_after_failures",
    whole(1, MAX_FAILURES),
    "How many failed runs in a row are a `repeated_failure`.",
    "3",
)
NOTIFY: Final = (WEBHOOK_URL, SLACK_URL, NOTIFY_ON, NOTIFY_AFTER_FAILURES)
NOTIFICATIONS: Final = Schema(
    WEBHOOK_URL.means("Where alerts, and messages about runs of all jobs without a `webhook_url`, are sent."),
    SLACK_URL.means("The same for Slack: it must begin with `https://hooks.slack.com/`."),
    NOTIFY_ON.means("What is notified about jobs without a `notify_on`."),
    NOTIFY_AFTER_FAILURES,
    Field(
        "webhook_secret",
        Reader("text or two texts", _secrets),
        'The key that signs webhooks, as `"${NAME}"` of an environment variable. During a rotation, a list of the new'
        " and the old key: each message is signed with both.",
    ),
    owner="[notifications]",
)
