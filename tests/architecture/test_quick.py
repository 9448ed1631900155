"""`scripts/test quick` omits tests that exist: a renamed test would silently run again."""

import re

from tests.architecture.promises import ROOT


def test_every_test_omitted_from_the_quick_run_exists() -> None:
    script = (ROOT / "scripts" / "test").read_text()

    left_out = re.findall(r"--deselect (\S+\.py)(?:::(\w+))?", script)

    assert left_out
    missing = [
        f"{file}::{name}"
        for file, name in left_out
        if not (ROOT / file).exists() or (name and f"def {name}(" not in (ROOT / file).read_text())
    ]
    assert missing == []
