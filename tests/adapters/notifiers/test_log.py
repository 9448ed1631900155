"""An alert is one line in the log of the server."""

import logging

import pytest

from foliot.adapters.notifiers.log import LogNotifier
from foliot.domain.alert import Alert, AlertKind
from foliot.domain.instant import Instant
from foliot.domain.notification.message import Message, alert_document
from foliot.interfaces.log_facts import facts_of


async def test_an_alert_is_one_event_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    alert = Alert(AlertKind.BUDGET_USED, "auction", {"spent_usd": 3, "api_token": "hunter2"})

    with caplog.at_level(logging.WARNING):
        answer = await LogNotifier().deliver(Message("msg_1", alert_document(alert, Instant(0))), "")

    [record] = caplog.records
    assert answer.is_accepted
    assert record.getMessage() == "alert_raised"
    assert facts_of(record) == {
        "kind": "budget_used",
        "subject": "auction",
        "facts": {"spent_usd": 3, "api_token": "***"},
        "at": "1970-01-01T00:00:00.000+00:00",
    }
