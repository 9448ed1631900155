"""An HTTP job: one request, and which status codes count as success."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from foliot.domain.outbound.request import MAX_REDIRECTS
from foliot.domain.outbound.url import Url, read_url
from foliot.domain.run.payload import MAX_BYTES, MAX_LEVELS, check_depth, encode_payload
from foliot.domain.secrets import HIDDEN, public_url
from foliot.errors import InvalidInput, InvalidJob, shown, suggest

OUTPUT_CAP: Final = 32 << 10
"""The default number of bytes of a response that are stored."""
MAX_HEADERS: Final = 100
MAX_HEADER: Final = 8_000

_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_RANGE: Final = re.compile(r"(?P<first>[0-9]{3})(?:\s*-\s*(?P<last>[0-9]{3}))?|(?P<hundred>[1-5])[xX]{2}")

# These headers determine how a message is framed: Foliot sets them.
_FRAMING: Final = frozenset({"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer"}) | {
    "transfer-encoding",
    "upgrade",
}

_FORBIDDEN_METHODS: Final[Mapping[str, str]] = {
    "CONNECT": "It opens a tunnel that bypasses the outbound policy. Send the request to the target itself.",
    "TRACE": "The response contains all headers, including secrets. Use GET or HEAD to test whether a server responds.",
}


class HttpSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The fields of an HTTP job."""

    url: str
    method: str = "GET"
    headers: dict[str, str] = {}
    body: str | None = None
    json: Any = None
    """A body that is sent as JSON. Without `body` and `json`, the payload of the run is sent if the method has a
    body."""
    expect_status: Annotated[tuple[tuple[int, int], ...], Meta(min_length=1)] = ((200, 299),)
    """First and last of each range of status codes that count as success."""
    follow: bool = True
    max_redirects: Annotated[int, Meta(ge=0, le=MAX_REDIRECTS)] = MAX_REDIRECTS
    verify: bool = True
    """Whether the certificate of the server must be valid."""
    output_cap: Annotated[int, Meta(ge=0)] = OUTPUT_CAP
    """Bytes of the response to store."""
    output: Literal["none", "text", "json"] = "none"
    """How the response becomes the output of the run."""

    def __post_init__(self) -> None:
        url = self.target
        if not _TOKEN.fullmatch(self.method):
            raise InvalidJob(
                f"method {self.method[:32]!a} is not a method name",
                hint="Use GET, POST or PUT, for example.",
                field="method",
            )
        if self.verb in _FORBIDDEN_METHODS:
            raise InvalidJob(
                f"method {self.verb} cannot be used by a job", hint=_FORBIDDEN_METHODS[self.verb], field="method"
            )
        _check_headers(self.headers)
        if url.credentials is not None and "authorization" in {name.lower() for name in self.headers}:
            raise InvalidJob(
                "credentials in the url and the header Authorization are mutually exclusive",
                hint="Remove one of them.",
                field="headers",
            )
        _check_body(self)
        read_statuses([f"{first}-{last}" for first, last in self.expect_status])

    @property
    def target(self) -> Url:
        try:
            return read_url(self.url)
        except InvalidInput as error:
            raise InvalidJob(error.message, hint=error.hint, field="url") from None

    @property
    def verb(self) -> str:
        """The method in upper case, as it is sent."""
        return self.method.upper()

    def expects(self, status: int) -> bool:
        return any(first <= status <= last for first, last in self.expect_status)


def read_command(text: str) -> dict[str, Any]:
    """Return the specification that is written as one text: a URL, "METHOD url", or a JSON object with its fields.

    Only the form is checked; `HttpSpec` checks the values.
    """
    text = text.strip()
    if text.startswith("{"):
        return _read_object(text)
    match text.split():
        case [url]:
            return {"url": url}
        case [method, url] if _TOKEN.fullmatch(method):
            return {"method": method, "url": url}
    raise InvalidJob(
        f"command {text[:64]!a} is not a request",
        hint='Write a URL, a method and a URL, or {"method": "POST", "url": "https://..."}.',
        field="command",
    )


def read_statuses(value: object) -> list[list[int]]:
    """Return first and last of each range of status codes, ascending and disjoint. `value` is 204, "200-299", "2xx" or
    a list of these."""
    items = value if isinstance(value, list | tuple) else [value]
    if not items:
        raise _invalid_status("an empty list")
    return _merged(sorted(_read_range(item) for item in items))


