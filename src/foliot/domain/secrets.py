"""Masking of values that may be secrets, in definitions, payloads, outputs and errors that are shown.

Values are not declared as secrets, so their place and their name decide:

    env, headers             names are shown, values are masked
    webhook_url,             only the beginning of the URL is shown: its path often is the secret
      slack_webhook_url
    stdin, body              masked
    stages                   each like the specification of a job
    url, inputs_from         without credentials, and with masked values in the query of a web address
    json, payload, params,   values are masked if their name sounds like a secret
      output
    any other text           without credentials in URLs, the text after Bearer or Basic, and tokens of Foliot
    errors of runs           the same, and in name=value the value is masked if the name sounds like a secret

A value with environment variables is shown as it was written, with the names of the variables: `JobSpec.as_written` is
applied first. A masked value is shown as ***.
"""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

HIDDEN: Final = "***"

_TABLES: Final = frozenset({"env", "headers"})
_STAGES: Final = "stages"
_OPAQUE: Final = frozenset({"stdin", "body"})
_DOCUMENTS: Final = frozenset({"json", "payload", "payload_template", "params"})

_HOOKS: Final = frozenset({"webhook_url", "slack_webhook_url"})

_PAGES: Final = ("http://", "https://")

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRETS: Final = frozenset(
    {"password", "passwords", "passwd", "pwd", "passphrase", "secret", "secrets", "token", "credential", "credentials"}
    | {"authorization", "bearer", "cookie", "signature", "apikey", "accesskey", "privatekey"}
)
_KEYS: Final = frozenset({"api", "access", "private", "signing", "encryption", "auth"})
"""Followed by the word key, these name a secret; key alone is usually an identifier."""

_HOST: Final = re.compile(r"(https?://)(?:[^/?#\s]*@)?([^/?#\s@]+)", re.IGNORECASE)
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/?#\s]*@")
_TOKENS: Final = re.compile(r"\bfol_[0-9A-Z]{26}_[0-9A-Z]{20,}")
_SCHEMES: Final = re.compile(r"\b(Bearer|Basic) +[^\s\"']+", re.IGNORECASE)
_QUOTED: Final = r""""(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?"""
# token=abc, token = "abc", 'token': 'abc', "token": 7. Not token: abc, which occurs in sentences. All parts of a name
# are bounded, and an unclosed quote ends at the end of its line, so that no text takes long to search.
_PAIRS: Final = re.compile(
    rf"""((?<![\w-])[\w-]{{0,48}}?(?:key|{"|".join(sorted(_SECRETS))})[\w-]{{0,48}})"""
    rf"""(["']\s{{0,8}}:\s{{0,8}}|=|\s{{0,8}}=\s{{0,8}}(?=["']))({_QUOTED}|[^\s,;&)\]}}]+)""",
    re.IGNORECASE,
)
_STARS: Final = re.compile(r"://\*\*\*@|\b(?:Bearer|Basic) \*\*\*", re.IGNORECASE)


def public_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a job with secrets masked."""
    return {name: public_value(name, value) for name, value in spec.items()}


def public_value(field: str, value: Any) -> Any:
    """Return the value of a field of a definition with secrets masked."""
    if field == _STAGES and isinstance(value, dict):
        return {name: _public_stage(stage) for name, stage in value.items()}
    if field in _TABLES:
        return dict.fromkeys(value, HIDDEN) if isinstance(value, dict) else HIDDEN
    if field in _OPAQUE:
        return None if value is None else HIDDEN
    if isinstance(value, str) and field in _HOOKS:
        return public_hook(value)
    if isinstance(value, str) and _is_url(field, value):
        return public_url(value)
    return public_document(value) if field in _DOCUMENTS else _public_texts(value)


def _public_stage(stage: Any) -> Any:
    """Return a stage of a chain, with names of environment variables instead of values, and with secrets masked."""
    if not isinstance(stage, dict):
        return _public_texts(stage)
    shown = {name: public_value(name, value) for name, value in stage.items() if name not in ("spec", "written")}
    own, written = stage.get("spec"), stage.get("written")
    if not isinstance(own, dict):
        return shown
    return shown | {"spec": public_spec(own | written if isinstance(written, dict) else own)}


def public_document(value: Any) -> Any:
    """Return a JSON value with *** for values whose name sounds like a secret."""
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
    """Return a URL of any scheme, valid or not, with possible passwords masked."""
    scheme, separator, place = url.partition("://") if "://" in url else ("", "", url)
    # The path of a web page may contain an @. That of a database does not, but an unescaped password may.
    is_page = scheme.lower() in ("http", "https")
    rest, mark, query = (url if is_page else f"{scheme}{separator}{_after_at(place)}").partition("?")
    shown = _CREDENTIALS.sub(f"{HIDDEN}@", rest) if is_page else rest
    hidden = "&".join(_hide(part) for part in query.split("&"))
    return f"{shown}{mark}{hidden if query else ''}"


def public_hook(url: str) -> str:
    """Return scheme and host of the URL of a webhook. Everything else may be a secret."""
    found = _HOST.match(url)
    return f"{found[1]}{found[2]}/{HIDDEN}" if found else HIDDEN


def public_text(text: str) -> str:
    """Return a text, such as a command, with secrets masked."""
    shown = _SCHEMES.sub(rf"\1 {HIDDEN}", _CREDENTIALS.sub(f"{HIDDEN}@", text))
    return _TOKENS.sub(f"fol_{HIDDEN}", shown) if "fol_" in shown else shown


def public_error(text: str) -> str:
    """Return the text of an error with secrets masked."""
    shown = public_text(text)
    return _PAIRS.sub(lambda pair: f"{pair[1]}{pair[2]}{HIDDEN}" if sounds_secret(pair[1]) else pair[0], shown)


def sounds_secret(name: str) -> bool:
    """Return whether a name is typical for a secret: apiToken, DB_PASSWORD, access-key."""
    words = [word.lower() for word in _WORD.findall(name)]
    return not _SECRETS.isdisjoint(words) or any(key == "key" and kind in _KEYS for kind, key in pairwise(words))


def is_hidden(field: str, value: Any) -> bool:
    """Return whether a value contains a mask instead of a secret. Other asterisks are plain text."""
    if not isinstance(value, str):
        return False
    return value == HIDDEN or _STARS.search(value) is not None or (_is_url(field, value) and HIDDEN in value)


def _is_url(field: str, value: str) -> bool:
    return field == "url" or (field == "inputs_from" and value.startswith(_PAGES))


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
