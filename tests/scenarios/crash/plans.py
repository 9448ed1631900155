"""The schedules that the application may have, by the name of the plan."""

from collections.abc import Mapping
from typing import Any, Final

Plan = Mapping[str, Mapping[str, Any]]

_EACH: Final = "* * * * * *"
_FEW: Final[Plan] = {
    "all-allow": {"cron": _EACH, "catchup_policy": "all", "overlap_policy": "allow"},
    "once-skip": {"cron": _EACH, "catchup_policy": "once", "overlap_policy": "skip"},
}
_MANY: Final[Plan] = {
    **_FEW,
    "all-queue": {"cron": _EACH, "catchup_policy": "all", "overlap_policy": "queue"},
    "none-allow": {"cron": _EACH, "catchup_policy": "none", "overlap_policy": "allow"},
    "none-skip-slow": {"cron": _EACH, "overlap_policy": "skip", "payload": {"seconds": 1.3}},
    "spread-allow": {"cron": _EACH, "catchup_policy": "spread", "overlap_policy": "allow"},
    "jitter": {"cron": "*/2 * * * * *", "catchup_policy": "all", "overlap_policy": "allow", "jitter_ms": 900},
    "odd-in-berlin": {
        "cron": "1-59/2 * * * * *",
        "timezone": "Europe/Berlin",
        "catchup_policy": "all",
        "overlap_policy": "allow",
    },
    "interval": {"every": 2, "catchup_policy": "once", "overlap_policy": "cancel_running", "payload": {"seconds": 0.5}},
}
PLANS: Final[Mapping[str, Plan]] = {"none": {}, "few": _FEW, "many": _MANY}
