"""Ends of runs and alerts are notified at least once, each with one id, and a dead receiver delays no other."""

import logging
from pathlib import Path
from typing import Any

import apsw
import pytest

from foliot.domain.alert import Alert, AlertKind
from foliot.domain.ids import JobId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, Millis
from foliot.domain.notification.retry import MAX_ATTEMPTS
from foliot.domain.notification.rule import Notify, Occasion
from foliot.domain.notification.settings import NotificationSettings
from foliot.domain.run.outcome import Success
from foliot.engine.notifications.listener import CHECK
from foliot.engine.notifications.sender import LEASE as SENDER_LEASE
from foliot.ports.deliveries import DeliveryState
from foliot.ports.notifier import LISTENER, Answer
from foliot.testing.builders import retries_after
from tests.engine.notifying import BROKEN, Notifying, Receivers
from tests.engine.rig import LEASE, Rig

ALL, OWN, SLACK = "https://all.example/hook", "https://own.example/hook", "https://hooks.slack.com/services/T/B/x"
SETTINGS = NotificationSettings(defaults=Notify(webhook_url=ALL), public_url="https://foliot.example")


@pytest.fixture
def receivers() -> Receivers:
    return Receivers()


@pytest.fixture
async def one(rig: Rig, receivers: Receivers) -> Notifying:
    """A process with targets for all jobs."""
    made = Notifying(rig, receivers, SETTINGS)
    await made.role.listener.begin()
    return made


@pytest.fixture
async def bare(rig: Rig, receivers: Receivers) -> Notifying:
    """A process without [notifications]."""
    made = Notifying(rig, receivers, NotificationSettings())
    await made.role.listener.begin()
    return made


# -- what is notified


async def test_a_failure_is_notified_with_the_fields_of_the_run_and_a_link(
    one: Notifying, receivers: Receivers
) -> None:
    run_id = await one.end("report")

    await one.notify()

    [document] = receivers.documents(ALL)
    wanted = {"type": "run.ended", "occasion": "failure", "job_id": "report", "run_id": run_id, "status": "failed"}
    assert {**document, **wanted} == document
    assert (document["exit_code"], document["error"], document["failures_in_a_row"]) == (3, "boom", 1)
    assert document["url"] == f"https://foliot.example/runs/{run_id}"


async def test_a_success_is_notified_only_as_a_recovery(one: Notifying, receivers: Receivers) -> None:
    for outcome in (Success(), None, None, Success(), Success()):
        await one.end("report", outcome)
        one.rig.clock.advance(SECOND)

    await one.notify()

    sent = [(document["occasion"], document["failures_in_a_row"]) for document in receivers.documents(ALL)]
    assert sorted(sent) == [("failure", 1), ("failure", 2), ("recovery", 2)]


async def test_a_failure_that_is_retried_is_not_notified_before_the_run_has_failed(
    one: Notifying, receivers: Receivers
) -> None:
    await one.rig.job("flaky", retry=retries_after(Millis(HOUR)))
    await one.end("flaky")
    await one.notify()

    assert receivers.documents(ALL) == []


async def test_repeated_failures_are_notified_once_when_their_number_is_reached(
    bare: Notifying, receivers: Receivers
) -> None:
    occasions = (Occasion.REPEATED_FAILURE, Occasion.RECOVERY)
    await bare.job("report", webhook_url=OWN, notify_on=occasions, notify_after_failures=2)
    for outcome in (None, Success(), None, None, None, Success()):
        await bare.end("report", outcome)
        bare.rig.clock.advance(SECOND)

    await bare.notify()

    sent = [(document["occasion"], document["failures_in_a_row"]) for document in receivers.documents(OWN)]
    assert sorted(sent) == [("recovery", 3), ("repeated_failure", 2)]


async def test_targets_of_a_job_have_precedence_and_an_empty_list_switches_off(
    one: Notifying, receivers: Receivers
) -> None:
    await one.job("own", webhook_url=OWN, slack_webhook_url=SLACK, notify_on=(Occasion.END,))
    await one.job("quiet", notify_on=())
    await one.end("own", Success())
    await one.end("quiet")

    await one.notify()

    assert {url: len(got) for url, got in receivers.got.items()} == {OWN: 1, SLACK: 1}
    ids = [message.id for got in receivers.got.values() for message in got]
    assert len(set(ids)) == 2


