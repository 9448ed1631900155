"""foliot results: print, from inside the reducer of a fanout, what the children returned."""

import json
from typing import Any

import click

from foliot.channel.results import ChannelResults
from foliot.interfaces.cli.output import print_json_lines, print_line


@click.command("results")
@click.option("--failed", is_flag=True, help="Only items that failed, each with its status and the reason.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each item.")
def command(failed: bool, as_json: bool) -> None:
    """Print the outputs of the children of a fanout, in the order of the items.

    Call it inside the reducer. An output that is text is printed as it is, any other as JSON; children without an
    output print nothing. It needs no configuration and no database: the worker gives each job a socket, in
    FOLIOT_CHANNEL, and a token for this run, in FOLIOT_RUN_TOKEN.
    """
    for page in ChannelResults(failed=failed).pages():
        if as_json:
            print_json_lines(page)
        elif lines := [_failure(record) if failed else _text(record["output"]) for record in _shown(page, failed)]:
            print_line("\n".join(lines))


def _shown(page: list[dict[str, Any]], failed: bool) -> list[dict[str, Any]]:
    return page if failed else [record for record in page if record["output"] is not None]


def _text(value: Any) -> str:
    return value.removesuffix("\n") if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _failure(record: dict[str, Any]) -> str:
    item = record["item_base64"] if "item_base64" in record else _text(record["item"])
    reason = (record["error"] or "").strip().rpartition("\n")[2]
    return f"{item}\t{record['status']}\t{reason}"
