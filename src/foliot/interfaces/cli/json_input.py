"""JSON that a call gives."""

import json
import sys
from pathlib import Path
from typing import Any

from foliot.errors import InvalidInput, shortened


def read_json(text: str, option: str) -> Any:
    """JSON, or @ and the name of a file with JSON. A fault is told with its place."""
    field = option.removeprefix("--")
    source, document = (shortened(text[1:]), _content(text[1:], field)) if text.startswith("@") else (option, text)
    try:
        return json.loads(document)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{source} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}",
            hint=f'Quote it for the shell: {option} \'{{"name": "Ada"}}\'',
            field=field,
        ) from None
    except ValueError:
        digits = f"a number of more than {sys.get_int_max_str_digits()} digits"
        raise InvalidInput(f"{source} holds {digits}", hint="Write it as text, in quotes.", field=field) from None
    except RecursionError:
        raise InvalidInput(f"{source} is nested too deep", hint="Use fewer levels, or text.", field=field) from None


def _content(path: str, field: str) -> str:
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"the file {shortened(path)!a} could not be read: {shortened(str(error))}",
            hint=f"Name a file with JSON in UTF-8: @{field}.json",
            field=field,
        ) from None
