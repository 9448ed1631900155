"""The text of `inputs_from`: where the items of a fanout come from.

    file:///etc/foliot/targets.txt                        a file: lines, a JSON array (.json) or JSON lines (.jsonl)
    https://example.org/targets                           a list on the web: text/plain or a JSON array
    sql://main?SELECT url FROM targets                    the first column of a query; `main` is a registered DSN
    job://subdomain-monitor?output_as_lines               what another job has printed

Other schemes belong to plug-ins, which check the rest of the text themselves. Errors do not contain the text after the
scheme, unless it has been checked: it may hold a password.
"""

import re
from collections.abc import Collection
from typing import Final, NamedTuple

from foliot.domain.fanout.statement import check_query
from foliot.domain.ids import JobId
from foliot.domain.job.job import check_name
from foliot.domain.outbound.url import Url, read_url
from foliot.errors import InvalidInput, suggest

BUILT_IN: Final = ("file", "http", "https", "sql", "job")
PLUGINS: Final = "foliot.resolvers"
"""The group of entry points with the schemes of other packages."""

_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]{0,31}")
_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_DSN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_AS_LINES: Final = "output_as_lines"
_LONGEST: Final = 100_000


class FileInputs(NamedTuple):
    path: str
    """Absolute."""


class HttpInputs(NamedTuple):
    url: Url


class SqlInputs(NamedTuple):
    dsn: str
    """The name of a registered DSN."""
    query: str


class JobInputs(NamedTuple):
    job_id: JobId


class OtherInputs(NamedTuple):
    """Inputs of a plug-in."""

    scheme: str
    rest: str


Inputs = FileInputs | HttpInputs | SqlInputs | JobInputs | OtherInputs


def parse_inputs(text: str, schemes: Collection[str] = BUILT_IN) -> Inputs:
    """Return the parts of the text. Raise InvalidInput if it can never be resolved.

    `schemes` are all that exist, those of plug-ins included.
    """
    scheme = scheme_of(text)
    rest = text[len(scheme) + 3 :]
    match scheme:
        case _ if scheme not in schemes:
            known = ", ".join(f"{one}://" for one in sorted(schemes))
            raise unusable(f'the scheme "{scheme}" does not exist', suggest(scheme, schemes, otherwise=f"Use {known}."))
        case "file":
            return _file(rest)
        case "http" | "https":
            return HttpInputs(_url(text))
        case "sql":
            return _sql(rest)
        case "job":
            return _job(rest)
    return OtherInputs(scheme, rest)


def parse_file(text: str) -> FileInputs:
    return _file(_after("file", text))


def parse_http(text: str) -> HttpInputs:
    return HttpInputs(_url(text))


def parse_sql(text: str) -> SqlInputs:
    return _sql(_after("sql", text))


def parse_job(text: str) -> JobInputs:
    return _job(_after("job", text))


def scheme_of(text: str) -> str:
    """Return the scheme of the text. Raise InvalidInput if it has none."""
    scheme, separator, _ = text.partition("://")
    if len(text) > _LONGEST or "\0" in text:
        raise unusable("inputs_from is too long, or contains the character NUL", f"Use up to {_LONGEST} characters.")
    if not separator or not _SCHEME.fullmatch(scheme):
        hint = "Begin with file://, https://, sql:// or job://, or list the items: items = [...]."
        raise unusable("inputs_from does not begin with a scheme", hint)
    return scheme


def check_dsn_name(name: str) -> str:
    """Return the name of a DSN. Raise InvalidInput if it is not one; the error does not contain it."""
    if not _DSN_NAME.fullmatch(name):
        hint = "Use up to 64 letters, digits, dots, - and _; the first is a letter or a digit."
        raise InvalidInput("this is not the name of a DSN", hint=hint, field="name")
    return name


def unusable(fact: str, hint: str) -> InvalidInput:
    return InvalidInput(fact, hint=hint, field="inputs_from")


def _after(scheme: str, text: str) -> str:
    if scheme_of(text) != scheme:
        raise unusable(f"inputs_from does not begin with {scheme}://", f"Write {scheme}://...")
    return text[len(scheme) + 3 :]


def _file(rest: str) -> FileInputs:
    if not rest.startswith("/") or rest.startswith("//"):
        hint = "Write the whole path, with three slashes: file:///etc/foliot/targets.txt."
        raise unusable("file:// is not followed by an absolute path", hint)
    if "?" in rest:
        raise unusable("file:// has no options after a question mark", "Write a question mark in a name as %3F.")
    try:
        path = _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()), rest.encode()).decode()
    except UnicodeError:
        raise unusable("the path is not UTF-8", "Give the file another name.") from None
    if any(ord(character) < 32 for character in path):
        raise unusable("the path contains a control character", "Look for a line break at its end.")
    return FileInputs(path)


def _url(text: str) -> Url:
    try:
        return read_url(text)
    except InvalidInput as error:
        raise unusable(error.message, error.hint) from None


def _sql(rest: str) -> SqlInputs:
    name, mark, query = rest.partition("?")
    if any(character in name for character in "@:/"):
        hint = "Register it with: foliot dsn add NAME, and write sql://NAME?SELECT ..."
        raise unusable("sql:// must be followed by the name of a DSN, not by a DSN", hint)
    if not _DSN_NAME.fullmatch(name) or not mark:
        raise unusable("sql:// is not followed by a name and a query", "Write sql://main?SELECT url FROM targets.")
    try:
        return SqlInputs(name, check_query(query))
    except InvalidInput as error:
        raise unusable(error.message, error.hint) from None


def _job(rest: str) -> JobInputs:
    name, mark, options = rest.partition("?")
    if "/" in name:
        hint = f"It reads jobs of this database only. Write job://JOB?{_AS_LINES}."
        raise unusable("job:// must be followed by the id of a job, without a host", hint)
    try:
        check_name("job id", name)
    except InvalidInput as error:
        raise unusable(error.message, error.hint) from None
    if not mark or options != _AS_LINES:
        raise unusable(f"job:// does not end with ?{_AS_LINES}", f"Write job://JOB?{_AS_LINES}.")
    return JobInputs(JobId(name))
