"""The key store: one key, from the environment or a file, encrypts every secret with AES-256-GCM.

    FOLIOT_SECRET_KEY         the key: 32 random bytes as base64; several, separated by commas, during a rotation
    FOLIOT_SECRET_KEY_FILE    a file with the same content, which only its owner may read
    neither                   SQLite: the file `<database>-key`, created with the first secret
                              PostgreSQL: refused, because the processes may be on several machines

The first key encrypts, any of them decrypts. A sealed value is

    version (1 byte) | id of the key (4) | nonce (12) | ciphertext and tag

The purpose is authenticated with it, so that a value copied to another row cannot be decrypted there.
"""

import base64
import binascii
import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from foliot.errors import SecretKeyUnusable, SecretUnreadable

VARIABLE: Final = "FOLIOT_SECRET_KEY"
FILE_VARIABLE: Final = "FOLIOT_SECRET_KEY_FILE"

_VERSION: Final = b"\x01"
_KEY_SIZE: Final = 32
_ID_SIZE: Final = 4
_NONCE_SIZE: Final = 12
_TAG_SIZE: Final = 16
_LARGEST_FILE: Final = 4_096
_GENERATE: Final = "Create one with: openssl rand -base64 32"


class _Key(NamedTuple):
    id: bytes
    value: bytes


class KeyStore:
    """Fills `ports.secrets.Secrets`. The key is read when it is first needed.

    `default` is the file that is used, and created, if the environment names no key. None: there is none.
    """

    def __init__(self, environ: Mapping[str, str], default: Path | None = None) -> None:
        self._environ = environ
        self._default = default
        self._keys: tuple[_Key, ...] = ()

    def seal(self, value: bytes, purpose: str) -> bytes:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        key = self._load(create=True)[0]
        nonce = secrets.token_bytes(_NONCE_SIZE)
        head = _VERSION + key.id
        return head + nonce + AESGCM(key.value).encrypt(nonce, value, head + purpose.encode())

    def unseal(self, sealed: bytes, purpose: str) -> bytes:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        head, body = sealed[: 1 + _ID_SIZE], sealed[1 + _ID_SIZE :]
        key = next((key for key in self._load(create=False) if key.id == head[1:]), None)
        if head[:1] != _VERSION or key is None:
            raise SecretUnreadable(
                f"{purpose} was encrypted with another key",
                hint=f"Set {VARIABLE} or {FILE_VARIABLE} as it was then, or store the secret again.",
            )
        try:
            return AESGCM(key.value).decrypt(body[:_NONCE_SIZE], body[_NONCE_SIZE:], head + purpose.encode())
        except (InvalidTag, ValueError):
            raise SecretUnreadable(f"{purpose} has been changed in the database", hint="Store it again.") from None

    def tag(self, value: bytes, purpose: str) -> bytes:
        return _tag(self._load(create=True)[0], value, purpose)

    def has_tag(self, value: bytes, purpose: str, tag: bytes) -> bool:
        return any(hmac.compare_digest(_tag(key, value, purpose), tag) for key in self._load(create=True))

    def _load(self, *, create: bool) -> tuple[_Key, ...]:
        if not self._keys:
            self._keys = _parse(*self._text(create=create))
        return self._keys

    def _text(self, *, create: bool) -> tuple[str, str]:
        """Return the text of the keys, and where it is from."""
        if text := self._environ.get(VARIABLE):
            return text, VARIABLE
        named = self._environ.get(FILE_VARIABLE)
        path = Path(named) if named else self._default
        if path is None:
            raise SecretKeyUnusable(
                "there is no key to encrypt secrets with",
                hint=f"Set the same {VARIABLE} for all processes of this database. {_GENERATE}",
            )
        if create and not named:
            _create(path)
        return _read(path), str(path)


def _tag(key: _Key, value: bytes, purpose: str) -> bytes:
    return hmac.digest(_tag_key(key, purpose), value, "sha256")[:_TAG_SIZE]


@lru_cache(maxsize=64)
def _tag_key(key: _Key, purpose: str) -> bytes:
    """Return a key of its own for each purpose: the key itself only encrypts. Cached, because each run needs it."""
    return hmac.digest(key.value, b"foliot tag " + purpose.encode(), "sha256")


def _parse(text: str, place: str) -> tuple[_Key, ...]:
    """Return the keys. The error does not contain the text."""
    try:
        values = [base64.b64decode(part.strip().replace("-", "+").replace("_", "/"), validate=True)
                  for part in text.split(",")]  # fmt: skip
    except (binascii.Error, ValueError):
        values = [b""]
    if any(len(value) != _KEY_SIZE for value in values):
        raise SecretKeyUnusable(f"{place} is not a key: {_KEY_SIZE} bytes as base64", hint=_GENERATE)
    return tuple(_Key(hashlib.sha256(b"foliot key id" + value).digest()[:_ID_SIZE], value) for value in values)


def _read(path: Path) -> str:
    """Return the content of a key file. Refused if anyone but its owner can read or write it."""
    try:
        # O_NONBLOCK: opening a named pipe must not wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        hint = f"Restore it from its backup, or set {VARIABLE} or {FILE_VARIABLE}."
        raise SecretKeyUnusable(f"the key file {path} does not exist", hint=hint) from None
    except OSError as error:
        hint = "It must belong to the account of this process."
        raise SecretKeyUnusable(f"the key file {path} could not be opened: {_reason(error)}", hint=hint) from None
    try:
        _check_private(path, os.fstat(descriptor).st_mode)
        return os.read(descriptor, _LARGEST_FILE).decode("ascii", "replace").strip()
    finally:
        os.close(descriptor)


def _check_private(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise SecretKeyUnusable(f"the key file {path} is not a regular file", hint="Name a file.")
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        hint = f"Run: chmod 600 {path}. If others may have read it, replace the key and store the secrets again."
        raise SecretKeyUnusable(f"the key file {path} can be used by others than its owner", hint=hint)


def _create(path: Path) -> None:
    """Create a key file, unless it exists. Of several processes that do this, one wins, and its file is complete."""
    if path.exists():
        return
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(base64.b64encode(secrets.token_bytes(_KEY_SIZE)).decode() + "\n")
            file.flush()
            os.fsync(descriptor)
        with suppress(FileExistsError):
            os.link(draft, path)
        _sync_directory(path.parent)
    except OSError as error:
        hint = f"Set {VARIABLE}, or make its directory writable. {_GENERATE}"
        raise SecretKeyUnusable(f"the key file {path} could not be created: {_reason(error)}", hint=hint) from None
    finally:
        draft.unlink(missing_ok=True)


def _reason(error: OSError) -> str:
    return (error.strerror or "unknown reason").lower()


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
