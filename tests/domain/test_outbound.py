"""The outbound policy blocks addresses that are not public, except those that the operator allows."""

from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from foliot.domain.outbound.addresses import AddressClass
from foliot.domain.outbound.policy import OPEN, OutboundPolicy
from foliot.domain.outbound.url import read_url
from foliot.errors import InvalidInput
from tests.cases import for_each

BLOCKING = OutboundPolicy.of(block_private=True)


def judged(policy: OutboundPolicy, url: str, addresses: Sequence[str]) -> AddressClass | None:
    return policy.blocked(read_url(url), [ip_address(address) for address in addresses])


@pytest.mark.proves("Z22")
@pytest.mark.parametrize("addresses", [["10.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["2606::1", "::ffff:10.0.0.1"]])
def test_one_private_address_blocks_the_name(addresses: list[str]) -> None:
    assert judged(BLOCKING, "http://example.org/", addresses) is AddressClass.PRIVATE


def test_public_addresses_are_allowed() -> None:
    assert judged(BLOCKING, "http://example.org/", ["8.8.8.8", "2606::1"]) is None


def test_without_blocking_every_address_is_allowed() -> None:
    assert judged(OPEN, "http://localhost/", ["127.0.0.1", "169.254.169.254"]) is None


@pytest.mark.proves("Z25")
@for_each(
    ("allowed", "url", "address", "passes"),
    [
        ("10.1.0.0/16", "http://a.example/", "10.1.2.3", True),
        ("10.1.0.0/16", "http://a.example/", "10.2.0.1", False),
        ("10.1.0.0/16", "http://a.example/", "::ffff:10.1.2.3", True),
        ("10.1.0.0/16", "http://a.example/", "64:ff9b::10.1.2.3", False),
        ("10.1.2.3", "http://a.example:99/", "10.1.2.3", True),
        ("10.1.2.3:80", "http://a.example/", "10.1.2.3", True),
        ("10.1.2.3:80", "http://a.example:81/", "10.1.2.3", False),
        ("fd00::/8", "http://a.example/", "fd00::1", True),
        ("[fd00::1]:443", "https://a.example/", "fd00::1", True),
        ("[fd00::1]:443", "http://a.example/", "fd00::1", False),
        ("a.example", "http://A.example./", "10.1.2.3", True),
        ("a.example", "http://b.a.example/", "10.1.2.3", False),
        ("a.example:8080", "http://a.example:8080/", "10.1.2.3", True),
        ("a.example:8080", "http://a.example/", "10.1.2.3", False),
        ("0x7f.1", "http://localhost/", "127.0.0.1", True),
    ],
)
def test_only_allowed_private_targets_pass(allowed: str, url: str, address: str, passes: bool) -> None:
    policy = OutboundPolicy.of(block_private=True, allow=[allowed])

    assert (judged(policy, url, [address]) is None) is passes


def test_an_allowed_network_does_not_allow_other_addresses_of_a_name() -> None:
    policy = OutboundPolicy.of(block_private=True, allow=["10.0.0.0/8"])

    assert judged(policy, "http://a.example/", ["10.0.0.1", "127.0.0.1"]) is AddressClass.LOOPBACK


@for_each(
    "text",
    ["", "10.0.0.1/8", "10.0.0.0/33", "http://a.example", "a.example/", "a b", "u@a.example", "*.example", "a:0"],
)
def test_an_entry_that_is_neither_a_network_nor_a_host_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="neither a network nor a host") as refused:
        OutboundPolicy.of(allow=[text])

    assert refused.value.field == "allow"
