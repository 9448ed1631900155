"""foliot serve on a terminal: the banner, and a log as text."""

from pathlib import Path
from signal import SIGINT

from foliot import Foliot
from foliot.domain.instant import DAY, SECOND
from foliot.engine.settings import Settings
from foliot.interfaces.cli.server.banner import banner
from foliot.testing import InlineEngine, VirtualClock
from tests.interfaces.terminal import Terminal


async def test_the_next_tick_is_in_the_future_also_if_schedules_are_behind() -> None:
    app = Foliot()
    app.shell("report", "true")
    app.schedule("often", "report", every=60)
    app.schedule("daily", "report", cron="0 0 * * *")
    clock = VirtualClock()
    async with InlineEngine(app, clock):
        clock.advance(DAY + 30 * SECOND)

        lines = await banner(await app.open(), Settings(label="test"), None, None, None)

    [upcoming] = [line.split() for line in lines if "next" in line]
    assert upcoming == ["next", "often", "at", "2026-01-02", "00:01:00Z"]


def test_serve_prints_a_banner_on_a_terminal_and_stops_on_a_signal(elsewhere: Path) -> None:
    job = '[[jobs]]\nid = "hourly"\ncommand = "true"\nschedule = "0 * * * *"\n'
    flow = '[[workflows]]\nid = "etl"\n[[workflows.steps]]\nname = "a"\ncommand = "true"\n'
    (elsewhere / "foliot.toml").write_text(f"[server]\nconcurrency = 3\n{job}{flow}")

    with Terminal("serve", directory=elsewhere) as terminal:
        terminal.read(until="Ctrl-C stops.")
        terminal.send(SIGINT)

    lines = [line.split(maxsplit=1) for line in terminal.screen.splitlines()]
    said = {line[0]: line[1] for line in lines if len(line) == 2}
    assert said["configuration"] == "foliot.toml: 1 job, 1 workflow, 1 schedule"
    assert said["storage"].endswith("/foliot.db")
    assert said["roles"] == "scheduler, coordinator, worker, api (3 slots, queue default)"
    assert said["next"].startswith("hourly:default at 20")
    assert "node stopped" in terminal.screen
    assert not any(line[0].startswith("{") for line in lines if line)


def test_the_banner_says_that_a_file_with_errors_is_not_applied(elsewhere: Path) -> None:
    job = '[[jobs]]\nid = "hourly"\ncommand = "true"\n'
    (elsewhere / "foliot.toml").write_text(job)
    with Terminal("serve", directory=elsewhere) as terminal:
        terminal.read(until="Ctrl-C stops.")
        terminal.send(SIGINT)
    (elsewhere / "foliot.toml").write_text(f"{job}crom = 1\nretrys = 1\n")

    with Terminal("serve", directory=elsewhere) as terminal:
        terminal.read(until="Ctrl-C stops.")
        terminal.send(SIGINT)

    assert "not applied: foliot.toml has 2 errors" in terminal.screen