async def test_alerts_of_any_kind_go_to_the_log_and_to_the_default_targets(
    one: Notifying, receivers: Receivers
) -> None:
    known = Alert(AlertKind.BREAKER_OPENED, "auction", {"run_ids": ["a", "b", "c"]})
    await one.raise_alert(known, Alert("kind_of_a_later_version", "x", {}))

    await one.notify()

    kinds = ["breaker_opened", "kind_of_a_later_version"]
    assert sorted(document["kind"] for document in receivers.documents("")) == kinds
    assert sorted(document["kind"] for document in receivers.documents(ALL)) == kinds
    [first] = [document for document in receivers.documents(ALL) if document["kind"] == "breaker_opened"]
    assert (first["subject"], first["facts"]) == ("auction", {"run_ids": ["a", "b", "c"]})


# -- nothing to notify


async def test_without_any_target_there_is_no_listener_and_no_row(bare: Notifying, receivers: Receivers) -> None:
    await bare.job("report", notify_on=(Occasion.END,))
    await bare.end("report")

    assert await bare.role.listener.round() == CHECK
    assert await bare.role.sender.round() == CHECK
    assert not await bare.rig.storage.listeners.is_known(LISTENER)
    assert await bare.rig.storage.deliveries.next_due() is None


async def test_the_first_job_with_a_target_is_notified_from_its_first_run_on(
    bare: Notifying, receivers: Receivers
) -> None:
    await bare.role.listener.round()
    await bare.job("report", webhook_url=OWN)
    await bare.end("report")

    await bare.notify()

    assert len(receivers.got[OWN]) == 1


# -- delivery


@pytest.mark.proves("S4", "Z37")
async def test_a_failed_attempt_is_repeated_with_the_same_id_and_document(one: Notifying, receivers: Receivers) -> None:
    receivers.answers[ALL] = BROKEN
    await one.end("report")
    await one.notify()
    for _ in range(2):
        one.rig.clock.advance(2 * SECOND)
        await one.send()
    receivers.answers.clear()
    one.rig.clock.advance(MINUTE - 1)
    await one.send()
    assert len(receivers.got[ALL]) == 3

    one.rig.clock.advance(1)
    await one.send()

    assert len(receivers.got[ALL]) == 4
    assert len({message.id for message in receivers.got[ALL]}) == 1
    assert all(document == receivers.documents(ALL)[0] for document in receivers.documents(ALL))
    [stored] = await one.rig.storage.deliveries.get([receivers.got[ALL][0].id])
    assert (stored.state, stored.attempts) == (DeliveryState.DELIVERED, 4)


async def test_attempts_are_limited_and_the_last_failure_is_logged(
    one: Notifying, receivers: Receivers, caplog: pytest.LogCaptureFixture
) -> None:
    receivers.answers[ALL] = BROKEN
    await one.end("report")
    await one.listen()
    with caplog.at_level(logging.WARNING):
        for _ in range(MAX_ATTEMPTS + 5):
            await one.send()
            one.rig.clock.advance(HOUR)

    assert len(receivers.got[ALL]) == MAX_ATTEMPTS
    events = [record.getMessage() for record in caplog.records if record.name.startswith("foliot.engine.notifications")]
    assert events == ["notification_delayed", "notification_failed"]
    assert ALL not in caplog.text
    [failed] = await one.rig.storage.deliveries.failed(Instant(0), limit=10)
    assert failed.answer == BROKEN.text


async def test_a_target_that_is_refused_for_good_is_tried_once(one: Notifying, receivers: Receivers) -> None:
    receivers.answers[ALL] = Answer(False, "blocked", is_final=True)
    await one.end("report")
    await one.notify()

    assert await one.rig.storage.deliveries.next_due() is None
    [failed] = await one.rig.storage.deliveries.failed(one.rig.clock.now(), limit=10)
    assert failed.answer == "blocked"


async def test_a_receiver_that_does_not_answer_delays_no_other(one: Notifying, receivers: Receivers) -> None:
    receivers.silent.add(ALL)
    await one.job("own", webhook_url=OWN)
    for _ in range(50):
        await one.end("report")
    await one.end("own")

    await one.notify()

    assert len(receivers.got[ALL]) == 2
    assert len(receivers.got[OWN]) == 1


