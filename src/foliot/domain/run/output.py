"""Outputs: what a job that only prints or writes bytes gives to those that come after it."""

import json
from collections import Counter
from typing import Any, Final, Literal, NoReturn

from foliot.domain.run.payload import MAX_BYTES, encode_payload, too_deep
from foliot.errors import InvalidRun

OutputMode = Literal["none", "text", "json", "file"]
"""Nothing; what it printed, as text or read as JSON; the JSON in a file that it wrote."""

_TOO_LARGE: Final = "Store it elsewhere and give a reference to it."
_NOT_JSON: Final = "Let it give one JSON value and nothing else; print messages to stderr."


def read_output(mode: OutputMode, data: bytes) -> bytes | None:
    """The output as JSON, from the bytes that a job gave. None is no output at all, as JSON's null is."""
    check_size(len(data))
    if mode == "text":
        return encode_payload(_text(data), what="output")
    return encode_payload(_strict_json(data), what="output")


def check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise InvalidRun(f"the output has {size} bytes, more than {MAX_BYTES}", hint=_TOO_LARGE, field="output")


def _text(data: bytes) -> str:
    """Without the line break that ends it. What is no text shows as the bytes it is: \\xff."""
    return data.decode(errors="backslashreplace").removesuffix("\n")


def _strict_json(data: bytes) -> Any:
    """What JSON says, and nothing that only some readers understand or that they understand differently."""
    try:
        return json.loads(data.decode(), object_pairs_hook=_object, parse_constant=_refuse)
    except UnicodeDecodeError as error:
        fault = f"byte {error.start} is no text in UTF-8"
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
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice[:64]!a} is there twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number of JSON")
