"""The findings of `foliot verify`: what is wrong, and what to do."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from foliot.domain.audit import Fault
from foliot.domain.instant import from_datetime, to_iso
from foliot.interfaces.cli.render.text import counted, escaped
from foliot.service.queries.verified import FindingView, Verified


class FaultText(NamedTuple):
    what: str
    advice: str


_START_IT: Final = "check whether the job ran; if not, start it with foliot trigger"
_DISTRUST: Final = "the row was not written by Foliot: rely on the run and its log"
_RECOMPUTE: Final = "pause and resume the schedule to compute it again"
_RESTORE: Final = "restore this part from a backup; later firings are in the runs"
_MEND: Final = "declare it again, or restore it from a backup"
_MEND_RUN: Final = "restore it from a backup, or, if it is not over, cancel it"

FAULTS: Final[Mapping[Fault, FaultText]] = {
    Fault.MISSING: FaultText("planned ticks have no row", _START_IT),
    Fault.INVENTED: FaultText("a row covers ticks that were never planned", _DISTRUST),
    Fault.DOUBLED: FaultText("two rows cover the same tick", "check which of them has a run, and rely on that one"),
    Fault.MISCOUNTED: FaultText(
        "a range has another count than the ticks it covers", "rely on the rule: foliot next shows its ticks"
    ),
    Fault.RAN_WHILE_PAUSED: FaultText(
        "a tick ran during a pause", "check who paused and resumed the schedule, and whether the run did harm"
    ),
    Fault.PAUSE_MISMATCH: FaultText(
        "rows and pauses contradict each other", "compare with the events, which record each pause"
    ),
    Fault.BEYOND_WATERMARK: FaultText(
        "a row covers ticks that are not decided yet", "remove the row: the schedule would stop at it"
    ),
    Fault.IMPOSSIBLE: FaultText("the policies of the schedule cannot lead to this outcome", _DISTRUST),
    Fault.OTHER_REVISION: FaultText("the row names a revision that does not apply to its ticks", _DISTRUST),
    Fault.MISTIMED: FaultText("the time to fire does not match the jitter", _DISTRUST),
    Fault.WRONG_KEY: FaultText(
        "the idempotency key does not match schedule and tick", "look for a second run of this tick"
    ),
    Fault.LEADS_NOWHERE: FaultText("the tick that should run instead did not run, or does not exist", _START_IT),
    Fault.UNREADABLE: FaultText("a row cannot be read", _RESTORE),
    Fault.SHARED_RUN: FaultText("two ticks name the same run", "rely on the run: it names the tick it was created for"),
    Fault.RUN_MISSING: FaultText("the run of a tick is missing, although older runs are kept", _RESTORE),
    Fault.RUN_OF_ANOTHER: FaultText("the run of a tick was created for another tick", _START_IT),
    Fault.UNRECORDED_RUN: FaultText("a run was created for a tick that does not name it", _DISTRUST),
    Fault.ASLEEP: FaultText(
        "ticks are due later, but the schedule is off or has no wake-up time",
        f"{_RECOMPUTE}; if it stays off, save it with another rule",
    ),
    Fault.OVERSLEEPS: FaultText("the wake-up time of the schedule is after its next tick", _RECOMPUTE),
    Fault.WRONG_NEXT: FaultText("the next tick does not match the rule", _RECOMPUTE),
    Fault.WRONG_LAST: FaultText(
        "the tick recorded as the last that ran did not run", "rely on the rows: the next run corrects it"
    ),
    Fault.WRONG_WATERMARK: FaultText("the watermark is at a time for which no tick was planned", _RESTORE),
    Fault.WRONG_START: FaultText("the recorded start of the ledger is not where it starts", _RESTORE),
    Fault.WRONG_PAUSE: FaultText("the schedule and its pauses disagree whether it is paused", "pause and resume it"),
    Fault.WRONG_RULE: FaultText("revisions are missing, or differ from the schedule", _RESTORE),
}


def summary(verified: Verified) -> str:
    """Return the last line: how much was checked, and how much of it has problems."""
    unsound, others = verified.unsound_schedules, verified.other_rows
    problems = [f"problems in {counted(unsound, 'schedule')}"] if unsound else []
    if others:
        problems.append(f"{counted(others, 'other row')} unreadable")
    found = "; ".join(problems) or "no problems found"
    return f"{counted(verified.schedules, 'schedule')}, {counted(verified.ticks, 'tick')}, {found}"


def finding_line(finding: FindingView) -> str:
    """Return a finding as one line."""
    what, advice = FAULTS[finding.fault]
    if finding.schedule_id is None:
        return f"{finding.fault}: {escaped(finding.row or '')}; {_MEND if finding.run_id is None else _MEND_RUN}"
    return f"{escaped(finding.schedule_id)}: {finding.fault}, {_where(finding)}: {what}; {advice}"


def fault_document(finding: FindingView) -> dict[str, Any]:
    """Return a finding as an object. `schedule_id` is null if a row belongs to no schedule."""
    what, advice = FAULTS[finding.fault]
    return {
        "type": "fault",
        "schedule_id": finding.schedule_id,
        "fault": finding.fault,
        "first": _iso(finding.first),
        "last": _iso(finding.last),
        "count": finding.count,
        "run_id": finding.run_id,
        "row": finding.row,
        "what": what,
        "advice": advice,
    }


def summary_document(verified: Verified) -> dict[str, Any]:
    """The last object: how much was checked, and how much of it has problems."""
    return {
        "type": "summary",
        "is_sound": verified.is_sound,
        "schedules": verified.schedules,
        "ticks": verified.ticks,
        "faults": verified.faults,
        "unsound_schedules": verified.unsound_schedules,
    }


def _where(finding: FindingView) -> str:
    first, last = _iso(finding.first), _iso(finding.last)
    moments = first if finding.first == finding.last else f"{first} to {last}"
    number = "" if finding.count == 1 else f" ({finding.count})"
    run = "" if finding.run_id is None else f" run {escaped(finding.run_id)}"
    row = "" if finding.row is None else f": {escaped(finding.row)}"
    return moments + number + run + row


def _iso(moment: datetime) -> str:
    return to_iso(from_datetime(moment))
