"""The audit of a ledger: computes the expected contents from other data and compares them with the rows.

    finding            what can be wrong
    input              the data of one schedule's ledger, page by page
    tick_check         rows against the timetable: each planned moment has exactly one row
    row_check          the other fields of each row: outcome, reason, revision, key, fire time
    run_check          ticks against the runs that were created for them
    watermark_check    the schedule's own row: watermark, next moment, wake time, pause, revisions
    ledger_check       all of these

A manual change in the database affects only some of these, and the others no longer agree with it.
"""

from foliot.domain.audit.finding import Fault, Finding
from foliot.domain.audit.input import AuditInput, LaunchedRun, Page, RecentRows
from foliot.domain.audit.ledger_check import LedgerCheck
from foliot.domain.audit.tick_check import audit

__all__ = ["AuditInput", "Fault", "Finding", "LaunchedRun", "LedgerCheck", "Page", "RecentRows", "audit"]
