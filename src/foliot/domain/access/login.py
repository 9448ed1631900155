"""Logins with a password: rules for passwords, the life of a session, and the limit of failures."""

import hashlib
from typing import Final

from foliot.domain.instant import DAY, HOUR, MINUTE, Instant, Millis
from foliot.errors import InvalidInput

SESSION_LIFETIME: Final = Millis(7 * DAY)
SESSION_IDLE: Final = Millis(12 * HOUR)
"""A session ends if it is not used for so long."""
SEEN_INTERVAL: Final = Millis(MINUTE)
"""How often the use of a session is saved at most."""
SHORTEST_PASSWORD: Final = 8
LONGEST_PASSWORD: Final = 1_024
"""Digests of long passwords take long to compute."""

_WINDOW: Final = Millis(15 * MINUTE)
_MOST_KEYS: Final = 10_000
_OF_PAIR: Final = 10
_OF_ADDRESS: Final = 30
_OF_NAME: Final = 200
"""Much higher than the others: failures from elsewhere must not lock out the person."""


def check_password(password: str) -> str:
    """Return a new password. Raise InvalidInput if it is too short or too long; the error does not contain it."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD or "\0" in password:
        raise InvalidInput(
            f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters",
            hint="Use a long one, from a password manager or of several words.",
            field="password",
        )
    return password


def session_digest(secret: str) -> bytes:
    """Return what is stored of the id of a session, which has 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def is_session_live(expires_at: Instant, seen_at: Instant, now: Instant) -> bool:
    return now < expires_at and now < seen_at + SESSION_IDLE


class FailureLimit:
    """Counts refused credentials by name, by address and by both, within windows of 15 minutes.

    It is kept in memory: each process counts for itself, and a restart begins anew. It holds a bounded number of keys;
    the key that failed longest ago is forgotten first.
    """

    def __init__(self) -> None:
        self._failures: dict[tuple[str, str], tuple[Instant, int]] = {}

    def retry_after(self, name: str, address: str, now: Instant) -> Millis | None:
        """Return how long to wait before the next try. None: it may be made now."""
        waits = [
            begin + _WINDOW - now
            for key, most in _keys(name, address)
            for begin, count in [self._count(key, now)]
            if count >= most
        ]
        return Millis(max(waits)) if waits else None

    def fail(self, name: str, address: str, now: Instant) -> None:
        for key, _ in _keys(name, address):
            begin, count = self._count(key, now)
            self._failures.pop(key, None)
            self._failures[key] = (begin, count + 1)
        while len(self._failures) > _MOST_KEYS:
            del self._failures[next(iter(self._failures))]

    def succeed(self, name: str, address: str) -> None:
        """Forget the failures of a name at this address. Those of the address alone count on."""
        if name:
            self._failures.pop((name, address), None)

    def _count(self, key: tuple[str, str], now: Instant) -> tuple[Instant, int]:
        begin, count = self._failures.get(key, (now, 0))
        return (begin, count) if begin <= now < begin + _WINDOW else (now, 0)


def _keys(name: str, address: str) -> list[tuple[tuple[str, str], int]]:
    """Return the keys that a try counts for, with their limits. Without a name (a token) only the address counts."""
    of_address = (("", address), _OF_ADDRESS)
    return [((name, address), _OF_PAIR), ((name, ""), _OF_NAME), of_address] if name else [of_address]
