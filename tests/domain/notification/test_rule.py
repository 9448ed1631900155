"""The options about notifications, and what they decide."""

import pytest

from foliot.domain.notification.decision import failures_in_a_row, failures_needed, occasion_of
from foliot.domain.notification.retry import MAX_ATTEMPTS, delay_after
from foliot.domain.notification.rule import NO_OPTIONS, Notify, Occasion
from foliot.domain.run.run import Status
from foliot.errors import InvalidJob

FAILURE, REPEATED, RECOVERY, END = Occasion.FAILURE, Occasion.REPEATED_FAILURE, Occasion.RECOVERY, Occasion.END


@pytest.mark.parametrize(
    ("on", "status", "before", "occasion"),
    [
        (None, Status.FAILED, 0, FAILURE),
        (None, Status.FAILED, 7, FAILURE),
        (None, Status.TIMEOUT, 0, FAILURE),
        (None, Status.SUCCESS, 0, None),
        (None, Status.SUCCESS, 1, RECOVERY),
        (None, Status.PARTIAL, 1, RECOVERY),
        (None, Status.CANCELLED, 1, None),
        (None, Status.SKIPPED, 1, None),
        ((REPEATED, RECOVERY), Status.FAILED, 1, None),
        ((REPEATED, RECOVERY), Status.FAILED, 2, REPEATED),
        ((REPEATED, RECOVERY), Status.FAILED, 3, None),
        ((REPEATED, RECOVERY), Status.SUCCESS, 2, None),
        ((REPEATED, RECOVERY), Status.SUCCESS, 3, RECOVERY),
        ((RECOVERY,), Status.SUCCESS, 1, RECOVERY),
        ((FAILURE,), Status.SUCCESS, 1, None),
        ((END,), Status.SUCCESS, 1, END),
        ((END,), Status.CANCELLED, 0, END),
        ((END, FAILURE), Status.FAILED, 0, FAILURE),
        ((), Status.FAILED, 9, None),
    ],
)
def test_each_end_is_notified_for_the_wanted_occasions(
    on: tuple[Occasion, ...] | None, status: Status, before: int, occasion: Occasion | None
) -> None:
    rule = Notify(notify_on=on)

    assert occasion_of(status, before, rule) is occasion


def test_failures_are_counted_up_to_the_latest_success() -> None:
    statuses = [Status.FAILED, Status.CANCELLED, Status.RUNNING, Status.TIMEOUT, Status.SUCCESS, Status.FAILED]

    assert failures_in_a_row(statuses) == 2
    assert failures_in_a_row([]) == 0


def test_earlier_runs_are_needed_only_where_they_matter() -> None:
    assert failures_needed(Status.FAILED, NO_OPTIONS) == 0
    assert failures_needed(Status.SUCCESS, NO_OPTIONS) == 1
    assert failures_needed(Status.CANCELLED, NO_OPTIONS) == 0
    assert failures_needed(Status.FAILED, Notify(notify_on=(REPEATED,), notify_after_failures=5)) == 5


def test_options_of_a_job_have_precedence_over_the_defaults() -> None:
    defaults = Notify(webhook_url="https://all.example", notify_on=(END,), notify_after_failures=5)

    assert NO_OPTIONS.over(defaults) == defaults
    assert Notify(notify_on=()).over(defaults).occasions == frozenset()
    assert Notify(webhook_url="https://own.example").over(defaults).webhook_url == "https://own.example"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"webhook_url": "ftp://x/secret"}, 'webhook_url is not valid: the scheme "ftp" is not supported'),
        ({"webhook_url": "x secret"}, "webhook_url is not valid: the url contains a space"),
        ({"slack_webhook_url": "https://example.org/secret"}, "slack_webhook_url does not begin with https://hooks."),
        ({"slack_webhook_url": "http://hooks.slack.com/secret"}, "slack_webhook_url does not begin with https://"),
        ({"slack_webhook_url": "https://hooks.slack.com.evil/secret"}, "slack_webhook_url does not begin with"),
        ({"notify_after_failures": 0}, "notify_after_failures must be 1 to 100, not 0"),
    ],
)
def test_an_invalid_option_is_refused_without_its_value(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidJob) as refused:
        Notify(**fields).check()  # type: ignore[arg-type]

    assert message in refused.value.message
    assert "secret" not in f"{refused.value.message} {refused.value.hint}"
    assert refused.value.field == next(iter(fields))


def test_the_first_three_attempts_are_two_seconds_apart_and_later_delays_grow_up_to_an_hour() -> None:
    delays = [delay_after(attempts) for attempts in range(1, MAX_ATTEMPTS + 1)]

    assert delays[:6] == [2_000, 2_000, 60_000, 240_000, 960_000, 3_600_000]
    assert set(delays[5:-1]) == {3_600_000}
    assert delays[-1] is None
