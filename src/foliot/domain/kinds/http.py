"""An HTTP job: one request, and which answers count as success."""

from msgspec import Struct


class HttpSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What an HTTP job says."""

    url: str
    method: str = "GET"
    headers: dict[str, str] = {}
    body: str | None = None
    expect_status: tuple[tuple[int, int], ...] = ((200, 299),)
    """First and last of each range of statuses that count as success."""
    follow: bool = True
    verify: bool = True
