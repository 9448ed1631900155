"""foliot chain: what a running step says to its chain. Operators use `foliot chains`."""

from typing import Any, Final

import click
import msgspec

from foliot.channel.chains import ask_chain
from foliot.domain.chain.calls import facts_of
from foliot.domain.chain.decision import Decision
from foliot.domain.chain.message import ChainRequest, Decide, ReadStatus, Spawn, Spend
from foliot.domain.vocabulary.times import DURATION
from foliot.errors import InvalidInput
from foliot.interfaces.cli.command_group import lazy_group
from foliot.interfaces.cli.options import json_option
from foliot.interfaces.cli.output import print_result

_SECTIONS: Final = {
    "Commands": {
        "spawn": "Create a step of this chain, or a follow-up of this run.",
        "close": "Nothing is left to do: close the chain when this step ends.",
        "monitor": "Check again later.",
        "retry": "Execute the action again.",
        "escalate": "A person must act.",
        "spend": "Report tokens and cost.",
        "status": "Show what this step is told about its chain.",
    }
}
_HOMES: Final = {name: f"chain:{name}" for name in _SECTIONS["Commands"]}


@click.group("chain", cls=lazy_group(_SECTIONS, _HOMES))
def command() -> None:
    """Decide what follows in the chain that this run belongs to. Call it inside a job.

    It needs no configuration and no database: the worker gives each run a socket and a token that is valid for this
    run only. A step decides once, and the decision takes effect when it ends. Operators use: foliot chains
    """


@click.command("spawn")
@click.argument("name")
@click.option("--delay", "--in", "delay", metavar="DURATION", help="When it begins, such as 90s or 5m; at least 1s.")
@click.option("--payload", metavar="JSON", help="What the step gets.")
@click.option("--dedupe-key", default="", help="Of two open steps with this name and key only one is created.")
@click.option("--slot", default="", help="For a scout: which incident it found.")
@click.option("--deadline", metavar="TIME", help="For a scout: when the incident is over, in ISO 8601.")
@json_option("one object")
def spawn(
    name: str,
    delay: str | None,
    payload: str | None,
    dedupe_key: str,
    slot: str,
    deadline: str | None,
    as_json: bool,
) -> None:
    """Create one step. NAME is a stage of the chain; outside of a chain it is a job, run once as a follow-up.

    The limits of the class apply. A refusal ends this command with exit code 1 and changes nothing else, except that a
    violation of a limit opens the breaker of the class.
    """
    given = Spawn(
        name=name,
        delay=None if delay is None else DURATION.read(delay),
        payload=_json(payload),
        dedupe_key=dedupe_key,
        slot=slot,
        deadline=deadline,
    )
    facts = _ask(given)
    text = f"{facts['step']} begins at {facts['due_at']} as run {facts['run_id']}"
    print_result(text if facts["is_new"] else f"{text}; it existed already", facts, as_json=as_json)


def _json(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise InvalidInput(
            f"the payload is not JSON: {error}", hint="Quote text: '\"text\"'.", field="payload"
        ) from None


def _decide(decision: Decision, reason: tuple[str, ...], *, as_json: bool) -> None:
    facts = _ask(Decide(decision=decision, reason=" ".join(reason)))
    print_result(f"decided {decision}; it takes effect when this step ends", facts, as_json=as_json)


def _ask(request: ChainRequest) -> dict[str, Any]:
    return dict(facts_of(ask_chain(request)))


def _decision(decision: Decision, words: str) -> click.Command:
    @click.command(decision.value, help=f"{words}\n\nREASON is shown to people.")
    @click.argument("reason", nargs=-1)
    @json_option("one object")
    def run(reason: tuple[str, ...], as_json: bool) -> None:
        _decide(decision, reason, as_json=as_json)

    return run


close = _decision(Decision.CLOSE, "Nothing is left to do: the chain closes when this step ends.")
monitor = _decision(Decision.MONITOR, "Check again later: sooner the closer the deadline is.")
retry = _decision(Decision.RETRY, "Execute the action again, if a retry is left.")
escalate = _decision(Decision.ESCALATE, "A person must act: alert, and close the chain.")


@click.command("spend")
@click.option("--tokens", type=click.IntRange(min=0), default=0, help="Tokens of a language model.")
@click.option("--usd", type=click.FloatRange(min=0), default=0.0, help="Cost in dollars.")
@json_option("one object")
def spend(tokens: int, usd: float, as_json: bool) -> None:
    """Report what this step has spent. Further steps are refused when the budget of the class is used up."""
    facts = _ask(Spend(tokens=tokens, usd=usd))
    print_result(f"the chain has spent {facts['tokens']} tokens and {facts['usd']:g} USD", facts, as_json=as_json)


@click.command("status")
@json_option("one object")
def status(as_json: bool) -> None:
    """Show the chain of this run: its id, state, depth, attempt, expiry, and what is left."""
    facts = _ask(ReadStatus())
    text = "\n".join(f"{name}: {value}" for name, value in facts.items() if value is not None)
    print_result(text, facts, as_json=as_json)
