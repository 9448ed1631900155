"""foliot chains: what operators see of chains, and how they stop them. A running step uses `foliot chain`."""

import getpass
from pathlib import Path
from typing import Final

import click

from foliot.domain.run.lease import CancelAnswer
from foliot.interfaces.cli.batch import Result, run_batch
from foliot.interfaces.cli.command_group import check_option_order, lazy_group
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import NAMING, json_option, storage_options
from foliot.interfaces.cli.output import print_json, print_json_lines, print_note, print_result
from foliot.interfaces.cli.render.chain import print_chain, print_chains, print_classes
from foliot.interfaces.cli.render.text import counted
from foliot.service.operations import Operations
from foliot.service.queries.chain_view import ChainView, ClassView
from foliot.service.queries.documents import as_json as document_of

_SECTIONS: Final = {
    "Commands": {
        "list": "List chains, the newest first.",
        "show": "Show the timeline of a chain: its steps, their causes, its budget.",
        "stop": "Stop chains.",
        "stop-class": "Stop classes, and all their chains.",
        "resume": "Let stopped classes arm chains again.",
        "reset": "Close the breaker of a class before its cooldown is over.",
    }
}
_HOMES: Final = {
    name: f"chains:{attribute}"
    for name, attribute in {
        "list": "list_chains",
        "show": "show",
        "stop": "stop",
        "stop-class": "stop_class",
        "resume": "resume",
        "reset": "reset",
    }.items()
}
_ENDINGS: Final = {
    CancelAnswer.TERMINAL: "is closed already",
    CancelAnswer.PENDING: "is being stopped already",
    CancelAnswer.NOT_FOUND: "does not exist any more",
}


@click.group("chains", cls=lazy_group(_SECTIONS, _HOMES), invoke_without_command=True, subcommand_metavar="[COMMAND]")
@storage_options
@json_option("one object per class")
@click.pass_context
def command(context: click.Context, storage: str | None, config: Path | None, as_json: bool) -> None:
    """Show the classes of chains, their breakers, and the chains that are active.

    A running step decides what follows with: foliot chain
    """
    if context.invoked_subcommand is not None:
        check_option_order(context, context.invoked_subcommand)
        return

    async def read(services: Operations) -> tuple[list[ClassView], list[ChainView]]:
        return await services.queries.chains.classes(), await services.queries.chains.open()

    classes, active = with_services(storage, config, read)
    if as_json:
        print_json_lines(map(document_of, classes))
        return
    print_classes(classes)
    print_chains(active, title="Active chains")
    if not classes:
        print_note("no classes of chains: declare one with [[chains]], see docs/howto/run-a-chain.md")


@click.command("list")
@click.option("--class", "class_id", metavar="CLASS", help="Only chains of this class.")
@click.option("--open", "is_open", is_flag=True, help="Only chains that are not closed.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many at most.")
@storage_options
@json_option("one object per line")
def list_chains(
    class_id: str | None, is_open: bool, limit: int, storage: str | None, config: Path | None, as_json: bool
) -> None:
    """List chains, the newest first."""

    async def read(services: Operations) -> list[ChainView]:
        chains = services.queries.chains
        return await (chains.open if is_open else chains.page)(class_id=class_id, limit=limit)

    found = with_services(storage, config, read)
    if as_json:
        print_json_lines(map(document_of, found))
        return
    print_chains(found)
    if not found:
        print_note("no chains")


@click.command("show", epilog=NAMING)
@click.argument("chain")
@storage_options
@json_option("one object")
def show(chain: str, storage: str | None, config: Path | None, as_json: bool) -> None:
    """Show a chain, given by its id or the id of its run: its timeline from scout to close, and what it has spent."""
    found = with_services(storage, config, lambda services: services.queries.chains.get(chain))
    if as_json:
        print_json(document_of(found))
    else:
        print_chain(found)


@click.command("stop", epilog=NAMING)
@click.argument("chains", nargs=-1, required=True)
@storage_options
@json_option("one object per chain")
def stop(chains: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Stop chains, given by their ids or the ids of their runs: nothing of them starts any more."""

    async def run(services: Operations, name: str) -> Result:
        answer = await services.chains.stop(name)
        return {"id": name, "result": answer.value, "text": f"{name} {_ENDINGS.get(answer, 'is stopped')}"}

    return run_batch(storage, config, chains, run, as_json=as_json)


@click.command("stop-class")
@click.argument("classes", nargs=-1, required=True)
@storage_options
@json_option("one object per class")
def stop_class(classes: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Stop classes: their chains are stopped, and no new one is armed until the class is resumed."""

    async def run(services: Operations, name: str) -> Result:
        count = await services.chains.stop_class(name)
        return {
            "id": name,
            "result": "stopped",
            "stopped_chains": count,
            "text": f"{name} is stopped, with {counted(count, 'active chain')}",
        }

    return run_batch(storage, config, classes, run, as_json=as_json)


@click.command("resume")
@click.argument("classes", nargs=-1, required=True)
@storage_options
@json_option("one object per class")
def resume(classes: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Let stopped classes arm chains again."""

    async def run(services: Operations, name: str) -> Result:
        await services.chains.resume_class(name)
        return {"id": name, "result": "resumed", "text": f"{name} may arm chains again"}

    return run_batch(storage, config, classes, run, as_json=as_json)


@click.command("reset")
@click.argument("name", metavar="CLASS")
@click.option("--reason", required=True, help="What has been fixed. Stored with your name.")
@storage_options
@json_option("one object")
def reset(name: str, reason: str, storage: str | None, config: Path | None, as_json: bool) -> None:
    """Close the breaker of a class before its cooldown is over."""
    actor = f"cli:{getpass.getuser()}"
    with_services(storage, config, lambda services: services.chains.reset(name, actor=actor, reason=reason))
    print_result(f"the breaker of {name} is closed", {"id": name, "result": "reset"}, as_json=as_json)
