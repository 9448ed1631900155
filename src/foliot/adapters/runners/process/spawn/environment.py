"""The environment of a job: a few variables of the worker, all of the job, and those that identify the attempt."""

import json
import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from foliot.domain.instant import to_iso
from foliot.ports.runner import Attempt

RUN_VARIABLE: Final = "FOLIOT_RUN_ID"
ATTEMPT_VARIABLE: Final = "FOLIOT_ATTEMPT"

INHERITED: Final = frozenset({"PATH", "HOME", "LANG", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR"})
"""Variables that jobs inherit from the worker, with all of LC_*. An allow-list: secrets have too many names."""


class AttemptKey(NamedTuple):
    """Identifies the processes of one attempt by two variables. Without `attempt`: of all attempts of the run."""

    run_id: str
    attempt: int | None = None

    @classmethod
    def read(cls, environ: bytes) -> "AttemptKey | None":
        """Return the attempt that a process with this environment belongs to; None if it belongs to none."""
        found = dict(variable.partition(b"=")[::2] for variable in environ.split(b"\0"))
        run_id, attempt = (found.get(os.fsencode(name), b"") for name in (RUN_VARIABLE, ATTEMPT_VARIABLE))
        return cls(os.fsdecode(run_id), int(attempt)) if run_id and attempt.isdigit() else None

    def variables(self) -> dict[str, str]:
        attempt = {} if self.attempt is None else {ATTEMPT_VARIABLE: str(self.attempt)}
        return {RUN_VARIABLE: self.run_id, **attempt}

    def is_in(self, environ: bytes) -> bool:
        """Return whether an environment has these variables."""
        # Both, because another attempt of the same run may be running on this machine.
        found = environ.split(b"\0")
        return all(os.fsencode(f"{name}={value}") in found for name, value in self.variables().items())


def inherited_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the part of the worker's environment that jobs inherit."""
    passed = {name: value for name, value in environ.items() if name in INHERITED or name.startswith("LC_")}
    return {"PATH": os.defpath, **passed}


def child_environment(inherited: Mapping[str, str], job: Mapping[str, str], attempt: Attempt) -> dict[str, str]:
    """Return all variables of an attempt. Later ones win: inherited, of the job, of the run, then ours.

    They give the attempt access to the channel of its worker. Raises TypeError or ValueError if the payload cannot be
    written as JSON.
    """
    ours = AttemptKey(attempt.run_id, attempt.number).variables() | {"FOLIOT_JOB_ID": attempt.job_id}
    ours["FOLIOT_IDEMPOTENCY_KEY"] = attempt.run_id if attempt.tick is None else attempt.tick.key
    if attempt.planned is not None:
        ours["FOLIOT_SCHEDULED_FOR"] = to_iso(attempt.planned)
    if attempt.payload is not None:
        ours["FOLIOT_PAYLOAD"] = json.dumps(attempt.payload, separators=(",", ":"), allow_nan=False)
    return {**inherited, **job, **attempt.environment, **ours, **attempt.channel()}
