"""Does the ledger tell the truth? Everything that can be known from outside is computed anew and compared.

    finding     what can be wrong
    account     all that is known of one schedule's ledger, page by page
    moments     the rows against the timetable: no moment without a row, none twice, none invented
    rows        what each row says beside its moments: outcome, reason, revision, key, when it fired
    launches    ticks against the runs that were made for them
    standing    the schedule's own row: where it stands, what it waits for
    judging     all of them

Who changes a database by hand changes one of these; the others then do not fit any more.
"""

from foliot.domain.audit.finding import Fault, Finding
from foliot.domain.audit.input import Account, Launched, Page
from foliot.domain.audit.ledger_check import Judge
from foliot.domain.audit.tick_check import audit

__all__ = ["Account", "Fault", "Finding", "Judge", "Launched", "Page", "audit"]
