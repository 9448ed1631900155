"""Test suites for adapters: each suite has the promises of one port."""

import pytest

# The suites are outside of any test directory: without this, pytest would not show the values of a failed assert.
pytest.register_assert_rewrite(*(f"{__name__}.{suite}" for suite in ("clock", "queue", "storage")))
