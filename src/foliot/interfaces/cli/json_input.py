"""JSON that a call gives."""

import json
from pathlib import Path
from typing import Any

from foliot.errors import InvalidInput


def read_json(text: str, option: str) -> Any:
    """JSON, or @ and the name of a file with JSON. A fault is told with its place."""
    field = option.removeprefix("--")
    source, document = (text[1:], _content(text[1:], field)) if text.startswith("@") else (option, text)
    try:
        return json.loads(document)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{source} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}",
            hint=f'Quote it for the shell: {option} \'{{"name": "Ada"}}\'',
            field=field,
        ) from None
    except RecursionError:
        raise InvalidInput(f"{source} is nested too deep", hint="Use fewer levels, or text.", field=field) from None


def _content(path: str, field: str) -> str:
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"the file {path!a} could not be read: {error}",
            hint=f"Name a file with JSON in UTF-8: @{field}.json",
            field=field,
        ) from None
