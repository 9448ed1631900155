"""What a Python job may say is decided when it is defined."""

import pytest

from foliot.domain.job.kinds import check_spec
from foliot.errors import InvalidJob
from tests.cases import for_each

CALLS = ["tasks:report", "shop.tasks.daily:send_report", "_a:_b", "módulo:función"]

NO_CALLS = [
    "", ":", "tasks", "tasks:", ":report", "tasks.report", "os.system", ".tasks:report", "..tasks:report",
    "tasks.:report", "shop..tasks:report", "tasks:a:b", "tasks:a.b", "tasks: report", "tasks :report",
    "tasks\0:report", "tasks:report\0", "tasks:report\n",
    "/srv/tasks.py:report", "../tasks:report", "tasks:report()", "tasks:__import__('os')",
    "1tasks:report", "tasks-daily:report", "import:report", "tasks:class", "a" * 500 + ":b",
]  # fmt: skip


@pytest.mark.proves("Z56")
@pytest.mark.parametrize("call", CALLS)
def test_a_call_names_a_function_of_a_module(call: str) -> None:
    check_spec("python", {"call": call})


@pytest.mark.proves("Z56")
@for_each("call", NO_CALLS)
def test_a_call_that_no_import_statement_could_name_is_refused(call: str) -> None:
    with pytest.raises(InvalidJob):
        check_spec("python", {"call": call})


def test_the_refusal_shows_how_it_is_written_and_is_safe_to_print() -> None:
    with pytest.raises(InvalidJob, match=r"`call` is module:function, as in shop.tasks:send_report, not 'a\\x00b'"):
        check_spec("python", {"call": "a\0b"})


@pytest.mark.parametrize("spec", [{}, {"call": "a:b", "handler": "c"}, {"call": "a:b", "comand": "x"}])
def test_a_job_says_either_which_handler_or_which_call(spec: dict[str, str]) -> None:
    with pytest.raises(InvalidJob):
        check_spec("python", spec)


@pytest.mark.parametrize("field", [{"working_dir": "/"}, {"env": {"A": "b"}}, {"user": "nobody"}, {"grace": 1.0}])
def test_the_fields_of_a_process_are_for_isolated_calls_alone(field: dict[str, object]) -> None:
    check_spec("python", {"call": "tasks:report", **field})

    with pytest.raises(InvalidJob, match="runs in the worker"):
        check_spec("python", {"handler": "report", **field})


def test_a_function_is_not_fed_by_stdin() -> None:
    with pytest.raises(InvalidJob, match="payload"):
        check_spec("python", {"call": "tasks:report", "stdin": "text"})
