"""The value that `H` stands for: spread over all schedules, for one schedule always the same."""

from hashlib import sha256

from foliot.domain.cron.span import Span


def draw(key: str | None, field: str, item: Span) -> int:
    """A large number that depends on the key and the field alone, on every machine and in every process."""
    if key is None:
        raise item.fault(
            "H needs a key to be hashed from",
            "Give the id of the schedule as key, or write a number instead of H.",
        )
    digest = sha256(f"{field}\n{key}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big")
