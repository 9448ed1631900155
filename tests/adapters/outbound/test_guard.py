"""The guard looks up a name once and checks all its addresses."""

from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from foliot.adapters.outbound.guard import Guard
from foliot.domain.outbound.addresses import Address
from foliot.domain.outbound.policy import OPEN, OutboundPolicy
from foliot.domain.outbound.url import read_url
from foliot.errors import OutboundBlocked, OutboundFailed
from tests.adapters.outbound.servers import Names, no_answer

BLOCKING = OutboundPolicy.of(block_private=True)
URL = read_url("http://example.org/")


async def admitted(guard: Guard, url: str = "http://example.org/") -> list[str]:
    return [str(address) for address in await guard.admit(read_url(url), 10)]


@pytest.mark.proves("Z22")
async def test_public_addresses_are_admitted_in_their_order() -> None:
    names = Names(["8.8.8.8", "2606:4700::1111"])

    assert await admitted(Guard(BLOCKING, names)) == ["8.8.8.8", "2606:4700::1111"]
    assert names.questions == ["example.org"]


@pytest.mark.proves("Z22")
@pytest.mark.parametrize(
    ("answer", "place"),
    [
        (["10.0.0.1"], "private"),
        (["8.8.8.8", "127.0.0.1"], "loopback"),
        (["fd00::1"], "unique local"),
        (["169.254.169.254"], "cloud metadata"),
        (["8.8.8.8", "64:ff9b::a00:1"], "private"),
        (["fe80::1%1"], "link-local"),
    ],
)
async def test_the_error_names_the_class_of_the_address_and_not_the_address(answer: list[str], place: str) -> None:
    with pytest.raises(OutboundBlocked, match=f"the target is a {place} address") as blocked:
        await Guard(BLOCKING, Names(answer)).admit(URL, 10)

    assert not any(address in str(blocked.value) for address in answer)


async def test_each_look_up_is_checked() -> None:
    guard = Guard(BLOCKING, Names(["8.8.8.8"], ["10.0.0.1"]))

    assert await admitted(guard) == ["8.8.8.8"]
    with pytest.raises(OutboundBlocked):
        await guard.admit(URL, 10)


async def test_an_address_in_the_url_needs_no_look_up() -> None:
    names = Names([])

    assert await admitted(Guard(OPEN, names), "http://0x7f.1/") == ["127.0.0.1"]
    assert names.questions == []


async def test_a_name_without_addresses_fails() -> None:
    with pytest.raises(OutboundFailed, match=r'host "example\.org" has no address'):
        await Guard(OPEN, Names([])).admit(URL, 10)


async def test_a_look_up_times_out() -> None:
    with pytest.raises(OutboundFailed, match=r"could not be looked up within 0\.01 s"):
        await Guard(OPEN, no_answer).admit(URL, 0.01)


async def test_a_missing_name_fails_with_a_message() -> None:
    async def unknown(host: str) -> Sequence[Address]:
        raise OSError(-2, "Name or service not known")

    with pytest.raises(OutboundFailed, match="could not be looked up: name or service not known"):
        await Guard(OPEN, unknown).admit(URL, 10)


@pytest.mark.proves("Z25")
async def test_only_allowed_targets_are_admitted() -> None:
    guard = Guard(OutboundPolicy.of(block_private=True, allow=["10.1.0.0/16"]), Names(["10.1.2.3"], ["10.2.0.1"]))

    assert await guard.admit(URL, 10) == (ip_address("10.1.2.3"),)
    with pytest.raises(OutboundBlocked):
        await guard.admit(URL, 10)
