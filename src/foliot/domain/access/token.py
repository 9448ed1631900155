"""Tokens: how their text is made and read.

    fol_01JQZ8W3F07M4T5V6W8X9YABCD_ + 52 characters (256 random bits) + 7 characters (a checksum)
        the id of the token

The id finds the row, so that checking a token is one look-up. Only a digest of the whole text is stored; 256 random
bits cannot be guessed, so a fast digest is enough. By the checksum a token is recognised without a database: by the
server, and by programs that search for leaked secrets.
"""

import hashlib
import re
import zlib
from typing import Final

from foliot.domain.ids import encode
from foliot.domain.instant import MINUTE, Instant, Millis
from foliot.errors import InvalidInput, shown

TOKEN_PREFIX: Final = "fol_"  # noqa: S105 - the part that all tokens share
SECRET_BITS: Final = 256
USE_INTERVAL: Final = Millis(MINUTE)
"""How often the last use of a token is saved at most."""

_HALF: Final = 128
_CHECKSUM: Final = 7
_LENGTH: Final = len(TOKEN_PREFIX) + 26 + 1 + 52 + _CHECKSUM
_TOKEN: Final = re.compile(r"fol_([0-9A-HJKMNP-TV-Z]{26})_[0-9A-HJKMNP-TV-Z]{59}")
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}")


def token_text(token_id: str, secret: int) -> str:
    """Return the text of a new token. `secret` has 256 random bits."""
    halves = encode(secret >> _HALF) + encode(secret & ((1 << _HALF) - 1))
    body = f"{TOKEN_PREFIX}{token_id}_{halves}"
    return body + _checksum(body)


def token_id_of(text: str) -> str | None:
    """Return the id in the text of a token. None: the text is not a token."""
    if len(text) != _LENGTH:
        return None
    found = _TOKEN.fullmatch(text)
    return found[1] if found and _checksum(text[:-_CHECKSUM]) == text[-_CHECKSUM:] else None


def token_digest(text: str) -> bytes:
    """Return what is stored of a token."""
    return hashlib.sha256(text.encode()).digest()


def needs_use_saved(last_used_at: Instant | None, now: Instant) -> bool:
    return last_used_at is None or not last_used_at <= now < last_used_at + USE_INTERVAL


def check_principal_name(name: object, what: str = "name") -> str:
    """Return the name of a token or a user. Raise InvalidInput if it is not one."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{what} {shown(name)} is not a valid name",
            hint="Use up to 64 letters, digits, _ . @ and -; the first is a letter, a digit or _.",
            field=what,
        )
    return name


def _checksum(body: str) -> str:
    return encode(zlib.crc32(body.encode()))[-_CHECKSUM:]
