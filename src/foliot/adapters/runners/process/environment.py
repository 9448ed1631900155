"""What a child sees of its surroundings: little of ours, all of the job's."""

import json
import os
from collections.abc import Mapping
from typing import Final

from foliot.adapters.runners.process.proctable import Tag
from foliot.domain.instant import to_iso
from foliot.ports.runner import Attempt

INHERITED: Final = frozenset({"PATH", "HOME", "LANG", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR"})
"""Names that pass from the worker to its jobs, with all of LC_*. An allow-list: secrets have too many names."""


def inherited_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of the worker's own environment that its jobs may see."""
    passed = {name: value for name, value in environ.items() if name in INHERITED or name.startswith("LC_")}
    return {"PATH": os.defpath, **passed}


def child_environment(inherited: Mapping[str, str], job: Mapping[str, str], attempt: Attempt) -> dict[str, str]:
    """All variables of an attempt; later ones win: inherited, the job's, the run's, then ours.

    TypeError and ValueError mean that the payload cannot be written as JSON.
    """
    ours = Tag(attempt.run_id, attempt.number).variables() | {"FOLIOT_JOB_ID": attempt.job_id}
    ours["FOLIOT_IDEMPOTENCY_KEY"] = attempt.run_id if attempt.tick is None else attempt.tick.key
    if attempt.planned is not None:
        ours["FOLIOT_SCHEDULED_FOR"] = to_iso(attempt.planned)
    if attempt.payload is not None:
        ours["FOLIOT_PAYLOAD"] = json.dumps(attempt.payload, separators=(",", ":"), allow_nan=False)
    return {**inherited, **job, **attempt.environment, **ours}
