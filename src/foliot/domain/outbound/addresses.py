"""What kind of place an IP address is: the public internet, or somewhere that a stranger must not be led to.

The `ipaddress` module answers another question: its `is_global` calls 64:ff9b::7f00:1 global, though a translator
makes it 127.0.0.1, and 224.0.0.1 too. So the IPv4 address inside an IPv6 one is taken out and judged as well, and only
what is known to be public is called public.
"""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class AddressClass(StrEnum):
    """The kinds of places. Everything but `public` is blocked where blocking is on."""

    PUBLIC = "public"
    LOOPBACK = "loopback"
    PRIVATE = "private"
    LINK_LOCAL = "link-local"
    METADATA = "cloud metadata"
    CARRIER_NAT = "carrier NAT"
    UNSPECIFIED = "unspecified"
    MULTICAST = "multicast"
    BROADCAST = "broadcast"
    DOCUMENTATION = "documentation"
    BENCHMARK = "benchmark"
    UNIQUE_LOCAL = "unique local"
    RESERVED = "reserved"


# Where clouds answer with credentials; one of them looks public.
_METADATA: Final = (
    *("169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "100.100.100.200/32", "168.63.129.16/32"),
    *("192.0.0.192/32", "fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128"),
)

_PLACES: Final[Mapping[AddressClass, tuple[str, ...]]] = {
    AddressClass.METADATA: _METADATA,
    AddressClass.UNSPECIFIED: ("0.0.0.0/8", "::/128"),
    AddressClass.LOOPBACK: ("127.0.0.0/8", "::1/128"),
    # fec0::/10 is what unique local addresses replaced, 64:ff9b:1::/48 leads to a translator of the local network.
    AddressClass.PRIVATE: ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fec0::/10", "64:ff9b:1::/48"),
    AddressClass.LINK_LOCAL: ("169.254.0.0/16", "fe80::/10"),
    AddressClass.CARRIER_NAT: ("100.64.0.0/10",),
    AddressClass.UNIQUE_LOCAL: ("fc00::/7",),
    AddressClass.DOCUMENTATION: (
        *("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
        *("2001:db8::/32", "3fff::/20"),
    ),
    AddressClass.BENCHMARK: ("198.18.0.0/15", "2001:2::/48"),
    AddressClass.MULTICAST: ("224.0.0.0/4", "ff00::/8"),
    AddressClass.BROADCAST: ("255.255.255.255/32",),
    AddressClass.RESERVED: ("192.0.0.0/24", "192.88.99.0/24", "240.0.0.0/4", "2001::/23"),
}
_TABLE: Final = tuple((ip_network(text), place) for place, texts in _PLACES.items() for text in texts)

_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
"""All that has been given out of IPv6 for the public."""

_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR: Final = IPv6Network("2002::/16")
_TEREDO: Final = IPv6Network("2001::/32")
_CARRIERS: Final = (_MAPPED, _NAT64, _SIX_TO_FOUR, _TEREDO)
"""IPv6 that somebody turns into IPv4 on the way: as public as what it carries."""

_COMPATIBLE: Final = IPv6Network("::/96")
_TRANSLATED: Final = IPv6Network("::ffff:0:0:0/96")
_ENDING_IN_IPV4: Final = (_MAPPED, _NAT64, _COMPATIBLE, _TRANSLATED)
_ISATAP: Final = 0x5EFE
_ISATAP_PUBLIC_BIT: Final = 0x0200_0000

_NUMBER: Final = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")


def address_class(address: Address) -> AddressClass:
    """What kind of place this is. An IPv6 address is public only if every IPv4 address inside it is."""
    for inner in embedded(address):
        place = _own_class(inner)
        if place is not AddressClass.PUBLIC:
            return place
    if any(address in network for network in _CARRIERS):
        return AddressClass.PUBLIC
    return _own_class(address)


def embedded(address: Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses that a packet to this address may end up at."""
    if isinstance(address, IPv4Address):
        return
    bits = int(address)
    if bits <= 1:
        return  # :: and ::1 are themselves
    last = IPv4Address(bits & 0xFFFF_FFFF)
    if any(address in network for network in _ENDING_IN_IPV4):
        yield last
    elif address in _SIX_TO_FOUR:
        yield IPv4Address(bits >> 80 & 0xFFFF_FFFF)
    elif address in _TEREDO:
        yield IPv4Address(bits >> 64 & 0xFFFF_FFFF)
        yield IPv4Address(bits & 0xFFFF_FFFF ^ 0xFFFF_FFFF)
    if _is_isatap(address):
        yield last


def unmapped(address: Address) -> Address:
    """The IPv4 address that ::ffff:0:0/96 only writes differently; any other as it is, without a zone."""
    if isinstance(address, IPv6Address):
        return address.ipv4_mapped or IPv6Address(int(address))
    return address


def read_address(host: str) -> Address | None:
    """The address that a host of a URL is, in any notation that some program understands; None for a name.

    `0`, `127.1`, `0x7f.1`, `0177.0.0.1` and `2130706433` are what inet_aton makes of them. ValueError: what ends in a
    number and is no address can be no name either.
    """
    if host.startswith("["):
        return IPv6Address(host.removeprefix("[").removesuffix("]"))
    parts = host.removesuffix(".").split(".")
    if not _NUMBER.fullmatch(parts[-1]):
        return None
    return _from_parts(parts)


def _from_parts(parts: list[str]) -> IPv4Address:
    """One to four numbers; the last fills all bytes that are left."""
    numbers = [_number(part) for part in parts]
    *leading, last = numbers
    if len(leading) > 3 or any(number > 255 for number in leading) or last >= 256 ** (4 - len(leading)):
        raise ValueError
    return IPv4Address(last + sum(number << 8 * (3 - place) for place, number in enumerate(leading)))


def _number(text: str) -> int:
    """Hexadecimal after 0x, octal after 0. ValueError for anything else."""
    if not _NUMBER.fullmatch(text):
        raise ValueError
    if text[:2] in ("0x", "0X"):
        return int(text[2:] or "0", 16)
    return int(text, 8) if text.startswith("0") else int(text)


def _own_class(address: Address) -> AddressClass:
    """By the table alone."""
    for network, place in _TABLE:
        if address in network:
            return place
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return AddressClass.RESERVED
    return AddressClass.PUBLIC


def _is_isatap(address: IPv6Address) -> bool:
    """An interface id of ISATAP, in whatever network."""
    return (int(address) >> 32 & 0xFFFF_FFFF) & ~_ISATAP_PUBLIC_BIT == _ISATAP
