"""URLs of requests, parsed strictly and normalized.

A check of URLs can be bypassed if two programs parse one URL differently. So ambiguous URLs are refused, others are
normalized (a host in ASCII, an address in its usual notation), and only the normalized URL is checked and sent.
"""

import re
from dataclasses import dataclass
from typing import Final

from foliot.domain.outbound.addresses import Address, read_address
from foliot.domain.secrets import public_url
from foliot.errors import InvalidInput

PORTS: Final = {"http": 80, "https": 443}
LONGEST_URL: Final = 8_000

_URL: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<target>[^#]*)(?:#.*)?")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PLACE: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::(?P<port>[0-9]{0,5}))?")
_NAME: Final = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?")
_LONGEST_HOST: Final = 253
_UNSAFE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]")
_BLANK: Final = re.compile(r"[\x00-\x20\x7f]")

_HOST_HINT: Final = "A name has labels of up to 63 letters, digits and -, with dots between them."

# The two standards for international domain names treat these differently: a name with one could mean two hosts.
_AMBIGUOUS: Final = frozenset("ßẞς\u200c\u200d")


@dataclass(frozen=True, slots=True)
class Url:
    """The target of a request. Its text has no credentials."""

    scheme: str
    host: str
    """ASCII, lower case; an IPv6 address without brackets."""
    port: int
    target: str
    """Path and query, as they are sent."""
    address: Address | None = None
    """The address of the host, if it is not a name."""
    credentials: tuple[str, str] | None = None
    """User and password."""

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def shown(self) -> str:
        """The URL for logs, without credentials and without the values of the query, which may be secrets."""
        return public_url(str(self))

    @property
    def place(self) -> str:
        """Scheme, host and port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"

    def __str__(self) -> str:
        return f"{self.place}{self.target}"


def read_url(text: str) -> Url:
    """Return the parsed URL. Raise InvalidInput if it is not valid."""
    if len(text) > LONGEST_URL:
        raise _refusal(f"the url has {len(text)} characters, more than {LONGEST_URL}", "Send long data in the body.")
    if _BLANK.search(text) or "\\" in text:
        raise _refusal("the url contains a space, a control character or a backslash", "Write a space as %20.")
    found = _URL.fullmatch(text)
    if found is None:
        raise _refusal("the url is not complete", "Write it like https://example.org/path.")
    scheme = found["scheme"].lower()
    if scheme not in PORTS:
        raise _refusal(f'the scheme "{scheme[:32]}" is not supported', "Use http or https.")
    credentials, _, place = found["authority"].rpartition("@")
    host, port, address = _read_place(place, scheme)
    return Url(scheme, host, port, _quote_target(found["target"]), address, _read_credentials(credentials))


def resolve(base: Url, reference: str) -> Url:
    """Return the URL of a reference relative to `base`."""
    text = reference.strip().partition("#")[0].replace(" ", "%20")
    if _SCHEME.match(text):
        return read_url(text)
    if text.startswith("//"):
        return read_url(f"{base.scheme}:{text}")
    path, mark, query = base.target.partition("?")
    given, new_mark, new_query = text.partition("?")
    if not given:
        return read_url(f"{base.place}{path}{new_mark or mark}{new_query if new_mark else query}")
    merged = given if given.startswith("/") else f"{path.rpartition('/')[0]}/{given}"
    return read_url(f"{base.place}{_without_dots(merged)}{new_mark}{new_query}")


def _without_dots(path: str) -> str:
    """Return a path without "." and "..": they are resolved."""
    kept: list[str] = []
    *inner, last = path.split("/")[1:]
    for part in inner:
        if part == "..":
            del kept[-1:]
        elif part != ".":
            kept.append(part)
    if last == "..":
        del kept[-1:]
    return "/" + "/".join([*kept, "" if last in (".", "..") else last])


def _read_place(place: str, scheme: str) -> tuple[str, int, Address | None]:
    found = _PLACE.fullmatch(place)
    if found is None:
        raise _refusal("the url has no valid host", "Write it like https://example.org:8080/path.")
    port = int(found["port"] or PORTS[scheme])
    if not 1 <= port <= 65_535:
        raise _refusal(f"port {port} does not exist", "Use 1 to 65535.")
    name = _to_ascii(found["host"])
    try:
        address = read_address(name)
    except ValueError:
        hint = "Write an address in its usual form, like 192.0.2.7 or [2001:db8::7]."
        raise _refusal(f"host {name!a} is neither a name nor an address", hint) from None
    if address is not None:
        return str(address), port, address
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_HOST:
        raise _refusal(f"host {name!a} is not a host name", _HOST_HINT)
    return name, port, None


def _to_ascii(host: str) -> str:
    """Return the host as DNS knows it. Dots and digits outside of ASCII are converted to those of ASCII."""
    if len(host) > _LONGEST_HOST or _AMBIGUOUS & set(host):
        raise _refusal(f"host {host[:64]!a} cannot be used", "Write it in ASCII, its labels as xn--...")
    try:
        return host.encode("idna").decode().lower()
    except UnicodeError:
        raise _refusal(f"host {host[:64]!a} is not a host name", _HOST_HINT) from None


def _read_credentials(text: str) -> tuple[str, str] | None:
    if not text:
        return None
    if "@" in text:
        raise _refusal("the url contains more than one @", "Write an @ of a user name or password as %40.")
    user, _, password = text.partition(":")
    return _unquote(user), _unquote(password)


def _quote_target(text: str) -> str:
    if not text.startswith("/"):
        text = f"/{text}"
    try:
        return _UNSAFE.sub(_percent, text)
    except UnicodeEncodeError:
        raise _refusal("the url is not text", "Write other bytes as % and two hexadecimal digits.") from None


def _percent(found: re.Match[str]) -> str:
    # Bytes of a header that are not UTF-8 are decoded as surrogates.
    return "".join(f"%{byte:02X}" for byte in found[0].encode(errors="surrogateescape"))


def _unquote(text: str) -> str:
    try:
        plain = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode())
        return plain.decode()
    except UnicodeError:
        raise _refusal("the credentials in the url are not text", "Send them in a header Authorization.") from None


def _refusal(message: str, hint: str) -> InvalidInput:
    return InvalidInput(message, hint=hint, field="url")
