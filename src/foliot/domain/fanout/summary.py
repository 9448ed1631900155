"""The summary of a fanout: how many children ended how, which failed first, which were slowest. It is its output."""

from typing import Any

import msgspec

from foliot.domain.fanout.progress import Progress


def summary_of(items: int, progress: Progress) -> bytes:
    """Return the summary as JSON."""
    counts = progress.counts
    summary: dict[str, Any] = {
        "items": items,
        **{name: getattr(counts, name) for name in counts.__struct_fields__},
        "first_failed": progress.failures,
        "slowest": [{"index": index, "duration_ms": duration} for duration, index in reversed(progress.slowest)],
        "busy_ms": progress.busy,
    }
    return msgspec.json.encode(summary)
