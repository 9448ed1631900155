"""The duties of notifications on a rig, with receivers that answer as a test says."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from foliot.adapters.secrets import KeyStore
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.alert import Alert
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Millis
from foliot.domain.job.job import JobSpec
from foliot.domain.notification.message import Message
from foliot.domain.notification.rule import Notify
from foliot.domain.notification.settings import NotificationSettings
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.notifications.role import NotificationRole
from foliot.ports.listeners import Subscription
from foliot.ports.notifier import LISTENER, Answer, Notifications
from foliot.service.notifications.planner import NotificationPlanner
from foliot.service.notifications.targets import Targets
from foliot.wiring.services import build_services
from tests.engine.rig import LEASE, Rig

KEY: Final = {"FOLIOT_SECRET_KEY": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}
ACCEPTED: Final = Answer(True, "200 OK")
BROKEN: Final = Answer(False, "500 Internal Server Error")


class Receivers:
    """Fills `ports.notifier.Notifier`: answers by URL, and records what arrives."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.silent: set[str] = set()
        self.waiting = 0
        """How many attempts get no answer."""
        self.got: dict[str, list[Message]] = defaultdict(list)

    async def deliver(self, message: Message, url: str) -> Answer:
        self.got[url].append(message)
        if url in self.silent:
            self.waiting += 1
            await asyncio.Event().wait()
        return self.answers.get(url, ACCEPTED)

    def documents(self, url: str) -> list[Mapping[str, Any]]:
        return [message.document for message in self.got[url]]


class Notifying:
    """One process that notifies."""

    def __init__(self, rig: Rig, receivers: Receivers, settings: NotificationSettings, holder: str = "one") -> None:
        self.rig = rig
        self.receivers = receivers
        self.services = build_services(rig.storage, rig.clock, rig.ids, KeyStore(KEY))
        targets = Targets(rig.storage, settings, self.services.urls)
        planner = NotificationPlanner(rig.storage, settings, targets)
        parts = Notifications(
            Subscription(LISTENER, planner),
            dict.fromkeys(("webhook", "slack", "log"), receivers),
            targets,
            settings.is_configured,
        )
        self.role = NotificationRole(rig.storage, rig.clock, parts, holder=holder, lease=LEASE, poll=Millis(1_000))

    async def job(self, job_id: str, **notify: Any) -> None:
        spec = JobSpec(kind="stage", notify=Notify(**notify))
        await self.services.jobs.put({JobId(job_id): spec})

    async def end(self, job_id: str, outcome: Success | Failure | None = None) -> RunId:
        """Run a job to its end. Without an outcome it fails."""
        self.rig.stage.answer = outcome or Failure("boom", Reason.EXIT_CODE, exit_code=3)
        run_id = await self.rig.enqueue(job_id)
        await self.rig.work()
        return run_id

    async def listen(self) -> None:
        while await self.role.listener.round() == IMMEDIATELY:
            pass

    async def send(self) -> Millis | None:
        """Send what is due, and return the delay until the next round."""
        while (delay := await self.role.sender.round()) == IMMEDIATELY:
            await self._attempts_ended()
        return delay

    async def _attempts_ended(self) -> None:
        """Wait for all attempts that get an answer. URLs are decrypted in a thread."""
        while len(self.role.sender._attempts) > self.receivers.waiting:
            await asyncio.sleep(0)

    async def notify(self) -> None:
        await self.listen()
        await self.send()

    async def raise_alert(self, *alerts: Alert) -> None:
        storage = self.rig.storage
        assert isinstance(storage, SqliteStorage)
        items = [alert.item for alert in alerts]
        now = self.rig.clock.now()
        await storage._context.writer.submit("probe", lambda tx: tx.add_event(now, EventKind.ALERT_RAISED, items))
