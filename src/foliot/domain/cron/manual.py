"""`@triggered`, `@manual` and `@reboot`: expressions without a time of their own."""

from foliot.domain.cron.compiled import Cron


class Manual(Cron):
    __slots__ = ()

    is_manual = True

    def next_epoch(self, after: int) -> None:
        return None

    def previous_epoch(self, before: int) -> None:
        return None

    def count_epochs(self, start: int, end: int) -> int:
        return 0

    def describe(self) -> str:
        return "only when triggered"


class Reboot(Manual):
    __slots__ = ()

    is_reboot = True

    def describe(self) -> str:
        return "at a reboot, when triggered"
