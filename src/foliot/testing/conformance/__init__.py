"""The ports, defined by tests: an adapter is whatever passes the suites here."""

import pytest

# The suites live outside of anybody's test directory: without this a failing assert would not say what it saw.
pytest.register_assert_rewrite(*(f"{__name__}.{suite}" for suite in ("clock", "queue", "storage")))
