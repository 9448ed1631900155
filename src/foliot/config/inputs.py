"""Checks `inputs_from` of a fanout when a file or a document is read."""

from foliot.config.reading import Found, Reading
from foliot.domain.fanout.inputs import BUILT_IN, PLUGINS, parse_inputs, scheme_of
from foliot.errors import InvalidInput

_TEMPLATE = "{{"


def check_inputs(found: Found, reading: Reading) -> None:
    """Report a source that can never be resolved. A template becomes a source when its step starts."""
    if _TEMPLATE in found.value:
        return
    try:
        known = scheme_of(found.value) in BUILT_IN
        parse_inputs(found.value, BUILT_IN if known else [*BUILT_IN, *_installed()])
    except InvalidInput as error:
        reading.refuse(found.place, error)


def _installed() -> list[str]:
    """Return the schemes of installed packages. Looking for them takes a while."""
    from importlib.metadata import entry_points

    return [point.name for point in entry_points(group=PLUGINS)]
