"""Results: how the children of a fanout have ended, and what they returned.

    storage --ChildResult--> worker, application --ItemResult--> Python
                                    |
                                    +--a line of JSON--> processes: the manifest, the run channel

Results are read in pages, in the order of the items. The outputs of a page have a bounded size.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, Protocol

import msgspec
from msgspec import Struct

from foliot.domain.fanout.item import BASE64
from foliot.domain.ids import RunId
from foliot.domain.run.run import Status
from foliot.errors import ResultsUnavailable

PAGE: Final = 500
"""How many results a page has at most."""
ROOM: Final = 256 * 1024
"""How many bytes of items and outputs a page has. It has at least one result, however large that is."""
MANIFEST_VARIABLE: Final = "FOLIOT_MANIFEST"
"""The environment variable with the path of the manifest."""
REFERENCE: Final = "run:"
"""The beginning of a reference to the output of a run."""


def no_results_error() -> ResultsUnavailable:
    """Return the error for a run that reads results and belongs to no fanout."""
    return ResultsUnavailable(
        "this run has no results to read",
        hint="Runs of a fanout have them while they run: its reducer, and its children.",
    )


class ResultQuery(NamedTuple):
    """Which results to read: of children that have ended, by index."""

    after: int = -1
    """Those of items with a higher index."""
    limit: int = PAGE
    failed: bool = False
    """Only those of children that failed, timed out or were cancelled."""
    has_outputs: bool = True
    """Whether the outputs are read as well."""
    only: tuple[int, ...] | None = None
    """Only those of these items, instead of those after one."""


class ChildResult(Struct, frozen=True, array_like=True, gc=False):
    """A child that has ended, with its item and its output as documents."""

    index: int
    run_id: RunId
    status: Status
    exit_code: int | None
    error: str | None
    document: bytes
    has_output: bool
    output: bytes | None = None
    """None also if outputs were not requested."""


class ItemResult(Struct, frozen=True, kw_only=True):
    """The result of one item."""

    index: int
    """The position of the item, from 0."""
    item: Any
    """The item."""
    status: Status
    """The status of its run: success, failed, timeout, cancelled, skipped or partial."""
    output: Any = None
    """The output of its run, or None."""
    error: str | None = None
    """Why its run failed, or None."""
    exit_code: int | None = None
    """The exit code of its run, or None."""
    run_id: RunId | None = None
    """The id of its run. None: the fanout ended before the item started."""


class Results(Protocol):
    """The results of a fanout, in the order of the items. Each iteration begins with the first."""

    def __iter__(self) -> Iterator[ItemResult]: ...

    def __aiter__(self) -> AsyncIterator[ItemResult]: ...


def result_of(child: ChildResult) -> ItemResult:
    return ItemResult(
        index=child.index,
        item=msgspec.json.decode(child.document),
        status=child.status,
        output=None if child.output is None else msgspec.json.decode(child.output),
        error=child.error,
        exit_code=child.exit_code,
        run_id=child.run_id,
    )


def record_of(child: ChildResult) -> dict[str, Any]:
    """Return a result as the fields of a JSON object, with its output."""
    return {**_fields(child), "error": child.error, "output": msgspec.Raw(child.output or b"null")}


def read_record(record: Mapping[str, Any]) -> ItemResult:
    """Return the result in an object of `record_of`."""
    fields = dict(record)
    if BASE64 in fields:
        fields["item"] = {BASE64: fields.pop(BASE64)}
    return msgspec.convert(fields, ItemResult)


def manifest_lines(children: Iterable[ChildResult]) -> bytes:
    """Return results as lines of JSON, with references to their outputs."""
    return b"".join(_ENCODER.encode(_reference(child)) + b"\n" for child in children)


_ENCODER: Final = msgspec.json.Encoder()


def _reference(child: ChildResult) -> dict[str, Any]:
    return {**_fields(child), "output": f"{REFERENCE}{child.run_id}" if child.has_output else None}


def _fields(child: ChildResult) -> dict[str, Any]:
    return {
        "index": child.index,
        **_item(child.document),
        "status": child.status,
        "exit_code": child.exit_code,
        "run_id": child.run_id,
    }


def _item(document: bytes) -> dict[str, Any]:
    """Return the item as a field. Bytes that are not UTF-8 have a name of their own."""
    if document.startswith(_BASE64_START):
        value = msgspec.json.decode(document)
        if value.keys() == {BASE64}:
            return dict(value)
    return {"item": msgspec.Raw(document)}


_BASE64_START: Final = f'{{"{BASE64}":'.encode()
