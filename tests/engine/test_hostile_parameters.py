"""Parameters and payloads stay data, even if a shell could execute them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.errors import InvalidDocument
from foliot.testing.inline import InlineEngine

HOSTILE = (
    "$(touch {canary})",
    "`touch {canary}`",
    "; touch {canary} #",
    "' && touch {canary} && echo '",
    '" ; touch {canary} ; "',
    "\ntouch {canary}\nx",
    "${{IFS}}&&touch${{IFS}}{canary}",
    "{{{{ params.other }}}}",
)
PRINT = 'printf %s "$TEXT"'


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Path]:
    """A file that exists only if a parameter was executed as a command."""
    yield tmp_path / "canary"
    assert list(tmp_path.glob("canary")) == []


@pytest.mark.proves("Z19")
@pytest.mark.parametrize("hostile", HOSTILE)
async def test_a_parameter_reaches_commands_unchanged_and_is_never_executed(hostile: str, canary: Path) -> None:
    """Through a variable, standard input, and the output of a step."""
    given = hostile.format(canary=canary)
    app = Foliot()
    first = {"name": "first", "command": PRINT, "output": "text", "env": {"TEXT": "{{ params.text }}"}}
    second = {"name": "second", "after": "first", "command": PRINT, "env": {"TEXT": "{{ steps.first.output }}"}}
    third = {"name": "third", "after": "first", "command": "cat", "stdin": "{{ params.text }}"}
    async with InlineEngine(app) as engine:
        flow = {"id": "flow", "params": {"text": "", "other": "read again"}, "steps": [first, second, third]}
        await app.workflows.deploy(flow)
        await app.workflows.start("flow", {"text": given})
        await engine.join()
        runs = [run for name in ("first", "second", "third") for run in await app.runs.page(job=f"flow.{name}")]
        printed = [(await app.runs.output(run.id)).decode() for run in runs]

    assert printed == [given] * 3


@pytest.mark.proves("Z19")
@pytest.mark.parametrize("hostile", HOSTILE)
async def test_a_payload_reaches_a_command_unchanged_and_is_never_executed(hostile: str, canary: Path) -> None:
    given = hostile.format(canary=canary)
    app = Foliot()
    app.shell("job", 'printf %s "$FOLIOT_PAYLOAD"', output="json")
    async with InlineEngine(app) as engine:
        run_id = await app.enqueue("job", {"text": given})
        await engine.join()
        run = await app.runs.get(run_id)

    assert run.output_payload == {"text": given}


@pytest.mark.proves("Z19")
@pytest.mark.parametrize("work", [{"command": "echo {{ params.text }}"}, {"argv": ["echo", "{{ params.text }}"]}])
async def test_a_parameter_cannot_be_written_into_a_command(work: dict[str, object]) -> None:
    app = Foliot()
    async with InlineEngine(app):
        with pytest.raises(InvalidDocument, match="a template is not allowed in"):
            await app.workflows.deploy({"id": "flow", "params": {"text": ""}, "steps": [{"name": "a", **work}]})
