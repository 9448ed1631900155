"""What of a definition is not shown: values that may be secrets."""

import re
from typing import Any, Final

HIDDEN: Final = "***"

_TABLES: Final = frozenset({"env", "headers"})
"""Fields of a job that hold what only the job should know, by names that may be shown."""
_CREDENTIALS: Final = re.compile(r"(?<=//)[^/?#]*@")


def public_value(field: str, value: Any) -> Any:
    """The value of a field of a job, as anybody may see it."""
    if field in _TABLES:
        return dict.fromkeys(value, HIDDEN) if isinstance(value, dict) else HIDDEN
    return _CREDENTIALS.sub(f"{HIDDEN}@", value) if field == "url" and isinstance(value, str) else value
