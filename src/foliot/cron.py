"""Cron expressions as a library: compile an expression, and compute its times.

>>> from datetime import UTC, datetime
>>> from foliot import cron
>>> nightly = cron.compile("0 3 * * MON-FRI", "Europe/Berlin")
>>> nightly.describe()
'at 03:00 on Monday to Friday, Europe/Berlin'
>>> nightly.next(datetime(2026, 1, 1, tzinfo=UTC)).isoformat()
'2026-01-01T03:00:00+01:00'

The dialect and its rules are described in docs/reference/cron.md.
"""

from foliot.domain.cron import Cron, DomDow, Dst, compile, tzdata_version, zone  # noqa: A004 - like re.compile
from foliot.errors import InvalidCron, InvalidTimezone

__all__ = ["Cron", "DomDow", "Dst", "InvalidCron", "InvalidTimezone", "compile", "tzdata_version", "zone"]
