"""The retry policy: how often a failed run is retried, and after which delay.

delay before retry n  =  min(base * factor**(n - 1), cap)       or the n-th of an explicit list
                         changed by +- jitter (a fraction), the same for the same run and retry
"""

from hashlib import blake2b

from msgspec import Struct

from foliot.domain.instant import DAY, MINUTE, SECOND, Millis
from foliot.errors import InvalidJob

MAX_RETRIES = 1_000
MAX_DELAY = Millis(366 * DAY)
_MAX_EXPONENT = 64


class Retry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The retry policy of a job. `retries` counts the attempts after the first one."""

    retries: int = 0
    base: Millis = Millis(30 * SECOND)
    factor: float = 2.0
    cap: Millis = Millis(30 * MINUTE)
    jitter: float = 0.0
    delays: tuple[Millis, ...] = ()

    def check(self) -> None:
        """Raise InvalidJob if a value is out of range."""
        if not 0 <= self.retries <= MAX_RETRIES:
            raise InvalidJob(
                f"retries must be 0 to {MAX_RETRIES}, not {self.retries}",
                hint="Use 0 for a single attempt.",
                field="retries",
            )
        if self.base < 0 or self.cap < 0 or any(delay < 0 for delay in self.delays):
            raise InvalidJob("a retry delay cannot be negative", hint="Use 0 to retry immediately.", field="retry")
        if max(self.base, self.cap, *self.delays, 0) > MAX_DELAY:
            raise InvalidJob(
                "a retry delay is more than a year", hint="Use a shorter delay, or fewer retries.", field="retry"
            )
        if not 1.0 <= self.factor <= 100.0:
            raise InvalidJob(
                f"retry_factor must be 1 to 100, not {self.factor}",
                hint="1 keeps all pauses alike, 2 doubles each further one.",
                field="retry_factor",
            )
        if not 0.0 <= self.jitter <= 1.0:
            raise InvalidJob(
                f"retry_jitter must be 0 to 1, not {self.jitter}",
                hint="0.1 makes a pause up to a tenth shorter or longer.",
                field="retry_jitter",
            )

    def delay(self, retry: int, *, key: str) -> Millis:
        """Return the delay before retry number `retry` (from 1) of the run with id `key`."""
        if self.delays:
            planned = self.delays[min(retry, len(self.delays)) - 1]
        else:
            planned = Millis(min(int(self.base * self.factor ** min(retry - 1, _MAX_EXPONENT)), self.cap))
        return Millis(round(planned * (1 + self.jitter * _spread(key, retry)))) if self.jitter else planned


def _spread(key: str, retry: int) -> float:
    """Return a number in [-1, 1) that depends on the run and the retry alone, so that a restart changes nothing."""
    digest = blake2b(f"{key}:{retry}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**63 - 1
