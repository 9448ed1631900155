"""The context of a run."""

import pytest

from foliot.domain.run.context import current_run


def test_outside_of_a_run_there_is_no_current_run() -> None:
    with pytest.raises(LookupError, match="outside of a run"):
        current_run()
