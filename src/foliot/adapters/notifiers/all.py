"""Every notifier, by the kind of target: a new kind is a line here."""

from foliot.adapters.notifiers.log import LogNotifier
from foliot.adapters.notifiers.slack import SlackNotifier
from foliot.adapters.notifiers.webhook import WebhookNotifier
from foliot.adapters.outbound.lazy import LazyOutbound
from foliot.domain.notification.rule import Target
from foliot.domain.notification.settings import NotificationSettings
from foliot.domain.outbound.policy import OutboundPolicy
from foliot.ports.clock import Clock
from foliot.ports.notifier import Notifier


def all_notifiers(settings: NotificationSettings, policy: OutboundPolicy, clock: Clock) -> dict[str, Notifier]:
    outbound = LazyOutbound(policy)
    return {
        Target.WEBHOOK: WebhookNotifier(outbound, settings.secrets, clock),
        Target.SLACK: SlackNotifier(outbound),
        Target.LOG: LogNotifier(),
    }
