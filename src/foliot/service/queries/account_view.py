"""The view of what the planned times of an interval have become."""

from datetime import datetime

import msgspec

from foliot.domain.instant import Instant, to_datetime
from foliot.domain.schedule.tick import TickOutcome
from foliot.ports.ticks import Account


class AccountView(msgspec.Struct, frozen=True, kw_only=True):
    """What the planned times of an interval have become. `planned` is the sum of the six outcomes.

    A range that began before the interval is counted by its share.
    """

    since: datetime
    until: datetime
    planned: int
    ran: int
    skipped: int
    missed: int
    coalesced: int
    failed: int
    """No run could be created, because the job or workflow did not exist."""
    cancelled: int
    failed_runs: int
    """How many of those that ran have a run that failed or timed out."""
    late: int
    """How many of those that ran had to catch up."""
    is_complete: bool
    """False: counting stopped at 50,000 rows of ledgers that ran, or at 50,000 others."""


def view_account(account: Account, since: Instant, until: Instant) -> AccountView:
    outcomes = {outcome.value: account.outcomes.get(outcome, 0) for outcome in TickOutcome}
    return AccountView(
        since=to_datetime(since),
        until=to_datetime(until),
        planned=sum(outcomes.values()),
        failed_runs=account.failed_runs,
        late=account.late,
        is_complete=account.is_complete,
        **outcomes,
    )
