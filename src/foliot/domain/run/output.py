"""The output of jobs that print or write bytes, converted to JSON for the steps after them."""

import json
from collections import Counter
from typing import Any, Final, Literal, NoReturn

from foliot.domain.run.payload import MAX_BYTES, encode_payload, too_deep
from foliot.errors import InvalidRun

OutputMode = Literal["none", "text", "json", "file", "last_line"]
"""No output; stdout as text, or parsed as JSON; the JSON in a file that the job wrote; the last line of stdout if it is
a JSON object."""

LONGEST_LINE: Final = 65_536
"""How many bytes the last line has at most. A longer one is no output."""

_TOO_LARGE: Final = "Store it elsewhere and output a reference to it."
_NOT_JSON: Final = "Output exactly one JSON value, and print messages to stderr."


def read_output(mode: OutputMode, data: bytes) -> bytes | None:
    """Return the bytes of a job's output as JSON. None: no output, or JSON's null."""
    check_size(len(data))
    if mode == "last_line":
        return _last_object(data)
    if mode == "text":
        return encode_payload(_text(data), what="output")
    return encode_payload(_strict_json(data), what="output")


def check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise InvalidRun(f"the output has {size} bytes, more than {MAX_BYTES}", hint=_TOO_LARGE, field="output")


def _last_object(data: bytes) -> bytes | None:
    """Return the last line that is not empty, if it is a JSON object. Most programs print something else."""
    line = data.rstrip().rpartition(b"\n")[2].strip()
    if len(line) > LONGEST_LINE or not line.startswith(b"{"):
        return None
    try:
        return encode_payload(_strict_json(line), what="output")
    except InvalidRun:
        return None


def _text(data: bytes) -> str:
    """Return the bytes as text, without the final line break. Bytes that are not UTF-8 are escaped: \\xff."""
    return data.decode(errors="backslashreplace").removesuffix("\n")


def _strict_json(data: bytes) -> Any:
    """Parse standard JSON. Refuse extensions and duplicate keys, which parsers treat differently."""
    try:
        return json.loads(data.decode(), object_pairs_hook=_object, parse_constant=_refuse)
    except UnicodeDecodeError as error:
        fault = f"byte {error.start} is not valid UTF-8"
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        fault = f"{what[:1].lower()}{what[1:]} at line {error.lineno}, column {error.colno}"
    except RecursionError:
        raise too_deep("output") from None
    except ValueError as error:
        fault = str(error)
    raise InvalidRun(f"the output is not JSON: {fault}", hint=_NOT_JSON, field="output")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        [(repeated, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {repeated[:64]!a} occurs twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
