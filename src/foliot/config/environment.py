"""Variables of the environment that stand over the file.

FOLIOT_<SECTION>_<KEY>   FOLIOT_SERVER_SLOTS=8 is [server] slots = 8
FOLIOT_STORAGE           [storage] url
FOLIOT_ENV               [server] mode
FOLIOT_TICK_MS ...       the names by which the scheduler's own settings are known

A variable that is empty counts as not set.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from foliot.config.document import Node
from foliot.config.expansion import Variable
from foliot.config.keys import SECTIONS
from foliot.config.problems import KeyPath, Problems
from foliot.errors import Place

ENVIRONMENT: Final = "environment"
PREFIX: Final = "FOLIOT_"
SHORT: Final[Mapping[str, tuple[str, str]]] = {
    "FOLIOT_STORAGE": ("storage", "url"),
    "FOLIOT_ENV": ("server", "mode"),
    "FOLIOT_TICK_MS": ("server", "tick_ms"),
    "FOLIOT_LOOKAHEAD_MS": ("server", "lookahead_ms"),
    "FOLIOT_MAX_CATCHUP_PER_TICK": ("server", "max_catchup_per_tick"),
    "FOLIOT_DEFAULT_OVERLAP_POLICY": ("defaults", "overlap"),
    "FOLIOT_DEFAULT_CATCHUP_POLICY": ("defaults", "catchup"),
    "FOLIOT_DEFAULT_JITTER_MS": ("defaults", "jitter_ms"),
}


class Environment(NamedTuple):
    """The variables that give one section. `names`: key -> variable."""

    names: Mapping[str, str]
    directory: Path

    def place(self, path: KeyPath) -> Place:
        name = str(path[1]) if len(path) > 1 else ""
        return Place(ENVIRONMENT, 0, self.names.get(name, ""))


def section_from(environ: Mapping[str, str], section: str) -> Node:
    """What the environment says about a section, as a table."""
    names = {key: name for name, (of, key) in SHORT.items() if of == section and environ.get(name)}
    names |= {key: name for key, name in _long_names(section).items() if environ.get(name)}
    values = {key: Variable(environ[name]) for key, name in names.items()}
    return Node(values, Environment(names, Path.cwd()), (section,))


def report_strangers(environ: Mapping[str, str], problems: Problems) -> None:
    """Warn of variables that look like settings and are none."""
    known = {name for section in SECTIONS for name in _long_names(section).values()} | set(SHORT)
    for section, schema in SECTIONS.items():
        prefix = f"{PREFIX}{section.upper()}_"
        for name in sorted(environ):
            if name.startswith(prefix) and name not in known:
                key = name.removeprefix(prefix).lower()
                place = Place(ENVIRONMENT, 0, name[:64])
                problems.warning(place, f"[{section}] has no key {key[:64]!a}", schema.advice(key))


def _long_names(section: str) -> dict[str, str]:
    """Key -> variable."""
    names = (name for key in SECTIONS[section] for name in (key.name, *key.aliases))
    return {name: f"{PREFIX}{section.upper()}_{name.upper()}" for name in names}
