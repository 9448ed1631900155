"""What `foliot verify` says about each fault: what is wrong, and what to do."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from foliot.domain.audit import Fault


class Words(NamedTuple):
    what: str
    advice: str


_START_IT = "see whether the job ran, and start it with foliot trigger if not"
_DISTRUST = "the row was changed by hand: go by the run and its log"
_REWAKE = "pause and resume the schedule: then it is computed anew"
_RESTORE = "restore this part from a backup; what fired since is in the runs"

WORDS: Final[Mapping[Fault, Words]] = {
    Fault.MISSING: Words("planned moments have no row", _START_IT),
    Fault.INVENTED: Words("a row is for moments that were never planned", _DISTRUST),
    Fault.DOUBLED: Words("two rows are for one moment", "see which of them has a run, and go by that one"),
    Fault.MISCOUNTED: Words(
        "a range counts other than the moments it covers", "go by the rule: foliot next shows what it gives"
    ),
    Fault.RAN_WHILE_PAUSED: Words("a tick ran in a pause", "see who paused and resumed it, and whether it did harm"),
    Fault.PAUSE_MISMATCH: Words(
        "rows and pauses contradict each other", "compare with the events: they tell each pause"
    ),
    Fault.BEYOND_WATERMARK: Words(
        "a row is for moments that are not decided yet", "remove the row: the schedule will stop at it"
    ),
    Fault.IMPOSSIBLE: Words("the outcome is none that the schedule's policies give", _DISTRUST),
    Fault.OTHER_REVISION: Words("the row names a revision that does not rule its moments", _DISTRUST),
    Fault.MISTIMED: Words("the moment to fire is not the one that the jitter gives", _DISTRUST),
    Fault.WRONG_KEY: Words(
        "the idempotency key does not fit schedule and moment", "look for a second launch of this moment"
    ),
    Fault.LEADS_NOWHERE: Words("the tick that was to run instead did not, or does not exist", _START_IT),
    Fault.UNREADABLE: Words("a row says nothing that Foliot knows", _RESTORE),
    Fault.SHARED_RUN: Words("two ticks name one run", "go by the run: it says for which moment it was made"),
    Fault.RUN_MISSING: Words("the run of a tick is gone, though older ones are kept", _RESTORE),
    Fault.RUN_OF_ANOTHER: Words("the run of a tick says it was made for another", _START_IT),
    Fault.UNRECORDED_RUN: Words("a run says it was made for a tick that does not name it", _DISTRUST),
    Fault.ASLEEP: Words(
        "moments are to come, and the schedule is off, or nothing will wake it",
        f"{_REWAKE}; if it stays off, save it with another rule",
    ),
    Fault.OVERSLEEPS: Words("the schedule will be woken too late for its next moment", _REWAKE),
    Fault.WRONG_NEXT: Words("the next moment is not the one that the rule gives", _REWAKE),
    Fault.WRONG_LAST: Words("the last moment said to have run did not", "go by the rows: the next run corrects it"),
    Fault.WRONG_WATERMARK: Words("the watermark stands where nothing was planned", _RESTORE),
    Fault.WRONG_START: Words("the ledger is said to begin elsewhere than it does", _RESTORE),
    Fault.WRONG_PAUSE: Words("the schedule and its pauses disagree whether it is paused", "pause it and resume it"),
    Fault.WRONG_RULE: Words("the revisions are incomplete, or not what the schedule says", _RESTORE),
}
