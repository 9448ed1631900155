"""When a failed delivery is sent again.

attempts 1 to 3   2 seconds apart
later ones        after 1, 4 and 16 minutes, then every hour
the last one      after about 14 hours
"""

from typing import Final

from foliot.domain.instant import HOUR, MINUTE, SECOND, Millis

MAX_ATTEMPTS: Final = 20
_FAST_ATTEMPTS: Final = 3
_FAST: Final = Millis(2 * SECOND)


def delay_after(attempts: int) -> Millis | None:
    """Return the delay after so many attempts. None: the delivery has failed for good."""
    if attempts >= MAX_ATTEMPTS:
        return None
    if attempts < _FAST_ATTEMPTS:
        return _FAST
    return Millis(min(MINUTE * 4 ** (attempts - _FAST_ATTEMPTS), HOUR))
