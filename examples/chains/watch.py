"""Watch a chain arm, act, verify, taper off and vanish.

    python examples/chains/watch.py auction               in two minutes
    python examples/chains/watch.py ci --speed 40         in one
    python examples/chains/watch.py ci-hopeless           an action that cannot help, so that a person must act

The durations of the example are divided by the speed, and the world of the example runs as much faster.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EXAMPLES = ("auction", "ci", "ci-hopeless", "index")
FASTEST = 200
UNITS = {"s": 1, "m": 60, "h": 3600}
DURATION = re.compile(r'"(\d+)([smh])"')
FOLIOT = (sys.executable, "-m", "foliot")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("example", choices=EXAMPLES)
    parser.add_argument("--speed", type=float, default=20.0, help="How much faster than real time (default: 20).")
    options = parser.parse_args()
    if not 1 <= options.speed <= FASTEST:
        parser.error(f"--speed must be 1 to {FASTEST}: no delay of a chain is shorter than a second")
    with tempfile.TemporaryDirectory(prefix="foliot-chain-") as place:
        prepare(Path(place), options.example, options.speed)
        environment = {**os.environ, "FOLIOT_STORAGE": f"sqlite:///{place}/foliot.db"}
        server = subprocess.Popen(  # noqa: S603 - our own command
            (*FOLIOT, "serve", "--config", "foliot.toml"),
            cwd=place,
            env=environment,
            stdout=(Path(place) / "server.log").open("wb"),
            stderr=subprocess.STDOUT,
        )
        try:
            return watch(server, Path(place), environment)
        except KeyboardInterrupt:
            return 130
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def prepare(place: Path, example: str, speed: float) -> None:
    """Write the configuration of the example, faster, and its world."""

    def faster(found: re.Match[str]) -> str:
        return f'"{max(round(int(found[1]) * UNITS[found[2]] / speed), 1)}s"'

    text = DURATION.sub(faster, (HERE / f"{example}.toml").read_text())
    variables = f'SPEED = "{speed}", START = "{time.time()}", WORLD = "{place}/world.json"'
    text = re.sub(r"^(command .*)$", rf"\1\nenv = {{ {variables} }}", text, flags=re.MULTILINE)
    (place / "foliot.toml").write_text(text)
    (place / "world.py").write_text((HERE / "world.py").read_text())


def watch(server: subprocess.Popen[bytes], place: Path, environment: dict[str, str]) -> int:
    """Print each change of the chain, until it is closed."""
    print("waiting for the scout to find something ...")
    seen: set[str] = set()
    while server.poll() is None:
        time.sleep(0.5)
        chain = newest(place, environment)
        for line in () if chain is None else lines_of(chain):
            if line not in seen:
                seen.add(line)
                print(line, flush=True)
        if chain is not None and chain["state"] == "closed":
            print("nothing of it is left but its history:\n")
            print(foliot(place, environment, "chains", "show", chain["run_id"]))
            return 0
    print("the server has stopped:", (place / "server.log").read_text(), file=sys.stderr)
    return 1


def newest(place: Path, environment: dict[str, str]) -> dict[str, Any] | None:
    found = foliot(place, environment, "chains", "list", "--json")
    if not found:
        return None
    shown = foliot(place, environment, "chains", "show", json.loads(found.splitlines()[0])["run_id"], "--json")
    return json.loads(shown) if shown else None


def foliot(place: Path, environment: dict[str, str], *arguments: str) -> str:
    command = (*FOLIOT, *arguments)
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True).stdout  # noqa: S603


def lines_of(chain: dict[str, Any]) -> list[str]:
    changes = [(one["at"], f"chain {chain['id']} is {one['state']}: {one['cause']}") for one in chain["state_changes"]]
    steps = [
        (step["finished_at"] or step["due_at"], f"  {step['key']}: {step['decision'] or step['status'] or 'planned'}")
        for step in chain["steps"]
    ]
    return [f"{at[11:19]}  {text}" for at, text in sorted([*changes, *steps])]


if __name__ == "__main__":
    sys.exit(main())