async def test_a_changed_url_applies_to_waiting_messages_and_a_removed_one_drops_them(
    bare: Notifying, receivers: Receivers
) -> None:
    receivers.answers[OWN] = BROKEN
    await bare.job("report", webhook_url=OWN)
    await bare.end("report")
    await bare.notify()
    other = "https://other.example"
    receivers.answers[other] = BROKEN
    await bare.job("report", webhook_url=other)
    bare.rig.clock.advance(2 * SECOND)
    await bare.send()
    assert len(receivers.got[other]) == 1

    await bare.job("report")
    bare.rig.clock.advance(2 * SECOND)
    await bare.send()

    assert len(receivers.got[other]) == 1
    [stored] = await bare.rig.storage.deliveries.get([receivers.got[OWN][0].id])
    assert stored.state is DeliveryState.DROPPED


# -- several processes, and those that end


@pytest.mark.proves("S4")
async def test_an_event_that_is_read_again_adds_no_delivery(
    one: Notifying, receivers: Receivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_: object) -> bool:
        raise ConnectionError("no answer")

    await one.end("report")
    with monkeypatch.context() as patch:
        patch.setattr(one.rig.storage.listeners, "advance", lost)
        with pytest.raises(ConnectionError):
            await one.role.listener.round()
    await one.send()
    one.rig.clock.advance(LEASE)
    two = Notifying(one.rig, receivers, SETTINGS, holder="two")
    await two.notify()

    assert len(receivers.got[ALL]) == 1


async def test_a_delivery_of_a_process_that_was_killed_is_sent_by_another_one(
    one: Notifying, receivers: Receivers
) -> None:
    receivers.silent.add(ALL)
    await one.end("report")
    await one.notify()
    receivers.silent.clear()
    two = Notifying(one.rig, receivers, SETTINGS, holder="two")
    await two.send()
    assert len(receivers.got[ALL]) == 1

    one.rig.clock.advance(SENDER_LEASE)
    await two.send()

    first, second = receivers.got[ALL]
    assert first == second


async def test_a_stopping_process_waits_for_its_attempts(one: Notifying, receivers: Receivers) -> None:
    await one.end("report")
    await one.listen()
    await one.role.sender.round()

    await one.role.sender.close()

    assert len(receivers.got[ALL]) == 1
    assert await one.rig.storage.deliveries.next_due() is None


async def test_an_outage_of_the_storage_after_an_attempt_repeats_it_later(
    one: Notifying, receivers: Receivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_: Any, **__: Any) -> None:
        raise ConnectionError("no answer")

    await one.end("report")
    await one.listen()
    with monkeypatch.context() as patch:
        patch.setattr(one.rig.storage.deliveries, "settle", lost)
        await one.send()
    one.rig.clock.advance(SENDER_LEASE)
    await one.send()

    first, second = receivers.got[ALL]
    assert first.id == second.id


# -- secrets


@pytest.mark.proves("Z28")
async def test_no_row_contains_the_url_of_a_job(bare: Notifying, receivers: Receivers, tmp_path: Any) -> None:
    await bare.job("report", webhook_url=f"{OWN}/hunter2", slack_webhook_url=f"{SLACK}hunter2")
    await bare.end("report")
    await bare.notify()
    assert len(receivers.got) == 2

    files = [path.read_bytes() for path in tmp_path.iterdir() if path.is_file()]
    assert not any(b"hunter2" in data for data in files)


async def test_a_url_that_cannot_be_decrypted_is_tried_until_the_key_is_back(
    bare: Notifying, receivers: Receivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bare.job("report", webhook_url=OWN)
    await bare.end("report")
    keys = bare.services.urls._secrets
    with monkeypatch.context() as patch:
        patch.setattr(keys, "_keys", ())
        patch.setattr(keys, "_environ", {"FOLIOT_SECRET_KEY": "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE="})
        await bare.notify()
        assert receivers.got == {}
    monkeypatch.setattr(keys, "_keys", ())
    bare.rig.clock.advance(2 * SECOND)

    await bare.send()

    assert len(receivers.got[OWN]) == 1


async def test_an_unchanged_job_is_not_changed_by_storing_it_again(bare: Notifying) -> None:
    for _ in range(2):
        await bare.job("report", webhook_url=OWN)

    job = await bare.services.jobs.record(JobId("report"))
    assert job.revision == 1


# -- rows that another program has changed


async def test_a_job_that_cannot_be_read_is_notified_to_the_default_targets(
    one: Notifying, receivers: Receivers, tmp_path: Path
) -> None:
    await one.end("report")
    await one.end("other")
    connection = apsw.Connection(str(tmp_path / "engine.db"))
    connection.execute("UPDATE jobs SET spec = 'x' WHERE id = 'report'")
    connection.close()

    await one.notify()

    assert sorted(document["job_id"] for document in receivers.documents(ALL)) == ["other", "report"]
