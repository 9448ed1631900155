"""What the steps of the workflows do in the history."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from foliot.demo.ansi import green, red, yellow
from foliot.demo.scene import Act, Line, Scene, complain, exits, say
from foliot.domain.run.outcome import Failure, Reason, Success

_STORES: Final = ("berlin", "hamburg", "lisbon", "london", "osaka", "porto", "seattle", "tokyo")


def _extract(scene: Scene) -> Act:
    if scene.day % 9 == 1:
        error = f"{red('error:')} the replica is 4 hours behind, which is more than 1 hour"
        return Act(scene.about(44), say("connecting to replica2") + complain(error), exits(7))
    document = {"day": "yesterday", "rows": scene.number(40_000, 60_000), "rejected": scene.number(0, 40)}
    text = msgspec.json.encode(document)
    return Act(scene.about(190), [Line(text.decode())], Success(text, 0))


def _load_orders(scene: Scene) -> Act:
    lines = say("copying 6 files", "file 1 of 6", "file 2 of 6", "file 3 of 6")
    if scene.day % 11 == 0 and scene.hour < 5:  # not when a person repeats it in the morning
        lines += complain(f"{red('error:')} duplicate key value violates unique constraint orders_pkey")
        return Act(scene.about(120), lines, exits(1), pauses=2)
    lines += say("file 4 of 6", "file 5 of 6", "file 6 of 6", green(f"{scene.number(28_000, 36_000)} orders loaded"))
    return Act(scene.about(420), lines, pauses=3)


def _build(scene: Scene) -> Act:
    version = scene.attempt.spec.get("env", {})
    name = version.get("VERSION", "0.0.0") if isinstance(version, dict) else "0.0.0"
    document = msgspec.json.encode({"image": f"shop:{name}", "size_mb": scene.number(180, 190)})
    lines = complain(f"building {name}", "step 1 of 4: dependencies", "step 2 of 4: assets", "step 3 of 4: image")
    return Act(scene.about(260), [*lines, Line(document.decode())], Success(document, 0), pauses=4)


def _browser_tests(scene: Scene) -> Act:
    lines = [Line(f"  {green('ok')} page {number}") for number in range(1, 97)]
    return Act(scene.about(240), [*lines, Line(f"{green('96 passed')} in 4 min")], pauses=3)


def _list_stores(scene: Scene) -> Act:
    text = msgspec.json.encode(_STORES)
    return Act(scene.about(2), [Line(text.decode())], Success(text, 0))


def _close_store(scene: Scene) -> Act:
    lines = say(f"closing the books of {scene.item}", f"{scene.number(20, 90)} receipts")
    if scene.item == "osaka" and scene.day % 3 == 1:
        error = "the till of osaka does not answer"
        return Act(scene.about(60), lines + complain(red(error)), Failure(error, Reason.CONNECTION))
    return Act(scene.about(38, 0.4), [*lines, Line("balance 0.00")])


def _says(seconds: float, *texts: str) -> Callable[[Scene], Act]:
    return lambda scene: Act(scene.about(seconds), say(*texts))


WORKFLOW_ACTS: Final[Mapping[str, Callable[[Scene], Act]]] = {
    "nightly-etl.extract": _extract,
    "nightly-etl.use-yesterday": _says(6, "using the extract of the day before"),
    "nightly-etl.validate": _says(75, "checking the rows", f"{yellow('12 rows')} have no customer and are left out"),
    "nightly-etl.load-orders": _load_orders,
    "nightly-etl.load-customers": _says(180, "16337 customers loaded"),
    "nightly-etl.report": _says(48, "report of the day written"),
    "nightly-etl.alarm": _says(1, "message sent to the data team"),
    "nightly-etl.clean-up": _says(4, "temporary tables dropped"),
    "release.build": _build,
    "release.unit-tests": _says(41, f"{green('812 passed')} in 41.3 s"),
    "release.browser-tests": _browser_tests,
    "release.deploy": _says(130, "stopping 1 of 3", "stopping 2 of 3", "stopping 3 of 3", green("deployed")),
    "release.announce": _says(1, "posted in #shop"),
    "release.remove-branch": _says(5, "preview branch removed"),
    "store-closing.list-stores": _list_stores,
    "store-closing.close-store": _close_store,
    "store-closing.consolidate": _says(21, "8 stores, 412 receipts, balance 0.00"),
}
