"""What the stages of the chains do in the history."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from foliot.demo.ansi import red
from foliot.demo.scene import Act, Scene, complain, exits, say
from foliot.domain.instant import HOUR
from foliot.domain.run.outcome import Success

_QUIET: Final = 0
_TRIGGER: Final = 10
_GOOD: Final = 0
_RETRY: Final = 30


def _stage(seconds: float, code: int, text: str, **facts: Any) -> Callable[[Scene], Act]:
    """Return what a stage does that ends with a listed exit code. `facts` are what it reports about itself."""
    output = msgspec.json.encode(facts) if facts else None
    return lambda scene: Act(scene.about(seconds), say(text), Success(output, code))


def _either(
    is_first: Callable[[Scene], bool], first: Callable[[Scene], Act], second: Callable[[Scene], Act]
) -> Callable[[Scene], Act]:
    return lambda scene: first(scene) if is_first(scene) else second(scene)


def _no_key(scene: Scene) -> Act:
    """The second provider has revoked the key: nothing helps but a person."""
    lines = say("asking the provider for a new key") + complain(f"{red('error:')} 403: the contract has ended")
    return Act(scene.about(12), lines, exits(9))


def _slot(scene: Scene) -> int:
    return (scene.now - scene.story.begins) // HOUR


CHAIN_ACTS: Final[Mapping[str, Callable[[Scene], Act]]] = {
    "disk-pressure.scout": _either(
        lambda scene: _slot(scene) // 6 % 5 == 2,
        _stage(2, _TRIGGER, "97 % used"),
        _stage(2, _QUIET, "61 % used"),
    ),
    "disk-pressure.action": _stage(70, 0, "14 GB of old logs removed"),
    "disk-pressure.verify": _either(
        lambda scene: scene.happens(0.3),
        _stage(2, _RETRY, "93 % used"),
        _stage(2, _GOOD, "62 % used"),
    ),
    "search-drift.scout": _either(
        lambda scene: (scene.is_within(9) and not scene.is_within(1)) or _slot(scene) // 8 % 13 == 3,
        _stage(9, _TRIGGER, "3.1 % of the products differ"),
        _stage(9, _QUIET, "0.0 % differ"),
    ),
    "search-drift.action": _stage(240, 0, "part 7 of the index rebuilt"),
    "search-drift.verify": _stage(11, _GOOD, "0.2 % of the products differ"),
    "card-payments.scout": _either(
        lambda scene: scene.is_within(21) or _slot(scene) // 4 % 11 == 2,
        _stage(3, _TRIGGER, "9.8 % of the cards were refused", usd=0.01, tokens=310),
        _stage(3, _QUIET, "0.4 % of the cards were refused"),
    ),
    "card-payments.action": _either(
        lambda scene: scene.is_within(21),
        _no_key,
        _stage(15, 0, "switched to the second provider", usd=0.42, tokens=5_120),
    ),
    "card-payments.verify": _stage(3, _GOOD, "0.5 % of the cards were refused", usd=0.02, tokens=420),
    "card-payments.escalate": _stage(1, 0, "called the person on call"),
}
