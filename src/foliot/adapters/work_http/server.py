"""Which server a remote worker uses, and how it proves who it is."""

import ssl
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from foliot.errors import InvalidInput


@dataclass(frozen=True, kw_only=True)
class Server:
    """The address of a server, and the credentials for it: a secret to sign requests with, a token, or none. Its text
    contains no secrets."""

    url: str
    """Without a slash at the end; with the base path of the server."""
    worker_id: str = ""
    secret: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    tls_ca: str = ""
    """Trust the certificates of these authorities only."""
    tls_cert: str = ""
    """The certificate of this worker."""
    tls_key: str = ""

    @property
    def path(self) -> str:
        """The base path, which a signature covers too."""
        return urlsplit(self.url).path

    def tls(self) -> ssl.SSLContext | bool:
        if not self.url.startswith("https:"):
            return True
        try:
            context = ssl.create_default_context(cafile=self.tls_ca or None)
            if self.tls_cert:
                context.load_cert_chain(self.tls_cert, self.tls_key or None)
        except OSError as error:
            raise InvalidInput(
                f"the files for TLS cannot be used: {error.strerror or type(error).__name__}",
                hint="Give PEM files that this process may read.",
                field="tls_ca" if self.tls_ca else "tls_cert",
            ) from error
        return context


def check_server(server: Server, *, allow_http: bool) -> Server:
    """Return the server with its URL in the usual form. Refuse plain HTTP to another machine."""
    parts = _parts(server.url)
    if parts.scheme == "http" and not allow_http and not _is_loopback(parts.hostname or ""):
        raise InvalidInput(
            "jobs would be sent over plain HTTP, where others can read and change them",
            hint="Use an https:// address, or --allow-http in a network that you trust.",
            field="server",
        )
    if bool(server.worker_id) != bool(server.secret):
        raise InvalidInput(
            "FOLIOT_WORKER_ID and FOLIOT_WORKER_SECRET belong together",
            hint="Set both, as foliot worker register printed them.",
            field="server",
        )
    url = f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
    return Server(**{**vars(server), "url": url})


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_usable = False
    if not is_usable or not url.isascii() or not url.isprintable() or parts.username or parts.query or parts.fragment:
        raise InvalidInput(
            "the address of the server is not a URL", hint="Write for example https://foliot.example.", field="server"
        )
    return parts


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
