"""What of a definition, or of what a run is given and gives back, is not shown: values that may be secrets.

Nobody says of a value that it is one, so its place and its name decide:

    env, headers             names are shown, values are not
    stdin, body              not shown
    url                      without its credentials and the values of its query
    json, payload, params,   without the values whose name sounds like a secret
      output
    any other text           without credentials of URLs, and what follows Bearer or Basic
    what a run failed with   the same, and without what is said to be the value of a name that sounds like a secret

A value with variables of the environment in it is shown as it was written, with their names in place of their values:
`JobSpec.as_written` comes before what is here.
What is left out is *** wherever it stood.
"""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

HIDDEN: Final = "***"

_TABLES: Final = frozenset({"env", "headers"})
_OPAQUE: Final = frozenset({"stdin", "body"})
_DOCUMENTS: Final = frozenset({"json", "payload", "payload_template", "params"})

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRETS: Final = frozenset(
    {"password", "passwords", "passwd", "pwd", "passphrase", "secret", "secrets", "token", "credential", "credentials"}
    | {"authorization", "bearer", "cookie", "signature", "apikey", "accesskey", "privatekey"}
)
_KEYS: Final = frozenset({"api", "access", "private", "signing", "encryption", "auth"})
"""With the word key behind them they name a secret; a key alone is mostly the name of something."""

_CREDENTIALS: Final = re.compile(r"(?<=://)[^/?#\s]*@")
_SCHEMES: Final = re.compile(r"\b(Bearer|Basic) +[^\s\"']+", re.IGNORECASE)
_QUOTED: Final = r""""(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?"""
# token=abc, token = "abc", 'token': 'abc', "token": 7. Not token: abc, which is how people write sentences. All parts
# of a name are bounded, and a quote that nobody closes ends with its line: no text takes long to look through.
_PAIRS: Final = re.compile(
    rf"""((?<![\w-])[\w-]{{0,48}}?(?:key|{"|".join(sorted(_SECRETS))})[\w-]{{0,48}})"""
    rf"""(["']\s{{0,8}}:\s{{0,8}}|=|\s{{0,8}}=\s{{0,8}}(?=["']))({_QUOTED}|[^\s,;&)\]}}]+)""",
    re.IGNORECASE,
)
_STARS: Final = re.compile(r"://\*\*\*@|\b(?:Bearer|Basic) \*\*\*", re.IGNORECASE)


def public_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What a job of some kind says, as anybody may see it."""
    return {name: public_value(name, value) for name, value in spec.items()}


def public_value(field: str, value: Any) -> Any:
    """The value of a field of a definition, as anybody may see it."""
    if field in _TABLES:
        return dict.fromkeys(value, HIDDEN) if isinstance(value, dict) else HIDDEN
    if field in _OPAQUE:
        return None if value is None else HIDDEN
    if field == "url" and isinstance(value, str):
        return public_url(value)
    return public_document(value) if field in _DOCUMENTS else _public_texts(value)


def public_document(value: Any) -> Any:
    """Any JSON value, with *** for what stands under a name that sounds like a secret."""
    match value:
        case dict():
            return {
                name: HIDDEN if item is not None and sounds_secret(str(name)) else public_document(item)
                for name, item in value.items()
            }
        case list() | tuple():
            return [public_document(item) for item in value]
        case _:
            return _public_texts(value)


def public_url(url: str) -> str:
    """A URL without what may be a password in it, of whatever kind it is and even if it is no good one."""
    scheme, separator, place = url.partition("://") if "://" in url else ("", "", url)
    # The address of a page may contain an @. That of a database does not, but a careless password may contain anything.
    is_page = scheme.lower() in ("http", "https")
    rest, mark, query = (url if is_page else f"{scheme}{separator}{_after_at(place)}").partition("?")
    shown = _CREDENTIALS.sub(f"{HIDDEN}@", rest) if is_page else rest
    hidden = "&".join(_hide(part) for part in query.split("&"))
    return f"{shown}{mark}{hidden if query else ''}"


def public_text(text: str) -> str:
    """Any text, such as a command, as anybody may read it."""
    return _SCHEMES.sub(rf"\1 {HIDDEN}", _CREDENTIALS.sub(f"{HIDDEN}@", text))


def public_error(text: str) -> str:
    """What went wrong, in whatever words, as anybody may read it."""
    shown = public_text(text)
    return _PAIRS.sub(lambda pair: f"{pair[1]}{pair[2]}{HIDDEN}" if sounds_secret(pair[1]) else pair[0], shown)


def sounds_secret(name: str) -> bool:
    """Whether a name is one that people give to secrets: apiToken, DB_PASSWORD, access-key."""
    words = [word.lower() for word in _WORD.findall(name)]
    return not _SECRETS.isdisjoint(words) or any(key == "key" and kind in _KEYS for kind, key in pairwise(words))


def is_hidden(field: str, value: Any) -> bool:
    """Whether a value was taken from what is shown, and lacks its secret: other stars are plain text."""
    if not isinstance(value, str):
        return False
    return value == HIDDEN or _STARS.search(value) is not None or (field == "url" and HIDDEN in value)


def _public_texts(value: Any) -> Any:
    match value:
        case str():
            return public_text(value)
        case dict():
            return {name: _public_texts(item) for name, item in value.items()}
        case list() | tuple():
            return [_public_texts(item) for item in value]
        case _:
            return value


def _after_at(place: str) -> str:
    return f"{HIDDEN}@{place.rpartition('@')[2]}" if "@" in place else place


def _hide(part: str) -> str:
    name, equals, _ = part.partition("=")
    return f"{name}={HIDDEN}" if equals else HIDDEN
