"""Masks the secrets of a job in what its runs print.

    secrets     values of `env` and `headers` whose name, or the name of a variable that they were written with, sounds
                like a secret; passwords in URLs of `env`; the token of the attempt
    forms       as it is, each of its lines, in base64, with percent-escapes, and as in a JSON text

A job may print a secret in several writes. The end of a write that may be the beginning of a secret is held back until
the next write, or until the attempt ends. If one secret begins with another one and a write ends exactly after the
shorter one, the rest of the longer one is shown. Other forms, such as the reversed text, are not recognized. A secret
with fewer than `SHORTEST` characters is not masked, because ordinary text contains it too; `foliot check` warns about
it.
"""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote, unquote

from foliot.domain.job.definition import Definition
from foliot.domain.run.logs import Stream
from foliot.domain.secrets import HIDDEN, sounds_secret

SHORTEST: Final = 6

_HIDDEN: Final = HIDDEN.encode()
_NOTHING: Final[Mapping[str, Any]] = {}
_TABLES: Final = ("env", "headers")
_VARIABLE: Final = re.compile(r"\$\{(\w+)")
_PASSWORD: Final = re.compile(r"://[^/?#\s:@]*:([^/?#\s@]+)@")
_SCHEME: Final = re.compile(r"(?:Bearer|Basic|Token) +", re.IGNORECASE)


class OutputMask:
    """The forms of the secrets of one attempt, and the ends of its streams that are held back."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        self._forms = tuple(sorted(forms, key=len, reverse=True))
        self._held: dict[Stream, bytes] = {}

    def add(self, secret: str) -> None:
        """Mask this secret of one attempt too, from now on. Only as it is: other forms cannot be cached."""
        self._forms = (secret.encode(), *self._forms)

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        return self._replace(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def write(self, stream: Stream, data: bytes) -> bytes:
        """Return what can be shown after this write to a stream."""
        data = self._replace(self._held.pop(stream, b"") + data)
        held = max((_beginning_at_end(data, form) for form in self._forms), default=0)
        if held == 0:
            return data
        self._held[stream] = data[-held:]
        return data[:-held]

    def end(self) -> list[tuple[Stream, bytes]]:
        """Return what is held back, at the end of the attempt."""
        held, self._held = self._held, {}
        return list(held.items())

    def _replace(self, data: bytes) -> bytes:
        for form in self._forms:
            data = data.replace(form, _HIDDEN)
        return data


def mask_of(definition: Definition) -> OutputMask | None:
    """Return the mask for an attempt with this definition. None: it has no secrets."""
    secrets = secrets_of(definition.spec, definition.written)
    return OutputMask(secrets) if secrets else None


def secrets_of(spec: Mapping[str, Any], written: Mapping[str, Any] = _NOTHING) -> list[str]:
    """Return the secrets of a job. `written`: fields with environment variables, as they were written."""
    return [secret for _, secret in named_secrets(spec, written)]


def named_secrets(spec: Mapping[str, Any], written: Mapping[str, Any] = _NOTHING) -> Iterator[tuple[str, str]]:
    """Yield the secrets of a job with the names that they have in `env` or `headers`."""
    for table in _TABLES:
        values, texts = spec.get(table), written.get(table)
        if not isinstance(values, Mapping):
            continue
        for name, value in values.items():
            if isinstance(value, str):
                text = texts.get(name) if isinstance(texts, Mapping) else None
                yield from ((name, secret) for secret in _secrets_in(name, value, text))


def _secrets_in(name: str, value: str, text: object) -> Iterator[str]:
    variables = _VARIABLE.findall(text) if isinstance(text, str) else ()
    if sounds_secret(name) or any(map(sounds_secret, variables)):
        yield _SCHEME.sub("", value, count=1) if _SCHEME.match(value) else value
    if "://" in value:
        for password in _PASSWORD.findall(value):
            yield password
            yield unquote(password)


@lru_cache(maxsize=256)
def _forms(secret: str) -> frozenset[bytes]:
    """Return the forms of a secret that are masked. Cached, because all runs of a job have the same secrets."""
    texts = {secret, *secret.splitlines()}
    return frozenset(form for text in texts if len(text) >= SHORTEST for form in _forms_of_text(text))


def _forms_of_text(text: str) -> Iterator[bytes]:
    raw = text.encode(errors="surrogateescape")
    yield raw
    for encode in (b64encode, urlsafe_b64encode):
        yield encode(raw)
        yield from (_inside_base64(encode(bytes(shift) + raw), shift, len(raw)) for shift in range(3))
    yield quote(raw, safe="").encode()
    for is_ascii in (True, False):
        yield json.dumps(text, ensure_ascii=is_ascii)[1:-1].encode(errors="surrogateescape")


def _inside_base64(encoded: bytes, shift: int, size: int) -> bytes:
    """Return the characters that do not depend on what is encoded before and after the secret."""
    first = -(-shift * 8 // 6)
    return encoded[first : (shift + size) * 8 // 6]


def _beginning_at_end(data: bytes, form: bytes) -> int:
    """Return how many bytes at the end of the data may be the beginning of the form."""
    start = data.find(form[:1], max(0, len(data) - len(form) + 1))
    while start >= 0:
        if form.startswith(data[start:]):
            return len(data) - start
        start = data.find(form[:1], start + 1)
    return 0
