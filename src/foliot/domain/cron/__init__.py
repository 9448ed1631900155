"""Foliot's own cron: expressions compiled into objects that answer in about a microsecond.

    reading       the text taken apart            tzif, posixtz   the form in which zones are published
    span          where a piece of it stands      zones           a zone as a table of clock changes
    fields        numbers, ranges, steps, H       wallclock       fires by the clock, across its changes
    monthdays     L, W                            interval        @every
    weekdays      L, #                            manual          @triggered, @manual, @reboot
    days, times   tables for days and for times   compiling       all of it joined
    pattern       both together                   describe        an expression in words

Everything inside counts whole seconds since 1970 in UTC.
"""

from foliot.domain.cron.compiled import Cron
from foliot.domain.cron.compiler import DomDow, Dst, compile, is_hashed, zone_of  # noqa: A004 - as cron.compile
from foliot.domain.cron.zones import Zone, known_zones, tzdata_version, zone

__all__ = ["Cron", "DomDow", "Dst", "Zone", "compile", "is_hashed", "known_zones", "tzdata_version", "zone", "zone_of"]
