"""What one ended attempt means for its run."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.ids import RunId
from foliot.domain.instant import MINUTE, Instant, Millis
from foliot.domain.job.job import Delivery, Options
from foliot.domain.run.outcome import Cancelled, Failure, Interrupted, Lost, Reason, Success, TimedOut
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import (
    MOVES,
    TERMINAL,
    Again,
    Ended,
    GivenBack,
    Status,
    Verdict,
    apply_cancel,
    parse_status,
    rank,
    verdict_of,
)
from foliot.errors import InvalidInput
from tests.cases import for_each

RUN = RunId("01JQZ8W3F07M4T5V6W8X9YABCD")


class AttemptedRun(NamedTuple):
    run_id: RunId
    attempt: int
    lost: int


BROKEN = Failure("exit code 1", Reason.EXIT_CODE, exit_code=1)
FIRST = AttemptedRun(RUN, attempt=1, lost=0)


def with_retries(retries: int, *delays: int) -> Options:
    return Options(retry=Retry(retries=retries, delays=tuple(Millis(delay) for delay in delays)))


@pytest.mark.proves("R1-30")
def test_a_success_ends_the_run() -> None:
    assert verdict_of(FIRST, Success(b"1", 0), with_retries(3)) == Ended(Status.SUCCESS, output=b"1", exit_code=0)


@pytest.mark.proves("R1-33")
def test_without_retries_the_first_failure_ends_the_run() -> None:
    assert verdict_of(FIRST, BROKEN, Options()) == Ended(Status.FAILED, Reason.EXIT_CODE, "exit code 1", 1)


@pytest.mark.proves("R1-31")
def test_a_failure_with_retries_left_is_retried() -> None:
    verdict = verdict_of(FIRST, BROKEN, with_retries(1, 5_000))

    assert verdict == Again(Millis(5_000), Status.FAILED, Reason.EXIT_CODE, "exit code 1", 1)


@pytest.mark.proves("R1-33", "S3")
@given(st.integers(0, 20))
def test_a_run_that_always_fails_has_one_attempt_more_than_its_retries(retries: int) -> None:
    attempts = attempts_of([BROKEN] * 100, with_retries(retries, 0))

    assert attempts == retries + 1


def test_the_retry_delay_grows_with_the_failures() -> None:
    options = with_retries(3, 1, 20, 300)

    verdicts = [verdict_of(AttemptedRun(RUN, attempt, 0), BROKEN, options) for attempt in (1, 2, 3, 4)]

    assert [verdict.delay if isinstance(verdict, Again) else None for verdict in verdicts] == [1, 20, 300, None]


@pytest.mark.proves("R1-32")
def test_a_failure_that_is_not_retryable_ends_the_run() -> None:
    hopeless = Failure("no such handler", Reason.HANDLER_MISSING, retryable=False)

    assert verdict_of(FIRST, hopeless, with_retries(3)) == Ended(
        Status.FAILED, Reason.HANDLER_MISSING, "no such handler"
    )


def test_a_timeout_is_retried_and_keeps_its_status() -> None:
    late = TimedOut("took too long")

    assert verdict_of(FIRST, late, Options()) == Ended(Status.TIMEOUT, Reason.TIMEOUT, "took too long")
    again = verdict_of(FIRST, late, with_retries(1, 7))
    assert again == Again(Millis(7), Status.TIMEOUT, Reason.TIMEOUT, "took too long")


@pytest.mark.proves("Z48")
@pytest.mark.parametrize("outcome", [Failure("sent token=s3cret", Reason.EXCEPTION), TimedOut("sent token=s3cret")])
@pytest.mark.parametrize("retries", [0, 1])
def test_secrets_in_errors_are_masked(outcome: Failure | TimedOut, retries: int) -> None:
    verdict = verdict_of(FIRST, outcome, with_retries(retries, 0))

    assert isinstance(verdict, Ended | Again)
    assert verdict.error == "sent token=***"


@pytest.mark.proves("S9")
def test_a_cancelled_attempt_is_not_retried() -> None:
    assert verdict_of(FIRST, Cancelled(), with_retries(3)) == Ended(Status.CANCELLED, Reason.CANCELLED)


def test_an_interrupted_attempt_is_given_back() -> None:
    assert verdict_of(FIRST, Interrupted(), Options()) == GivenBack()


def test_with_at_most_once_an_interrupted_attempt_ends_the_run() -> None:
    verdict = verdict_of(FIRST, Interrupted(), Options(delivery=Delivery.AT_MOST_ONCE))

    assert isinstance(verdict, Ended)
    assert (verdict.status, verdict.reason) == (Status.FAILED, Reason.RESTART)


def test_a_lost_attempt_is_retried_immediately_without_using_a_retry() -> None:
    verdict = verdict_of(FIRST, Lost(), with_retries(0))

    assert isinstance(verdict, Again)
    assert (verdict.delay, verdict.was_lost, verdict.reason) == (0, True, Reason.LEASE_LOST)


@pytest.mark.proves("S3")
def test_a_lost_attempt_uses_no_retries() -> None:
    after_a_loss = AttemptedRun(RUN, attempt=2, lost=1)

    assert isinstance(verdict_of(after_a_loss, BROKEN, with_retries(1, 5)), Again)
    assert isinstance(verdict_of(after_a_loss._replace(attempt=3), BROKEN, with_retries(1, 5)), Ended)


@pytest.mark.proves("Q5")
@given(st.integers(0, 10))
def test_a_run_that_kills_every_worker_fails_when_its_lost_budget_is_used_up(max_lost: int) -> None:
    assert attempts_of([Lost()] * 100, Options(max_lost=max_lost)) == max_lost + 1


@pytest.mark.proves("Q5")
def test_with_at_most_once_a_lost_attempt_ends_the_run() -> None:
    verdict = verdict_of(FIRST, Lost(), Options(delivery=Delivery.AT_MOST_ONCE, max_lost=3))

    assert verdict == Ended(Status.FAILED, Reason.LEASE_LOST, "the worker was lost", was_lost=True)


@pytest.mark.proves("S3")
@given(st.lists(st.sampled_from([BROKEN, Lost(), Interrupted()])), st.integers(0, 4), st.integers(0, 4))
def test_retries_and_lost_attempts_have_separate_budgets(
    outcomes: list[Failure | Lost | Interrupted], retries: int, max_lost: int
) -> None:
    options = Options(retry=Retry(retries=retries), max_lost=max_lost)

    attempts = attempts_of(outcomes, options)

    assert attempts <= 1 + retries + max_lost


@pytest.mark.proves("S9")
@pytest.mark.parametrize(
    ("verdict", "cancelled"),
    [
        (Ended(Status.SUCCESS, output=b"1"), Ended(Status.SUCCESS, output=b"1")),
        (Ended(Status.FAILED, Reason.EXIT_CODE, "no"), Ended(Status.FAILED, Reason.EXIT_CODE, "no")),
        (
            Again(Millis(1), Status.FAILED, Reason.EXIT_CODE, "no", 3),
            Ended(Status.CANCELLED, Reason.CANCELLED, "no", 3),
        ),
        (
            Again(Millis(0), Status.FAILED, Reason.LEASE_LOST, "the worker was lost", was_lost=True),
            Ended(Status.CANCELLED, Reason.CANCELLED, "the worker was lost", was_lost=True),
        ),
        (GivenBack(), Ended(Status.CANCELLED, Reason.CANCELLED)),
    ],
    ids=["success", "failure", "retry", "lost", "given back"],
)
def test_a_cancellation_replaces_retries_and_nothing_else(verdict: Verdict, cancelled: Verdict) -> None:
    assert apply_cancel(verdict) == cancelled


def test_a_terminal_status_never_changes() -> None:
    assert all(not MOVES[status] for status in TERMINAL)
    assert set(MOVES) == set(Status)


def test_every_other_status_can_reach_a_terminal_one() -> None:
    for status in set(Status) - TERMINAL:
        assert MOVES[status] & TERMINAL
        assert status.is_terminal is False


def test_a_run_that_is_being_cancelled_cannot_become_skipped() -> None:
    """An execution whose steps were all skipped is skipped, although it ran."""
    skipped_from = {status for status in Status if Status.SKIPPED in MOVES[status]}
    assert skipped_from == {Status.SCHEDULED, Status.QUEUED, Status.RUNNING}


@for_each(
    ("text", "status"),
    [
        ("succeeded", Status.SUCCESS),
        (" SUCCESS ", Status.SUCCESS),
        ("canceled", Status.CANCELLED),
        ("Failure", Status.FAILED),
        ("timed_out", Status.TIMEOUT),
        ("ENQUEUED", Status.QUEUED),
        ("STARTED", Status.RUNNING),
        ("pending", Status.SCHEDULED),
        *((status.value, status) for status in Status),
    ],
)
def test_spellings_of_other_schedulers_are_accepted(text: str, status: Status) -> None:
    assert parse_status(text) is status


def test_a_status_that_does_not_exist_is_refused_with_a_near_match() -> None:
    with pytest.raises(InvalidInput, match="does not exist") as refused:
        parse_status("sucess")

    assert refused.value.hint == 'Did you mean "success"?'


def test_a_priority_moves_a_run_forward_by_minutes() -> None:
    patient, urgent = Instant(0), Instant(5 * MINUTE)

    assert rank(patient, 0) < rank(urgent, 4)
    assert rank(patient, 0) == rank(urgent, 5)
    assert rank(patient, 0) > rank(urgent, 6)


def attempts_of(outcomes: list[Failure | Lost | Interrupted] | list[Failure] | list[Lost], options: Options) -> int:
    """Return the number of attempts of a run with these outcomes, without those given back."""
    attempt, lost = 0, 0
    for outcome in outcomes:
        match verdict_of(AttemptedRun(RUN, attempt + 1, lost), outcome, options):
            case Ended():
                return attempt + 1
            case Again(was_lost=was_lost):
                attempt, lost = attempt + 1, lost + was_lost
            case GivenBack():
                pass
    return attempt
