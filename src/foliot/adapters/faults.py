"""Named points at which a process kills itself, for crash tests.

    FOLIOT_FAULT="commit_firings.before_commit"    die the first time this point is reached
    FOLIOT_FAULT="claim.after_commit:3"            die the third time
    FOLIOT_FAULT_LOG=path                          write the name of the point there before dying, so that a test can
                                                   check that it was reached

The process sends itself SIGKILL: nothing is flushed, no handler runs. With FOLIOT_ENV=production it refuses to start.
"""

import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from foliot.errors import InvalidInput

VERBS: Final = (
    *(
        "put_jobs",
        "delete_jobs",
        "pause_job",
        "put_schedules",
        "pause",
        "pause_project",
        "delete_schedules",
        "commit_firings",
    ),
    *("create", "release_due", "admit", "claim", "finish", "exchange", "cancel", "append"),
    *(
        "rename_jobs",
        "mark",
        "answer",
        "report",
        "watch",
        "put_workflows",
        "deploy",
        "delete_workflows",
        "pause_step",
        "add_dependency",
        "remove_dependency",
        "open",
        "settle_trees",
        "decide_gates",
    ),
    *("register", "renew", "retire", "expired", "remove_expired", "lead", "resign", "prune", "prune_logs"),
    *("expire_workers", "hold_listener", "advance_listener", "release_listener", "progress", "append_items"),
    *("probe", "save_clock_fault"),
    *("ask_chain", "change_class"),
    *("add_deliveries", "take_deliveries", "settle_deliveries"),
    *("put_dsn", "remove_dsn", "add_audit", "add_token", "revoke_token", "save_token_use"),
    *("begin_request", "complete_request", "abandon_request"),
    *("add_user", "set_password", "remove_user", "open_session", "save_seen", "close_session"),
    *("add_enrolment", "join_enrolment", "set_enrolment_disabled", "remove_enrolment", "direct_workers", "take_nonce"),
)
POINTS: Final = tuple(f"{verb}.{side}_commit" for verb in VERBS for side in ("before", "after"))
"""All points: before and after each commit of a storage. `prune_logs` exists only in SQLite, which has a log file."""


def from_environment(environment: Mapping[str, str]) -> Callable[[str], None]:
    if environment.get("FOLIOT_ENV", "").casefold() in ("production", "prod"):
        raise InvalidInput(
            "FOLIOT_FAULT is set in production",
            hint="It makes the process kill itself and exists for tests. Unset it.",
            field="FOLIOT_FAULT",
        )
    name, _, count = environment["FOLIOT_FAULT"].partition(":")
    if name not in POINTS:
        raise InvalidInput(
            f"fault point {name!a} does not exist", hint=f"Use one of: {', '.join(POINTS)}.", field="FOLIOT_FAULT"
        )
    if count and not (count.isascii() and count.isdigit() and int(count)):
        hint = f"Use {name}:3 to die there the third time."
        raise InvalidInput(f"fault count {count[:16]!a} is not a positive number", hint=hint, field="FOLIOT_FAULT")
    return _Fault(name, int(count or 1), environment.get("FOLIOT_FAULT_LOG"))


class _Fault:
    def __init__(self, name: str, count: int, log: str | None) -> None:
        self._name = name
        self._left = count
        self._log = log

    def __call__(self, point: str) -> None:
        if point != self._name:
            return
        self._left -= 1
        if self._left == 0:
            if self._log is not None:
                Path(self._log).write_text(point)
            os.kill(os.getpid(), signal.SIGKILL)
