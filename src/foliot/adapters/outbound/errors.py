"""What went wrong with a request, in words that tell no address."""

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
"""What a request raises when the other side, or the network, does not do its part."""


def describe(error: Exception, patience: float) -> str:
    """One of KNOWN, put into words."""
    match error:
        case ConnectionTimeoutError():
            return f"could not connect within {patience:g} s"
        case ClientConnectorCertificateError():
            return f"the server's certificate is not trusted: {_certificate_fault(error.certificate_error)}"
        case ClientConnectorSSLError():
            return f"no secure connection could be made: {_ssl_fault(error.os_error)}"
        case ClientConnectorError():
            return f"could not connect: {_system_words(error.os_error)}"
        case ClientResponseError():
            return "the server's answer is not HTTP as it should be"
        case ClientPayloadError():
            return "the connection ended before the answer was complete"
        case NotDecodable() | TooManyInterim():
            return str(error)
        case OSError() if error.errno:
            return f"the connection broke: {_system_words(error)}"
        case ClientConnectionError():
            return "the server closed the connection without an answer"
    return f"the request failed: {type(error).__name__}"


def _certificate_fault(error: Exception) -> str:
    return error.verify_message.rstrip(".") if isinstance(error, SSLCertVerificationError) else "it cannot be read"


def _ssl_fault(error: OSError) -> str:
    reason = error.reason if isinstance(error, SSLError) else None
    return reason.lower().replace("_", " ") if reason else "the server does not speak TLS"


def _system_words(error: OSError) -> str:
    """By number: the text of the error itself often has the address in it."""
    return os.strerror(error.errno).lower() if error.errno else "no address answered"
