"""Classes and notations of IP addresses."""

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from foliot.domain.outbound.addresses import Address, AddressClass, address_class, embedded, read_address, unmapped
from tests.cases import for_each

CLASSES = {
    AddressClass.PUBLIC: ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"],
    AddressClass.LOOPBACK: ["127.0.0.1", "127.255.255.254", "::1"],
    AddressClass.PRIVATE: ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fec0::1", "64:ff9b:1::7f00:1"],
    AddressClass.LINK_LOCAL: ["169.254.0.1", "169.254.169.253", "fe80::1", "febf::1"],
    AddressClass.METADATA: ["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "fd00:ec2::254"],
    AddressClass.CARRIER_NAT: ["100.64.0.1", "100.127.255.255"],
    AddressClass.UNSPECIFIED: ["0.0.0.0", "0.1.2.3", "::"],
    AddressClass.MULTICAST: ["224.0.0.1", "239.255.255.255", "ff02::1"],
    AddressClass.BROADCAST: ["255.255.255.255"],
    AddressClass.DOCUMENTATION: ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
    AddressClass.BENCHMARK: ["198.18.0.1", "198.19.255.255", "2001:2::1"],
    AddressClass.UNIQUE_LOCAL: ["fc00::1", "fdff::1"],
    AddressClass.RESERVED: ["240.0.0.1", "192.0.0.1", "192.88.99.1", "100::1", "4000::1", "2001:20::1", "::808:808"],
}  # fmt: skip


@pytest.mark.proves("Z21")
@for_each(("text", "expected"), [(text, expected) for expected, texts in CLASSES.items() for text in texts])
def test_every_address_has_its_class(text: str, expected: AddressClass) -> None:
    assert address_class(ip_address(text)) is expected


def mapped(inner: IPv4Address) -> IPv6Address:
    return IPv6Address(0xFFFF << 32 | int(inner))


def nat64(inner: IPv4Address) -> IPv6Address:
    return IPv6Address(0x0064_FF9B << 96 | int(inner))


def six_to_four(inner: IPv4Address) -> IPv6Address:
    return IPv6Address(0x2002 << 112 | int(inner) << 80 | 7)


def teredo_client(inner: IPv4Address) -> IPv6Address:
    return IPv6Address(0x2001_0000 << 96 | int(IPv4Address("8.8.8.8")) << 64 | int(inner) ^ 0xFFFF_FFFF)


def teredo_server(inner: IPv4Address) -> IPv6Address:
    return IPv6Address(0x2001_0000 << 96 | int(inner) << 64 | int(IPv4Address("8.8.8.8")) ^ 0xFFFF_FFFF)


Carrier = Callable[[IPv4Address], IPv6Address]
CARRIERS: list[Carrier] = [mapped, nat64, six_to_four, teredo_client, teredo_server]


@pytest.mark.proves("Z21")
@pytest.mark.parametrize("carrier", CARRIERS)
@given(inner=st.ip_addresses(v=4))
def test_an_ipv6_address_with_an_ipv4_address_inside_has_its_class(carrier: Carrier, inner: IPv4Address) -> None:
    assert address_class(carrier(inner)) is address_class(inner)


@pytest.mark.parametrize("carrier", CARRIERS)
def test_loopback_cannot_hide_in_an_ipv6_address(carrier: Carrier) -> None:
    assert address_class(carrier(IPv4Address("127.0.0.1"))) is AddressClass.LOOPBACK


@pytest.mark.parametrize("text", ["::127.0.0.1", "::ffff:0:127.0.0.1", "2606::5efe:7f00:1", "2606::200:5efe:7f00:1"])
def test_rarer_forms_with_loopback_inside_are_loopback_too(text: str) -> None:
    assert address_class(ip_address(text)) is AddressClass.LOOPBACK


@given(address=st.ip_addresses())
def test_an_address_that_python_calls_special_is_never_public(address: Address) -> None:
    is_special = not address.is_global or address.is_multicast or address.is_reserved
    assume(is_special and not any(embedded(address)))

    assert address_class(address) is not AddressClass.PUBLIC


@given(address=st.ip_addresses(v=6), zone=st.sampled_from(["eth0", "1"]))
def test_the_zone_of_an_ipv6_address_does_not_affect_its_class(address: IPv6Address, zone: str) -> None:
    assert address_class(IPv6Address(f"{address}%{zone}")) is address_class(address)


@pytest.mark.proves("Z21")
@for_each(
    "text",
    [
        *("127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f.1", "0x7f000001", "0X7F.0.0.1", "0177.0.0.1"),
        *("017700000001", "127.0.0.1.", "127.1.", "0177.0.0.0x1"),
    ],
)
def test_loopback_is_recognized_in_every_notation(text: str) -> None:
    assert read_address(text) == IPv4Address("127.0.0.1")


@given(
    st.lists(st.integers(0, 2**33), min_size=1, max_size=5),
    st.lists(st.sampled_from([str, hex, lambda number: f"0{number:o}"]), min_size=5, max_size=5),
)
def test_notations_are_read_as_inet_aton_reads_them(numbers: list[int], styles: list[Callable[[int], str]]) -> None:
    text = ".".join(style(number) for style, number in zip(styles, numbers, strict=False))
    try:
        expected = IPv4Address(socket.inet_aton(text))
    except OSError:
        with pytest.raises(ValueError):
            read_address(text)
    else:
        assert read_address(text) == expected


@pytest.mark.parametrize(
    "text", ["example.org", "0x7f.example", "1.example.", "1e100.net", "a.0b", "localhost", "x0x1"]
)
def test_a_host_name_is_not_an_address(text: str) -> None:
    assert read_address(text) is None


@for_each("text", ["1.2.3.4.5", "256.1.1.1", "1.2.3.256", "4294967296", "08.1.1.1", "a.b.1", "1..1", "[1]"])
def test_a_host_that_ends_in_a_number_but_is_not_an_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_address(text)


def test_a_huge_number_is_refused_without_being_computed() -> None:
    with pytest.raises(ValueError):
        read_address("9" * 100_000)


def test_only_the_mapped_form_is_the_same_address() -> None:
    assert unmapped(ip_address("::ffff:10.0.0.1")) == ip_address("10.0.0.1")
    assert unmapped(ip_address("64:ff9b::10.0.0.1")) == ip_address("64:ff9b::10.0.0.1")