def show_statuses(ranges: Iterable[tuple[int, int]]) -> str:
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def show_url(url: Url, written: Mapping[str, object], *, is_first: bool) -> str:
    """Return the URL as logs show it. If it was written with environment variables, their values may be secrets, and a
    redirect may repeat them: only the host is always shown."""
    if "url" not in written:
        return url.shown
    if not is_first:
        return f"{url.place}/{HIDDEN}"
    public = public_url(str(written["url"]))
    return public if public.startswith(url.place) else f"{public} ({url.place})"


def _read_object(text: str) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(text)
        check_depth(given)
    except RecursionError:
        hint = f"Use at most {MAX_LEVELS} levels."
        raise InvalidJob("the command is nested too deeply", hint=hint, field="command") from None
    except msgspec.DecodeError as error:
        hint = 'Write {"url": "https://..."}, or a URL without braces.'
        raise InvalidJob(f"the command is not JSON: {error}", hint=hint, field="command") from None
    if not isinstance(given, dict) or "url" not in given:
        raise InvalidJob("the command has no url", hint='Write {"url": "https://..."}.', field="command")
    known = HttpSpec.__struct_fields__
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        hint = suggest(unknown, known, otherwise=f"Use {', '.join(known)}.")
        raise InvalidJob(f"the command has a field {unknown[:64]!a} that does not exist", hint=hint, field="command")
    if "expect_status" in given:
        given["expect_status"] = read_statuses(given["expect_status"])
    return given


def _read_range(item: object) -> tuple[int, int]:
    found = _RANGE.fullmatch(str(item).strip()) if isinstance(item, int | str) else None
    if found is None:
        raise _invalid_status(shown(item))
    if found["hundred"]:
        return int(found["hundred"]) * 100, int(found["hundred"]) * 100 + 99
    first, last = int(found["first"]), int(found["last"] or found["first"])
    if not 100 <= first <= last <= 599:
        raise _invalid_status(shown(item))
    return first, last


def _merged(ranges: Iterable[tuple[int, int]]) -> list[list[int]]:
    merged: list[list[int]] = []
    for first, last in ranges:
        if merged and first <= merged[-1][1] + 1:
            merged[-1][1] = max(merged[-1][1], last)
        else:
            merged.append([first, last])
    return merged


def _invalid_status(what: str) -> InvalidJob:
    return InvalidJob(
        f"{what} is not a status code",
        hint='Use 100 to 599: 204, "200-299", "2xx", or a list of these.',
        field="expect_status",
    )


def _check_headers(headers: Mapping[str, str]) -> None:
    if len(headers) > MAX_HEADERS:
        hint = "Combine several values in one header, or send them in the body."
        raise InvalidJob(f"there are {len(headers)} headers, more than {MAX_HEADERS}", hint=hint, field="headers")
    folded = [name.lower() for name in headers]
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            hint = "Use letters, digits and -, as in X-Request-Source."
            raise InvalidJob(f"{name[:64]!a} cannot be the name of a header", hint=hint, field="headers")
        if name.lower() in _FRAMING or name.lower().startswith(("foliot-", "proxy-")):
            raise InvalidJob(f"header {name} is set by Foliot", hint="Leave it out.", field="headers")
        if folded.count(name.lower()) > 1:
            hint = "Header names are not case-sensitive. Remove one of them."
            raise InvalidJob(f"header {name} is given twice", hint=hint, field="headers")
        _check_value(name, value)


def _check_value(name: str, value: str) -> None:
    if _CONTROL.search(value) or not _is_text(value):
        hint = "Write it on one line. A value read from a file may end with a line break."
        message = f"the value of header {name} contains a line break or control character"
        raise InvalidJob(message, hint=hint, field="headers")
    if len(value) > MAX_HEADER:
        message = f"the value of header {name} is longer than {MAX_HEADER} characters"
        raise InvalidJob(message, hint="Send it in the body.", field="headers")


def _check_body(spec: HttpSpec) -> None:
    if spec.json is not None:
        _check_json(spec.json)
    if spec.body is None:
        return
    if spec.json is not None:
        raise InvalidJob("body and json are mutually exclusive", hint="Remove one of them.", field="body")
    if not _is_text(spec.body):
        hint = "It contains a lone surrogate. Replace it with a whole character."
        raise InvalidJob("the body is not text", hint=hint, field="body")
    if len(spec.body.encode()) > MAX_BYTES:
        hint = "Store it elsewhere and send a reference to it."
        raise InvalidJob(f"the body has more than {MAX_BYTES} bytes", hint=hint, field="body")


def _check_json(value: Any) -> None:
    try:
        encode_payload(value, what="json")
    except InvalidInput as error:
        raise InvalidJob(error.message, hint=error.hint, field="json") from None


def _is_text(value: str) -> bool:
    """Return whether the text can be encoded as UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
