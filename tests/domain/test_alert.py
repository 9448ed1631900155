"""Alerts as items of events."""

import json

from foliot.domain.alert import Alert, AlertKind


def test_an_alert_is_read_from_its_item_as_it_was_written() -> None:
    alert = Alert(AlertKind.BREAKER_OPENED, "auction", {"run_ids": ["a", "b"], "resumes_at": 1_700_000_000_000})

    item = json.loads(json.dumps(alert.item))

    assert Alert.of_item(item) == alert


def test_an_alert_of_an_unlisted_kind_is_read() -> None:
    assert Alert.of_item(["disk_full", "db", {}]) == Alert("disk_full", "db", {})
