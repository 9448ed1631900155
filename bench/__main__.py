"""The command: runs one measurement, or all of them."""

import argparse
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from bench.places import Places
from bench.scale import SLOTS, Scale
from bench.tables import Table

Measurement = Callable[[Places, Scale], Iterable[Table]]

MEASUREMENTS: Final = {
    "drain": "no-op runs drained by one worker, and enqueueing",
    "schedules": "10,000 schedules due in the same second",
    "hold": "a million schedules held: memory, idle processor time, the wake-up",
    "latency": "from enqueue to start, one run at a time",
    "start": "importing, and start to first job",
    "history": "the cost of a run while history grows",
    "fanout": "children a second, a million items, and a job beside a fanout",
}
PROGRAMS: Final = {
    "cron": ("cron_next", "the next moment of a cron expression"),
    "spawn": ("spawn", "processes a second"),
    "isolated": ("isolated", "Python functions in processes of their own"),
    "workflows": ("workflows", "from one step of an execution to the next"),
}


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] in PROGRAMS:
        _run_program(sys.argv[1], sys.argv[2:])
        return
    options = _parse()
    scale = Scale(
        is_quick=options.quick,
        rounds=options.rounds,
        synchronous=options.synchronous,
        slots=options.slots,
        items=options.items,
    )
    chosen = list(MEASUREMENTS) if options.measurement == "all" else [options.measurement]
    with Places() as places:
        tables = [table for name in chosen for table in _measure(name, places, scale)]
    _save(tables, Path(options.json))
    if options.measurement == "all":
        for name in PROGRAMS:
            _run_program(name, ["--rounds=2"] if options.quick else [])


def _measure(name: str, places: Places, scale: Scale) -> list[Table]:
    print(f"{name} ...", file=sys.stderr)
    measure: Measurement = import_module(f"bench.{name}").measure
    tables = []
    for table in measure(places, scale):
        tables.append(table)
        print(table.to_markdown(), f"`{_command()}`", sep="\n\n", end="\n\n", flush=True)
    return tables


def _command() -> str:
    return shlex.join(["scripts/bench", *sys.argv[1:]])


def _run_program(name: str, arguments: Sequence[str]) -> None:
    module, title = PROGRAMS[name]
    print(f"### {name}: {title}\n\n```", flush=True)
    subprocess.run([sys.executable, "-m", f"bench.{module}", *arguments], check=True)
    print("```\n", flush=True)


def _save(tables: Sequence[Table], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "tables": [t.to_json() for t in tables]}
    path.write_text(json.dumps(content, indent=1))
    print(f"figures of every round: {path}", file=sys.stderr)


def _parse() -> argparse.Namespace:
    lines = [f"  {name:10} {what}" for name, what in MEASUREMENTS.items()]
    lines += [f"  {name:10} {what}; further arguments go to it" for name, (_, what) in PROGRAMS.items()]
    parser = argparse.ArgumentParser(
        prog="scripts/bench",
        description="Measure Foliot beside its limits and its peers.\n\n" + "\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("measurement", choices=["all", *MEASUREMENTS, *PROGRAMS])
    parser.add_argument("--quick", action="store_true", help="orders of magnitude in a few minutes")
    parser.add_argument("--rounds", type=int, help="how often each contender is measured")
    parser.add_argument("--slots", type=int, default=SLOTS, help=f"runs at once (default {SLOTS})")
    parser.add_argument("--items", type=int, help="items of the largest fanout (default 1000000, quick 20000)")
    parser.add_argument("--synchronous", choices=["FULL", "NORMAL"], default="FULL", help="SQLite's durability")
    parser.add_argument("--json", default="build/bench.json", help="where the figures go (default build/bench.json)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
