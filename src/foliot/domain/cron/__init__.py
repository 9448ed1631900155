"""Foliot's own cron: expressions compiled into objects whose methods take about a microsecond.

    parser        splits the text into fields     tzif, posixtz   the file formats of timezones
    span          a piece of it, with position    zones           a timezone as a table of clock changes
    fields        numbers, ranges, steps, H       wallclock       fires by local time, across clock changes
    monthdays     L, W                            interval        @every
    weekdays      L, #                            compiled        the base class, and @triggered, @manual, @reboot
    days, times   tables of days and of times     compiler        joins all of these
    pattern       both together                   describe        an expression in words

Everything inside counts whole seconds since 1970 in UTC.
"""

from foliot.domain.cron.compiled import Cron
from foliot.domain.cron.compiler import DomDow, Dst, compile, is_hashed, zone_of  # noqa: A004 - as cron.compile
from foliot.domain.cron.zones import Zone, known_zones, tzdata_version, zone

__all__ = ["Cron", "DomDow", "Dst", "Zone", "compile", "is_hashed", "known_zones", "tzdata_version", "zone", "zone_of"]
