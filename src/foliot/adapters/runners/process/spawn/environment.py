"""What a child sees of its surroundings: little of ours, all of the job's."""

import json
import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from foliot.domain.instant import to_iso
from foliot.ports.runner import Attempt

RUN_VARIABLE: Final = "FOLIOT_RUN_ID"
ATTEMPT_VARIABLE: Final = "FOLIOT_ATTEMPT"

INHERITED: Final = frozenset({"PATH", "HOME", "LANG", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR"})
"""Names that pass from the worker to its jobs, with all of LC_*. An allow-list: secrets have too many names."""


class AttemptKey(NamedTuple):
    """The variables by which the processes of one attempt are known. Without an attempt: of the whole run."""

    run_id: str
    attempt: int | None = None

    @classmethod
    def read(cls, environ: bytes) -> "AttemptKey | None":
        """The attempt that a process belongs to, by its environment; None for one that is none of ours."""
        found = dict(variable.partition(b"=")[::2] for variable in environ.split(b"\0"))
        run_id, attempt = (found.get(os.fsencode(name), b"") for name in (RUN_VARIABLE, ATTEMPT_VARIABLE))
        return cls(os.fsdecode(run_id), int(attempt)) if run_id and attempt.isdigit() else None

    def variables(self) -> dict[str, str]:
        attempt = {} if self.attempt is None else {ATTEMPT_VARIABLE: str(self.attempt)}
        return {RUN_VARIABLE: self.run_id, **attempt}

    def is_in(self, environ: bytes) -> bool:
        """Another attempt of the same run may live on this machine by now, so both variables count."""
        found = environ.split(b"\0")
        return all(os.fsencode(f"{name}={value}") in found for name, value in self.variables().items())


def inherited_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of the worker's own environment that its jobs may see."""
    passed = {name: value for name, value in environ.items() if name in INHERITED or name.startswith("LC_")}
    return {"PATH": os.defpath, **passed}


def child_environment(inherited: Mapping[str, str], job: Mapping[str, str], attempt: Attempt) -> dict[str, str]:
    """All variables of an attempt; later ones win: inherited, the job's, the run's, then ours.

    TypeError and ValueError mean that the payload cannot be written as JSON.
    """
    ours = AttemptKey(attempt.run_id, attempt.number).variables() | {"FOLIOT_JOB_ID": attempt.job_id}
    ours["FOLIOT_IDEMPOTENCY_KEY"] = attempt.run_id if attempt.tick is None else attempt.tick.key
    if attempt.planned is not None:
        ours["FOLIOT_SCHEDULED_FOR"] = to_iso(attempt.planned)
    if attempt.payload is not None:
        ours["FOLIOT_PAYLOAD"] = json.dumps(attempt.payload, separators=(",", ":"), allow_nan=False)
    return {**inherited, **job, **attempt.environment, **ours}
