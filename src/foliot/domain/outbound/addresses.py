"""Classes of IP addresses: the public internet, and networks that must not be reachable from outside.

The property `is_global` of the `ipaddress` module is not suitable: it is true for 224.0.0.1, and for 64:ff9b::7f00:1,
which a translator turns into 127.0.0.1. So the IPv4 address inside an IPv6 address is classified as well, and only
addresses that are known to be public are called public.
"""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class AddressClass(StrEnum):
    """The classes of addresses. If blocking is on, all except `public` are blocked."""

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


# The metadata services of clouds, which return credentials. One of the addresses looks public.
_METADATA: Final = (
    *("169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "100.100.100.200/32", "168.63.129.16/32"),
    *("192.0.0.192/32", "fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128"),
)

_PLACES: Final[Mapping[AddressClass, tuple[str, ...]]] = {
    AddressClass.METADATA: _METADATA,
    AddressClass.UNSPECIFIED: ("0.0.0.0/8", "::/128"),
    AddressClass.LOOPBACK: ("127.0.0.0/8", "::1/128"),
    # fec0::/10 was replaced by unique local addresses; 64:ff9b:1::/48 belongs to translators of the local network.
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
"""The part of IPv6 that is assigned for public use."""

_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR: Final = IPv6Network("2002::/16")
_TEREDO: Final = IPv6Network("2001::/32")
_CARRIERS: Final = (_MAPPED, _NAT64, _SIX_TO_FOUR, _TEREDO)
"""IPv6 addresses that are translated to IPv4 on the way. Their class is that of the IPv4 address."""

_COMPATIBLE: Final = IPv6Network("::/96")
_TRANSLATED: Final = IPv6Network("::ffff:0:0:0/96")
_ENDING_IN_IPV4: Final = (_MAPPED, _NAT64, _COMPATIBLE, _TRANSLATED)
_ISATAP: Final = 0x5EFE
_ISATAP_PUBLIC_BIT: Final = 0x0200_0000

_NUMBER: Final = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")


def address_class(address: Address) -> AddressClass:
    """Return the class of an address. An IPv6 address is public only if all IPv4 addresses inside it are."""
    for inner in embedded(address):
        place = _own_class(inner)
        if place is not AddressClass.PUBLIC:
            return place
    if any(address in network for network in _CARRIERS):
        return AddressClass.PUBLIC
    return _own_class(address)


def embedded(address: Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses that a packet to this address may be sent to."""
    if isinstance(address, IPv4Address):
        return
    bits = int(address)
    if bits <= 1:
        return  # :: and ::1 contain no IPv4 address
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
    """Return the IPv4 address of a mapped one (::ffff:0:0/96), and any other address without its zone."""
    if isinstance(address, IPv6Address):
        return address.ipv4_mapped or IPv6Address(int(address))
    return address


def read_address(host: str) -> Address | None:
    """Return the address that the host of a URL is, in any notation that programs accept. None: the host is a name.

    `0`, `127.1`, `0x7f.1`, `0177.0.0.1` and `2130706433` are read as inet_aton reads them. Raise ValueError for a host
    that ends in a number but is not an address: it is not a valid name either.
    """
    if host.startswith("["):
        return IPv6Address(host.removeprefix("[").removesuffix("]"))
    parts = host.removesuffix(".").split(".")
    if not _NUMBER.fullmatch(parts[-1]):
        return None
    return _from_parts(parts)


def _from_parts(parts: list[str]) -> IPv4Address:
    """Return the address of one to four numbers. The last number fills all remaining bytes."""
    numbers = [_number(part) for part in parts]
    *leading, last = numbers
    if len(leading) > 3 or any(number > 255 for number in leading) or last >= 256 ** (4 - len(leading)):
        raise ValueError
    return IPv4Address(last + sum(number << 8 * (3 - place) for place, number in enumerate(leading)))


def _number(text: str) -> int:
    """Return a number in decimal, or hexadecimal after 0x, or octal after 0. Raise ValueError for other text."""
    if not _NUMBER.fullmatch(text):
        raise ValueError
    if text[:2] in ("0x", "0X"):
        return int(text[2:] or "0", 16)
    return int(text, 8) if text.startswith("0") else int(text)


def _own_class(address: Address) -> AddressClass:
    """Return the class by the table alone."""
    for network, place in _TABLE:
        if address in network:
            return place
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return AddressClass.RESERVED
    return AddressClass.PUBLIC


def _is_isatap(address: IPv6Address) -> bool:
    """Return whether the interface id is one of ISATAP, in any network."""
    return (int(address) >> 32 & 0xFFFF_FFFF) & ~_ISATAP_PUBLIC_BIT == _ISATAP
