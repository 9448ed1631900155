"""The file format of a zone (RFC 9636, "TZif"): the moments of its clock changes, and its last rule."""

from struct import calcsize, iter_unpack, unpack_from
from typing import Final, NamedTuple

_HEADER: Final = ">4s c 15x 6l"
_HEADER_SIZE: Final = calcsize(_HEADER)


class ZoneFile(NamedTuple):
    first_offset: int
    """Seconds east of Greenwich before the first change."""
    changes: list[tuple[int, int]]
    """The epoch second of each change and the offset from then on."""
    rule: str
    """The rule after the last change, in the format of the POSIX variable TZ."""


class _Counts(NamedTuple):
    utc_marks: int
    standard_marks: int
    leaps: int
    changes: int
    types: int
    characters: int

    def size(self, width: int) -> int:
        """Return the size in bytes of the block after a header with these counts, with moments of `width` bytes."""
        per_change, per_leap = width + 1, width + 4
        marks = self.utc_marks + self.standard_marks
        return self.changes * per_change + self.types * 6 + self.characters + self.leaps * per_leap + marks


def read(data: bytes) -> ZoneFile:
    """Return the contents of the 64-bit block of a TZif file. The 32-bit block before it only repeats a part."""
    start = _HEADER_SIZE + _counts(data, 0).size(width=4)
    counts = _counts(data, start)
    start += _HEADER_SIZE
    moments = unpack_from(f">{counts.changes}q", data, start)
    kinds = unpack_from(f">{counts.changes}B", data, start + counts.changes * 8)
    types = start + counts.changes * 9
    offsets = [offset for offset, _, _ in iter_unpack(">lBB", data[types : types + counts.types * 6])]
    changes = [(moment, offsets[kind]) for moment, kind in zip(moments, kinds, strict=True)]
    return ZoneFile(offsets[0], changes, data[start + counts.size(width=8) :].strip(b"\n").decode("ascii"))


def _counts(data: bytes, header: int) -> _Counts:
    magic, version, *counts = unpack_from(_HEADER, data, header)
    if magic != b"TZif" or version < b"2":
        raise ValueError("not a TZif file of version 2 or later")
    return _Counts(*counts)
