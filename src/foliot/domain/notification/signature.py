"""The signature of webhooks.

    webhook-id: msg_...                            the same for every attempt
    webhook-timestamp: 1767225600                  seconds since 1970, of this attempt
    webhook-signature: v1,BASE64 v1,BASE64         one for each key

A signature is HMAC-SHA256 over `id.timestamp.body`. A key that begins with `whsec_` is Base64 after that; any other is
used as it is.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from typing import Final

_ENCODED: Final = "whsec_"


def key_of(secret: str) -> bytes:
    """Return the bytes of a key. Raise ValueError if it begins with `whsec_` and is not Base64."""
    if not secret.startswith(_ENCODED):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(_ENCODED), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def signed_headers(message_id: str, seconds: int, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """Return the headers of a webhook. Without a key it has no signature."""
    headers = {"webhook-id": message_id, "webhook-timestamp": str(seconds)}
    content = f"{message_id}.{seconds}.".encode() + body
    signatures = [base64.b64encode(hmac.digest(key_of(secret), content, hashlib.sha256)) for secret in secrets]
    if signatures:
        headers["webhook-signature"] = " ".join(f"v1,{signature.decode()}" for signature in signatures)
    return headers
