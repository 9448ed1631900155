"""The page of the Python library has every public name, with its signature and docstring."""

from types import ModuleType

import pytest

import foliot
from foliot import cron, errors, testing
from tests.cases import for_each
from tests.config import python_reference
from tests.config.python_reference import INTERNAL, checked, is_public, meaning, names_of, rows_of, wanted
from tests.config.reference import PYTHON_PAGE, text_under, written

PAGE = PYTHON_PAGE.read_text()
REMAKE = "make the tables anew with: python -m tests.config.python_reference"


@for_each("heading", wanted())
def test_every_table_of_the_page_is_generated_from_the_code(heading: str) -> None:
    assert wanted()[heading] in text_under(heading, PAGE), REMAKE


@pytest.mark.parametrize("module", [foliot, cron, errors, testing])
def test_every_name_of_a_public_module_is_on_the_page(module: ModuleType) -> None:
    assert [name for name in names_of(module) if f"`{name}" not in PAGE and f".{name}" not in PAGE] == []


def test_every_internal_name_exists_and_would_otherwise_be_public() -> None:
    for owner, names in INTERNAL.items():
        assert [name for name in sorted(names) if not is_public(name) or not exists(owner, name)] == [], owner


def exists(owner: type, name: str) -> bool:
    return hasattr(owner, name) or name in owner.__annotations__


def test_a_new_method_of_the_application_is_in_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    def archive(self: object, run_id: str, *, keep: int = 3) -> None:
        """Archive a run."""

    monkeypatch.setattr(foliot.Foliot, "archive", archive, raising=False)

    assert "| `app.archive(run_id, *, keep=3)` | Archive a run. |\n" in wanted()["Open, enqueue and wait"]


def test_a_public_name_without_a_docstring_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foliot.Foliot, "archive", lambda self: None, raising=False)

    with pytest.raises(AssertionError, match=r"app\.archive needs a docstring"):
        [*rows_of(foliot.Foliot, "app.")]


def test_a_field_without_a_docstring_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_reference, "field_docs", lambda owner: {})

    with pytest.raises(AssertionError, match="id needs a docstring"):
        [*rows_of(foliot.RunView, "")]


def test_an_error_does_not_inherit_the_docstring_of_its_base() -> None:
    class Silent(errors.InvalidJob):
        pass

    with pytest.raises(AssertionError, match="Silent needs a docstring"):
        meaning("Silent", Silent)


def test_a_pipe_in_a_docstring_does_not_end_the_cell() -> None:
    assert checked("name", "Either a|b.") == r"Either a\|b."


def test_a_table_is_written_only_into_its_own_section() -> None:
    page = "## A\n\n| x |\n\n## B\n\n| x |\n"

    assert written(page, {"B": "| y |\n"}) == "## A\n\n| x |\n\n## B\n\n| y |\n"
