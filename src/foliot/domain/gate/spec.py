"""The definition of a gate: which recent runs of other jobs a job requires."""

from enum import StrEnum
from typing import Final, Literal

from msgspec import Struct

from foliot.domain.cron.zones import zone
from foliot.domain.ids import JobId
from foliot.domain.instant import DAY, SECOND, Millis
from foliot.errors import InvalidJob

MAX_DEPENDENCIES: Final = 1_000
MAX_WINDOW: Final = Millis(366 * DAY)


class Action(StrEnum):
    """What a gate does if a dependency is missing or has failed."""

    SKIP = "skip"
    FAIL = "fail"
    RUN = "run"


class WindowKind(StrEnum):
    SLIDING = "sliding"
    """The last `window` seconds."""
    LAST_SUCCESS = "since_last_success"
    """Since the last success of the gated job, or the sliding window if it has none."""
    LOCAL_DAY = "local_day"
    """The day of the planned moment, in the gate's timezone."""


class Gate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The dependencies of a job, checked before it runs."""

    depends_on: tuple[JobId, ...]
    window: Millis = Millis(DAY)
    window_kind: WindowKind = WindowKind.SLIDING
    timezone: str = "UTC"
    """The timezone of the window kind `local_day`."""
    on_missing: Action = Action.SKIP
    on_dep_fail: Action = Action.SKIP
    wait: Millis = Millis(0)
    """How long after its planned moment it waits for a dependency that is expected."""
    cooldown: Millis = Millis(0)
    """How long further runs are declined without a check after it has declined."""
    partial_counts_as: Literal["success", "failed"] = "success"

    @property
    def look_back(self) -> Millis:
        """How long after its end a run may still be inside the window. `since_last_success`: the sliding window."""
        window = 2 * DAY if self.window_kind is WindowKind.LOCAL_DAY else self.window
        return Millis(window + self.wait)

    def check(self, job_id: JobId) -> None:
        if not 1 <= len(self.depends_on) <= MAX_DEPENDENCIES:
            raise InvalidJob(
                f"depends_on must name 1 to {MAX_DEPENDENCIES} jobs, not {len(self.depends_on)}",
                hint="Name the jobs it depends on, or leave depends_on out.",
                field="depends_on",
            )
        if job_id in self.depends_on:
            raise InvalidJob(
                f'"{job_id}" cannot depend on itself', hint="Leave it out of depends_on.", field="depends_on"
            )
        for name, span in (("window", self.window), ("wait", self.wait), ("cooldown", self.cooldown)):
            if not 0 <= span <= MAX_WINDOW:
                raise InvalidJob(
                    f"{name} must be 0 to {MAX_WINDOW // SECOND} seconds, not {span / SECOND:g}",
                    hint="A year is the most.",
                    field=name,
                )
        zone(self.timezone)
        if not self.window and self.window_kind is WindowKind.SLIDING:
            raise InvalidJob("window must be more than 0", hint="86400 seconds are a day.", field="window")
