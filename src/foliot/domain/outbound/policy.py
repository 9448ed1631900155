"""The outbound policy: which hosts Foliot may connect to for a job, a webhook or a list of items."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Final

from foliot.domain.outbound.addresses import Address, AddressClass, Network, address_class, unmapped
from foliot.domain.outbound.url import Url, read_url
from foliot.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Allowed:
    """One allowed target that is not public: a network or a host, with one port or any."""

    network: Network | None = None
    host: str = ""
    port: int | None = None

    def covers(self, url: Url, address: Address) -> bool:
        if self.port is not None and self.port != url.port:
            return False
        if self.network is not None:
            return unmapped(address) in self.network
        return self.host == url.host.removesuffix(".")


@dataclass(frozen=True, slots=True)
class OutboundPolicy:
    """Whether targets outside of the public internet are blocked, and which of them are allowed."""

    block_private: bool = False
    allow: tuple[Allowed, ...] = ()

    @classmethod
    def of(cls, *, block_private: bool = False, allow: Iterable[str] = ()) -> "OutboundPolicy":
        """Return the policy of a configuration: "10.1.0.0/16", "10.1.2.3:8080", "intranet.example", "[fd00::1]:443"."""
        return cls(block_private, tuple(read_allowed(text) for text in allow))

    def blocked(self, url: Url, addresses: Sequence[Address]) -> AddressClass | None:
        """Return the class of the first blocked address, or None if all are allowed.

        All addresses of a name are checked, since it is not known which of them will be used.
        """
        if not self.block_private:
            return None
        classes = (self._class(url, address) for address in addresses)
        return next((place for place in classes if place is not AddressClass.PUBLIC), None)

    def _class(self, url: Url, address: Address) -> AddressClass:
        if any(allowed.covers(url, address) for allowed in self.allow):
            return AddressClass.PUBLIC
        return address_class(address)


OPEN: Final = OutboundPolicy()
"""Blocks nothing."""


def read_allowed(text: str) -> Allowed:
    """Return one entry of an allow-list. Raise InvalidInput if it is not valid."""
    try:
        return Allowed(network=ip_network(text))
    except ValueError:
        pass
    try:
        url = read_url(f"http://{text}")
    except InvalidInput:
        raise _refusal(text) from None
    if url.target != "/" or url.credentials is not None or text.endswith(("/", "#", "?")):
        raise _refusal(text)
    port = url.port if text.endswith(f":{url.port}") else None
    if url.address is not None:
        return Allowed(network=ip_network(url.address), port=port)
    return Allowed(host=url.host.removesuffix("."), port=port)


def _refusal(text: str) -> InvalidInput:
    return InvalidInput(
        f"{text[:128]!a} is neither a network nor a host",
        hint="Write a network as 10.1.0.0/16, a host as intranet.example or intranet.example:8080.",
        field="allow",
    )
