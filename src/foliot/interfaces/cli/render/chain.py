"""Chains and their classes, as text."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from foliot.domain.instant import SECOND
from foliot.interfaces.cli.render.format import exact_span, json_line, moment
from foliot.interfaces.cli.render.table import Column, print_fields, print_section, print_table
from foliot.service.queries.chain_view import ChainDetailView, ChainStepView, ChainView, ClassView
from foliot.service.queries.job_view import JobView

_MAIN: Final = ("command", "argv", "url", "call", "prompt", "items", "inputs_from")
"""The fields of a specification that say what is done."""
_OF_CLASS: Final = ("window", "grace", "good_checks")
_DURATIONS: Final = frozenset({"lifetime", "spawn_window", "class_window", "window", "grace", "cooldown"})
_CLASSES: Final = (
    Column("CLASS", is_whole=True),
    Column("BREAKER", stays=True),
    Column("ACTIVE"),
    Column("FAILURES"),
    Column("SPENT TODAY"),
    Column("STAGES"),
)
_CHAINS: Final = (
    Column("CHAIN", is_whole=True),
    Column("STATE", stays=True),
    Column("ARMED"),
    Column("EXPIRES"),
    Column("STEPS"),
    Column("SPENT"),
    Column("RUN", is_whole=True),
)
_STEPS: Final = (
    Column("STEP", is_whole=True),
    Column("DEPTH"),
    Column("TRY"),
    Column("STATUS", stays=True),
    Column("BEGINS"),
    Column("DECIDED"),
    Column("BECAUSE"),
    Column("RUN", is_whole=True),
)
_MOVES: Final = (Column("TIME"), Column("STATE", stays=True), Column("CAUSE"))
_REFUSED: Final = (Column("TIME"), Column("STEP"), Column("CODE", stays=True), Column("PROBLEM"))


def print_classes(classes: Sequence[ClassView]) -> None:
    print_table(_CLASSES, [_class_row(one) for one in classes])


def _class_row(one: ClassView) -> tuple[object, ...]:
    most = "" if one.limits is None else f" of {one.limits.max_concurrent}"
    return (
        one.id,
        _breaker(one),
        f"{len(one.active_chains)}{most}",
        one.failures,
        _spent(one.tokens_today, one.usd_today),
        ", ".join(one.stages) or "follow-ups of a job",
    )


def _breaker(one: ClassView) -> str:
    if one.stopped:
        return "stopped"
    return (
        f"open until {moment(one.resume_at)}: {one.cause}" if one.breaker == "open" else one.breaker.replace("_", " ")
    )


def _spent(tokens: int, usd: float) -> str:
    parts = [f"{tokens} tokens" if tokens else "", f"{usd:g} USD" if usd else ""]
    return ", ".join(part for part in parts if part) or "-"


def class_fields(job: JobView) -> list[tuple[str, object]]:
    """Return the definition of a class: a line for each stage, and the limits that differ from the defaults."""
    stages: Mapping[str, Any] = job.spec.get("stages", {})
    limits = {**job.spec.get("limits", {}), **{name: job.spec[name] for name in _OF_CLASS if name in job.spec}}
    breaker: Mapping[str, Any] = job.spec.get("breaker", {})
    return [
        *((f"  {name}", _stage_text(stage)) for name, stage in stages.items()),
        ("  limits", _settings(limits)),
        ("  breaker", _settings(breaker)),
    ]


def _stage_text(stage: Mapping[str, Any]) -> str:
    if "job" in stage:
        work = f"job {stage['job']}"
    else:
        kind, spec = stage.get("kind", "shell"), stage.get("spec", {})
        main = next((spec[name] for name in _MAIN if name in spec), "")
        work = f"{kind}: {main if isinstance(main, str) else json_line(main)}"
    delay = f", {exact_span(stage['delay'] // SECOND)} after its cause" if "delay" in stage else ""
    return f"{work}{delay}"


def _settings(given: Mapping[str, Any]) -> str | None:
    """Return options as text. Durations are stored as milliseconds."""
    texts = [f"{name}={exact_span(value // SECOND) if name in _DURATIONS else value}" for name, value in given.items()]
    return ", ".join(texts) or None


def print_chains(chains: Sequence[ChainView], *, title: str = "") -> None:
    rows = [_chain_row(one) for one in chains]
    if title:
        print_section(title, _CHAINS, rows)
    else:
        print_table(_CHAINS, rows)


def _chain_row(one: ChainView) -> tuple[object, ...]:
    state = one.state.replace("_", " ")
    return (
        one.id,
        state if one.outcome is None else f"{state} ({one.outcome.replace('_', ' ')})",
        moment(one.armed_at),
        moment(one.expires_at),
        one.step_count,
        _spent(one.tokens, one.usd),
        one.run_id,
    )


def print_chain(page: ChainDetailView) -> None:
    """Print the timeline of a chain."""
    limits = page.limits
    budget = [f"{limits.tokens} tokens" if limits.tokens else "", f"{limits.usd:g} USD" if limits.usd else ""]
    of_budget = ", ".join(part for part in budget if part)
    print_fields(
        [
            ("chain", page.id),
            ("class", page.class_id),
            ("state", page.state.replace("_", " ")),
            ("outcome", None if page.outcome is None else page.outcome.replace("_", " ")),
            ("because", page.cause),
            ("armed", moment(page.armed_at)),
            ("deadline", None if page.deadline is None else moment(page.deadline)),
            ("expires", moment(page.expires_at)),
            ("steps", f"{page.step_count} of {limits.max_children}"),
            ("spent", _spent(page.tokens, page.usd) + (f" of {of_budget}" if of_budget else "")),
            ("run", page.run_id),
        ]
    )
    print_section(
        "States", _MOVES, [(moment(one.at), one.state.replace("_", " "), one.cause) for one in page.state_changes]
    )
    print_section("Steps", _STEPS, [_step_row(step) for step in page.steps])
    print_section(
        "Refused requests",
        _REFUSED,
        [(moment(one.at), one.step, one.code, one.message) for one in page.refused_requests],
    )


def _step_row(step: ChainStepView) -> tuple[object, ...]:
    decided = "-" if step.decision is None else step.decision + (f": {step.reason}" if step.reason else "")
    begins = moment(step.started_at or step.due_at)
    return step.key, step.depth, step.attempt, step.status, begins, decided, step.cause, step.run_id
