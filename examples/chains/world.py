"""A scripted world for the examples of chains: an auction, a pull request, an index that diverges.

    python world.py NAME QUESTION      answers with an exit code, and with JSON on the last line if needed

The state is a JSON file, $WORLD. Time in the world runs $SPEED times as fast as the clock, from $START. `watch.py`
sets all three.
"""

import json
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

SPEED = float(os.environ.get("SPEED", "1"))
START = float(os.environ.get("START", "0"))
STATE = Path(os.environ.get("WORLD", "world.json"))
QUIET, TRIGGER = 0, 10
DONE, RESOLVED, TRY_LATER = 0, 15, 75
GOOD, RETRY, ESCALATE = 0, 30, 40


def minutes() -> float:
    """Return the minutes in the world since it began."""
    return (time.time() - START) * SPEED / 60


def state() -> dict[str, int]:
    return json.loads(STATE.read_text()) if STATE.exists() else {}


def count(name: str) -> int:
    """Count one more of something that happened, and return how many there are."""
    known = state()
    known[name] = known.get(name, 0) + 1
    STATE.write_text(json.dumps(known))
    return known[name]


# -- an auction: a rival outbids us in minute 4, and again in minute 20; it closes in minute 35

RIVAL_BIDS = (4, 20)
CLOSES = 35


def rival_bids() -> int:
    return sum(minutes() >= minute for minute in RIVAL_BIDS)


def auction_scout() -> int:
    if state().get("bids", 0) >= rival_bids() or minutes() >= CLOSES:
        return QUIET
    deadline = datetime.fromtimestamp(START + CLOSES * 60 / SPEED, UTC)
    print("a rival has outbid us")
    print(json.dumps({"decision": "trigger", "slot": "lot-42", "deadline": deadline.isoformat(), "data": {"lot": 42}}))
    return TRIGGER


def auction_bid() -> int:
    if state().get("bids", 0) >= rival_bids():
        print("we lead already")
        return RESOLVED
    print(f"bid number {count('bids')}")
    return DONE


def auction_check() -> int:
    leads = state().get("bids", 0) >= rival_bids()
    print("we lead" if leads else "the rival leads again")
    return GOOD if leads else RETRY


# -- a pull request: its checks fail in minute 2; the first attempt to dispatch a fix meets a busy agent


def ci_scout() -> int:
    is_red = minutes() >= 2 and state().get("fixes", 0) < 2
    print("checks are red" if is_red else "checks are green")
    return TRIGGER if is_red else QUIET


def ci_fix() -> int:
    if count("asked") == 1:
        print("the agent is busy", file=sys.stderr)
        return TRY_LATER
    print(f"fix number {count('fixes')} pushed")
    print(json.dumps({"tokens": 12_000, "usd": 0.18}))
    return DONE


def ci_check() -> int:
    is_green = state().get("fixes", 0) >= 2
    print("checks are green" if is_green else "checks are still red")
    return GOOD if is_green else RETRY


def ci_hopeless() -> int:
    print("the checks cannot be fixed by a machine", file=sys.stderr)
    return 1


# -- an index that diverges from its source in minute 3; it converges in steps after the switch


def index_scout() -> int:
    diverges = minutes() >= 3 and not state().get("switched")
    print("divergence 12 %" if diverges else "divergence 0 %")
    return TRIGGER if diverges else QUIET


def index_switch() -> int:
    if state().get("switched"):
        return RESOLVED
    count("switched")
    print("reads come from the source now")
    return DONE


def index_check() -> int:
    divergence = max(9 - 3 * count("checks"), 0)
    print(f"divergence {divergence} %")
    print(json.dumps({"decision": "good" if divergence < 4 else "monitor", "reason": f"{divergence} %"}))
    return GOOD


if __name__ == "__main__":
    sys.exit(globals()[f"{sys.argv[1]}_{sys.argv[2]}"]())
