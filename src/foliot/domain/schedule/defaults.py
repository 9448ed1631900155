"""Defaults for the policies of schedules that a caller creates without giving them."""

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from foliot.domain.instant import Millis
from foliot.domain.schedule.schedule import Catchup, Overlap


class ScheduleDefaults(Struct, frozen=True, kw_only=True):
    """None: the default of Foliot."""

    overlap: Overlap | None = None
    catchup: Catchup | None = None
    jitter: Millis | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The defaults that are set, by the names of the options."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def over(self, other: "ScheduleDefaults") -> "ScheduleDefaults":
        """Return these defaults, with those of `other` where none is set."""
        return ScheduleDefaults(**{**other.options, **self.options})


NO_DEFAULTS: Final = ScheduleDefaults()
BUILT_IN: Final = ScheduleDefaults(overlap=Overlap.SKIP, catchup=Catchup.NONE, jitter=Millis(0))
