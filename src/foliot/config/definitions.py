"""What jobs, steps and workflows have in common: an id, options, a definition of the domain."""

from collections.abc import Collection, Iterable
from typing import Any, Final

from foliot.config.document import Node
from foliot.config.expansion import has_variables
from foliot.config.keys import DESCRIPTION, OF_KINDS, OPTIONS
from foliot.config.kinds import Kind
from foliot.config.schema import Fields, Found, Key, Reading
from foliot.domain.deploy.deployment import FILE
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.input.job import job_options
from foliot.domain.job.job import JobSpec, Options, check_name, overlay
from foliot.domain.job.kinds.agent import ARGS as AGENT_ARGS
from foliot.errors import InvalidInput, Place

_MAY_BE_SECRET: Final = frozenset({"url", "body", "json", "payload", "cli", "prompt_args"})
"""Keys whose variables are not for everybody. Those of `env` and `headers` are never shown."""
_SECRETIVE: Final = tuple(key for key in (*OF_KINDS, *DESCRIPTION) if key.name in _MAY_BE_SECRET)
_DESCRIBED: Final = {key.name: key.field for key in DESCRIPTION}
_NONE_IF_ZERO: Final = frozenset({"timeout_sec", "max_concurrent"})


def read_id(fields: Fields, node: Node, what: str, example: str, reading: Reading) -> JobId:
    """The id; for one that is missing or wrong, something to go on with."""
    if "id" not in node.value:
        reading.problems.error(node.place, f"the {what} has no id", f'Give it one, such as id = "{example}".')
    given = fields.value("id", what)
    try:
        check_name("id", given)
    except InvalidInput as error:
        reading.refuse(fields["id"].place, error)
        return JobId(what)
    return JobId(given)


def read_options(
    fields: Fields, reading: Reading, *, keys: Iterable[Key] = OPTIONS, max_concurrent: int | None = None
) -> Options:
    """How the runs are handled, checked key by key so that all that is wrong is said."""
    given: dict[str, Any] = {}
    for key in keys:
        if key.name in fields:
            given |= _option(key, fields[key.name], reading)
    bare = Options(max_concurrent=max_concurrent)
    return overlay(bare, job_options(**given)) if given else bare


def _option(key: Key, found: Found, reading: Reading) -> dict[str, Any]:
    """One option, or nothing where it is wrong."""
    option = {key.field: None if key.name in _NONE_IF_ZERO and not found.value else found.value}
    try:
        overlay(Options(), job_options(**option)).check()
    except InvalidInput as error:
        reading.refuse(found.place, error)
        return {}
    return option


def definition(kind: Kind, spec: dict[str, Any], options: Options, fields: Fields, gate: Gate | None = None) -> JobSpec:
    described: dict[str, Any] = fields.take(_DESCRIBED)
    for name in ("tags", "labels"):
        described[name] = tuple(described.get(name, ()))
    return JobSpec(
        kind=kind.name,
        inner_kind=kind.runner if kind.is_gate else "",
        spec=spec,
        options=options,
        enabled=fields.value("enabled", True),
        source=FILE,
        gate=gate,
        written=_written(fields, spec),
        **described,
    )


def _written(fields: Fields, spec: Collection[str]) -> dict[str, Any]:
    """What may hold a secret and has variables in it, with their names instead of their values."""
    raw = [(key, fields[key.name].node.value) for key in _SECRETIVE if key.name in fields]
    written = {key.field: key.read(value) for key, value in raw if has_variables(value)}
    args = fields["args"].node.value if "args" in fields else {}
    if not isinstance(args, dict):
        return written
    of_agent = {name: args[name] for name in AGENT_ARGS if name in args and name in spec}
    return written | {name: value for name, value in of_agent.items() if has_variables(value)}


def warn_of_workers(fields: Fields, options: Options, queues: Collection[str] | None, reading: Reading) -> None:
    """Say which wishes for workers come to nothing. `queues`: those of this server; None if it has no worker."""
    for name in ("labels", "executor"):
        if fields.value(name) not in (None, [], "local"):
            hint = "Until then any worker takes the runs."
            say_later(fields[name].place, "choosing workers by labels", hint, reading)
    if "queue" in fields and queues is not None and options.queue not in queues:
        hint = f"Add it to [server] queues, or start a worker for it: foliot worker --queue {options.queue}"
        message = f'this server does not work on queue "{options.queue}"'
        reading.problems.warning(fields["queue"].place, message, hint)


def say_later(place: Place, what: str, hint: str, reading: Reading) -> None:
    reading.problems.warning(place, f"{what} arrives with a later version", hint)
