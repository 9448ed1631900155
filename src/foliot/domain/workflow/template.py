"""Templates: references to data in the fields of a step, such as `{{ steps.extract.output.path }}`.

    params.NAME...              a parameter of the execution
    steps.NAME.output...        the output of an earlier step, or a part of it
    steps.NAME.result | exit_code | run_id
    execution.id | scheduled_for | workflow | version

A name with dots or other special characters is written in brackets and quotes of either kind:
`steps["load.eu"].output['file name']`.

A text that consists of one template becomes the value itself, with its type; in a longer text the value is inserted as
text. There are no expressions, filters or loops, and inserted values are not parsed again. Templates are allowed in a
step's payload, in environment variables, headers, bodies and prompts, but not in a command: a command must read such
data from an environment variable, so that the shell does not execute it.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from foliot.domain.workflow.output import MISSING, follow
from foliot.errors import InvalidRun, Problem, shortened, suggest

_TEMPLATE: Final = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_PART: Final = r"""\.([A-Za-z0-9_@:-]+)|\["([^"]*)"\]|\['([^']*)'\]"""
_PARTS: Final = re.compile(_PART)
_REFERENCE: Final = re.compile(rf"\s*([A-Za-z_][A-Za-z0-9_-]*)((?:{_PART})+)\s*")
SOURCES: Final = ("params", "steps", "execution")
STEP_FIELDS: Final = ("output", "result", "exit_code", "run_id")
_STEP_PATHS: Final = frozenset((field,) for field in STEP_FIELDS)
EXECUTION_FIELDS: Final = ("id", "scheduled_for", "workflow", "version")


class Reference(NamedTuple):
    """The reference in one template: `steps` `extract` `output` `path`."""

    source: str
    name: str
    rest: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str) -> "Reference | None":
        match = _REFERENCE.fullmatch(text)
        if match is None:
            return None
        name, *rest = ("".join(part) for part in _PARTS.findall(match[2]))
        return cls(match[1], name, tuple(rest))


def has_template(value: Any) -> bool:
    return next(references(value), None) is not None


def references(value: Any) -> Iterator[tuple[str, Reference | None]]:
    """Yield the text of every template in a value with its reference. None: the text is not a valid reference."""
    for text in _texts(value):
        yield from ((found, Reference.read(found)) for found in _TEMPLATE.findall(text))


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a value, at any depth."""
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from _texts(item)
        case list() | tuple():
            for item in value:
                yield from _texts(item)


def _unclosed(value: Any) -> Iterator[str]:
    """Yield each template that is opened but not closed."""
    for text in _texts(value):
        _, opening, rest = _TEMPLATE.sub("", text).partition("{{")
        if opening:
            yield opening + rest


def problems_of(
    value: Any, *, is_before: Callable[[str], bool], steps: Collection[str], params: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield the problems of the templates of a step. `is_before` returns whether a step comes before this one."""
    earlier = _Earlier(is_before, steps)
    for text in _unclosed(value):
        yield Problem.error(f"{text[:100]}: the template is not closed", "Add }} at its end.")
    for text, reference in references(value):
        found = _invalid() if reference is None else _problem(reference, earlier, params)
        if found is not None:
            yield found._replace(message=f"{{{{{text[:100]}}}}}: {found.message}")


def render(value: Any, sources: Mapping[str, Any]) -> Any:
    """Return the value with every template replaced. Raise InvalidRun if a template has no value."""
    match value:
        case str():
            return _render_text(value, sources)
        case dict():
            return {name: render(item, sources) for name, item in value.items()}
        case list() | tuple():
            return [render(item, sources) for item in value]
        case _:
            return value


def render_texts(value: Any, sources: Mapping[str, Any]) -> Any:
    """Return fields that must be text, such as variables, headers, bodies and prompts, with templates replaced."""
    if isinstance(value, dict):
        return {name: render_texts(item, sources) for name, item in value.items()}
    return _as_text(render(value, sources))


def _render_text(text: str, sources: Mapping[str, Any]) -> Any:
    whole = _TEMPLATE.fullmatch(text)
    if whole is not None and "{{" not in whole[1]:
        return _value(whole[1], sources)
    return _TEMPLATE.sub(lambda match: _as_text(_value(match[1], sources)), text)


def _value(text: str, sources: Mapping[str, Any]) -> Any:
    reference = Reference.read(text)
    found = MISSING if reference is None else follow(sources, (reference.source, reference.name, *reference.rest))
    if found is MISSING:
        raise InvalidRun(
            f"{{{{{text[:100]}}}}} has no value",
            hint="Look at the output of the earlier step: foliot show RUN.",
            field="payload",
        )
    return found


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _invalid() -> Problem:
    return Problem.error("not a valid reference", f"Write source.name, where source is one of {', '.join(SOURCES)}.")


class _Earlier(NamedTuple):
    """The steps that come before the checked one."""

    is_before: Callable[[str], bool]
    steps: Collection[str]

    def problem(self, reference: Reference) -> Problem:
        """Return why the template cannot use this step, with the nearest name as a hint."""
        name = reference.name
        earlier = [known for known in self.steps if self.is_before(known)]
        if name in self.steps or (_quoted(reference, self.steps) and not self.quoted(reference)):
            hint = suggest(name, earlier, otherwise="Name an earlier step, or let this step come after it.")
            return Problem.error(f'step "{name}" does not come before this one', self.quoted(reference) or hint)
        there_are = f"The steps are: {shortened(', '.join(dict.fromkeys([*self.steps][:20])), 400)}."
        hint = suggest(name, earlier, otherwise=suggest(name, self.steps, otherwise=there_are))
        return Problem.error(f'step "{name}" does not exist', self.quoted(reference) or hint)

    def quoted(self, reference: Reference) -> str:
        return _quoted(reference, filter(self.is_before, self.steps))


def _problem(reference: Reference, earlier: _Earlier, params: Mapping[str, Any]) -> Problem | None:
    source, name, rest = reference
    match source:
        case "params" if name not in params:
            return Problem.error(f'parameter "{name}" does not exist', _named(reference, params))
        case "steps" if not earlier.is_before(name):
            return earlier.problem(reference)
        case "steps" if rest[:1] not in _STEP_PATHS:
            hint = earlier.quoted(reference) or "Use one of these, or a part of the output."
            return Problem.error(f"a step has {', '.join(STEP_FIELDS)}", hint)
        case "execution" if name not in EXECUTION_FIELDS or rest:
            return Problem.error(f"an execution has {', '.join(EXECUTION_FIELDS)}", "Use one of these.")
        case "params" | "steps" | "execution":
            return None
    hint = suggest(source, SOURCES, otherwise="Begin with one of these.")
    return Problem.error(f'"{source}" is not one of {", ".join(SOURCES)}', hint)


def _named(reference: Reference, params: Mapping[str, Any]) -> str:
    """Return a hint with the closest parameter, or with all parameters."""
    there_are = (
        f"The parameters are: {shortened(', '.join(list(params)[:20]), 400)}."
        if params
        else "The workflow has no parameters: define them in params."
    )
    return _quoted(reference, params) or suggest(reference.name, params, otherwise=there_are)


def _quoted(reference: Reference, names: Iterable[str]) -> str:
    """Return a hint to quote a name with dots, if the reference contains one. Empty: it does not."""
    path = (reference.name, *reference.rest)
    dotted = {".".join(path[:end]) for end in range(2, len(path) + 1)}
    found = next((name for name in names if name in dotted), None)
    return "" if found is None else f'Quote a name with dots: {reference.source}["{found}"].'
