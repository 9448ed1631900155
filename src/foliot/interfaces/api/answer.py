"""Encodes answers as JSON, with *** for possible secrets in the input and output of runs."""

from typing import Any, Final

import msgspec
from msgspec.structs import replace

from foliot.domain.secrets import public_document
from foliot.service.queries.run_view import RunView

DOCUMENTS: Final = frozenset({"input_payload", "output_payload", "payload", "params", "given", "output"})
"""The fields with the input or output of a run, wherever they are."""
_ENCODER: Final = msgspec.json.Encoder()


def encode(value: Any) -> bytes:
    """Return an answer as JSON. Most answers are runs, which need no search for the fields."""
    if isinstance(value, RunView):
        return _ENCODER.encode(public_run(value))
    return _ENCODER.encode(public(msgspec.to_builtins(value)))


def public_run(run: RunView) -> RunView:
    if run.input_payload is None and run.output_payload is None:
        return run
    shown = (public_document(run.input_payload), public_document(run.output_payload))
    return replace(run, input_payload=shown[0], output_payload=shown[1])


def public(plain: Any) -> Any:
    """Return plain JSON values with secrets masked in each document."""
    match plain:
        case dict():
            return {
                name: public_document(value) if name in DOCUMENTS else public(value) for name, value in plain.items()
            }
        case list() | tuple():
            return [public(item) for item in plain]
        case _:
            return plain
