"""Describes failed requests, without revealing addresses."""

import os
from ssl import SSLCertVerificationError, SSLError

from aiohttp import (
    ClientConnectionError,
    ClientConnectorCertificateError,
    ClientConnectorError,
    ClientConnectorSSLError,
    ClientError,
    ClientPayloadError,
    ClientResponseError,
    ConnectionTimeoutError,
)

from foliot.adapters.outbound.decoder import NotDecodable
from foliot.adapters.outbound.interim import TooManyInterim

KNOWN = (ClientError, OSError, NotDecodable)
"""Exceptions of a request when the server or the network fails."""


def describe(error: Exception, timeout: float) -> str:
    """Return the message for one of KNOWN."""
    match error:
        case ConnectionTimeoutError():
            return f"could not connect within {timeout:g} s"
        case ClientConnectorCertificateError():
            return f"the server's certificate is not trusted: {_certificate_fault(error.certificate_error)}"
        case ClientConnectorSSLError():
            return f"could not establish a secure connection: {_ssl_fault(error.os_error)}"
        case ClientConnectorError():
            return f"could not connect: {_system_message(error.os_error)}"
        case ClientResponseError():
            return "the response is not valid HTTP"
        case ClientPayloadError():
            return "the connection ended before the response was complete"
        case NotDecodable() | TooManyInterim():
            return str(error)
        case OSError() if error.errno:
            return f"the connection broke: {_system_message(error)}"
        case ClientConnectionError():
            return "the server closed the connection without a response"
    return f"the request failed: {type(error).__name__}"


def _certificate_fault(error: Exception) -> str:
    return error.verify_message.rstrip(".") if isinstance(error, SSLCertVerificationError) else "it cannot be read"


def _ssl_fault(error: OSError) -> str:
    reason = error.reason if isinstance(error, SSLError) else None
    return reason.lower().replace("_", " ") if reason else "the server does not speak TLS"


def _system_message(error: OSError) -> str:
    """Return the message for the error number: the text of the error often contains the address."""
    return os.strerror(error.errno).lower() if error.errno else "no address responded"
