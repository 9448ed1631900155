"""Everything that can be said against one schedule's ledger."""

from foliot.domain.audit.account import Account
from foliot.domain.audit.finding import Finding
from foliot.domain.audit.launches import check_launches
from foliot.domain.audit.moments import audit, beyond
from foliot.domain.audit.rows import check_rows
from foliot.domain.audit.standing import check_standing


def judge(account: Account) -> list[Finding]:
    """All that is wrong, the earliest moment first."""
    until = account.schedule.settled_until
    planned = [tick for tick in account.planned if account.after < tick.scheduled_for <= until]
    findings = audit(account.timetable, account.settled, planned, after=account.after, until=until)
    findings += beyond(account.ticks, account.planned, until)
    findings += [*check_rows(account), *check_launches(account), *check_standing(account)]
    return sorted(findings, key=lambda finding: (finding.first, finding.fault))
