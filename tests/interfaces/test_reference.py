"""docs/reference/cli.md describes every command and every option, and no others."""

import re
from pathlib import Path

import click

from foliot.domain.run.logs import LogState
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status
from foliot.domain.schedule.tick import REASONS
from foliot.interfaces.cli import cli
from tests.cases import for_each
from tests.interfaces.commands import all_commands, command_of

PAGE = (Path(__file__).parents[2] / "docs/reference/cli.md").read_text()
CONTEXT = click.Context(cli, info_name="foliot")
COMMANDS = all_commands()
GENERAL = {"Options of many commands", "Naming a run"}


def sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_the_reference_has_a_section_for_every_command_and_no_other() -> None:
    assert sorted(sections().keys() - GENERAL) == COMMANDS


@for_each("name", COMMANDS)
def test_the_reference_describes_every_option(name: str) -> None:
    options = [parameter for parameter in command_of(name).params if isinstance(parameter, click.Option)]
    rows = re.findall(r"^\| `(--[a-z-]+)`", sections()[name], re.MULTILINE)
    shared = re.findall(r"^Also: (.*?)\.", sections()[name], re.MULTILINE)
    described = {*rows, *(word.strip("`") for line in shared for word in line.split(", "))}

    assert described == {max(option.opts, key=len) for option in options}


@for_each("name", COMMANDS)
def test_the_reference_names_every_short_option(name: str) -> None:
    shared = {"-c"}
    short = {opt for option in command_of(name).params for opt in option.opts if re.fullmatch("-[a-z]", opt)}

    assert {opt for opt in short - shared if f"short `{opt}`" not in sections()[name]} == set()


@for_each("name", COMMANDS)
def test_the_reference_shows_the_usage_of_every_command(name: str) -> None:
    command = command_of(name)
    pieces = command.collect_usage_pieces(click.Context(command, CONTEXT, info_name=name))[1:]

    assert f"\nfoliot {' '.join([name, *pieces])}\n" in sections()[name]


@for_each("name", GENERAL)
def test_the_reference_has_its_general_sections(name: str) -> None:
    assert sections()[name].strip()


def rows(title: str, page: str) -> set[tuple[str, ...]]:
    """Return the words in backticks at the beginning of the rows of a section."""
    section = page.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("| `")]
    return {tuple(cell.strip(" `") for cell in line[:-1]) for line in lines}


def test_every_status_and_reason_is_in_the_reference() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/reasons.md").read_text()

    ticks = {(str(outcome), str(reason)) for outcome, reasons in REASONS.items() for reason in reasons}
    assert rows("Runs", page) == {(str(word),) for word in [*Status, *Reason]}
    assert rows("Ticks", page) == ticks
    assert rows("Logs", page) == {(str(state),) for state in LogState}
