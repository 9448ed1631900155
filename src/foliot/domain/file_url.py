"""The URL of a SQLite database: the text between the third slash and a question mark is the name of the file.

sqlite:///foliot.db                       relative to the current directory
sqlite:////var/lib/foliot/foliot.db       absolute
sqlite:///foliot.db?synchronous=NORMAL    with options
sqlite:///why%3F.db                       %3F is a question mark, %25 a percent sign; nothing else must be escaped

It is not parsed as a web URL, in which # ends the name and line breaks are dropped.
"""

import re
from typing import Final, NamedTuple

from foliot.errors import InvalidInput

_BEGINNING: Final = "sqlite:///"
_SLASHES: Final = "Use sqlite:///relative.db or sqlite:////absolute/path.db, with three or four slashes."
_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_IN_MEMORY: Final = ":memory:"


class FileUrl(NamedTuple):
    path: str
    query: str


def parse_file_url(url: str) -> FileUrl:
    """Return the file that a URL names. Errors do not contain the text of the URL, which may hold secrets."""
    written, _, query = url.removeprefix(_BEGINNING).partition("?")
    if not url.startswith(_BEGINNING) or not written:
        raise _refusal("names no file", _SLASHES)
    try:
        name = _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()), written.encode()).decode()
    except UnicodeError:
        raise _refusal("names a file whose name is not UTF-8", "Give the file another name.") from None
    if _CONTROL.search(name):
        hint = "Look for a line break at its end, or give the file another name."
        raise _refusal("names a file with a control character in its name", hint)
    if name.rpartition("/")[2] == _IN_MEMORY:
        hint = "Other processes must see the database: name a file. Tests use foliot.testing, or a temporary directory."
        raise _refusal("names no file: there is no database in memory", hint)
    return FileUrl(name, query)


def _refusal(fact: str, hint: str) -> InvalidInput:
    return InvalidInput(f"the URL of the storage {fact}", hint=hint, field="storage")
