"""Python jobs are validated when they are defined."""

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


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_module_and_function(call: str) -> None:
    check_spec("python", {"call": call})


@pytest.mark.proves("Z56")
@for_each("call", NO_CALLS)
def test_an_invalid_call_is_refused(call: str) -> None:
    with pytest.raises(InvalidJob):
        check_spec("python", {"call": call})


def test_the_error_for_an_invalid_call_shows_the_format_and_is_printable() -> None:
    with pytest.raises(InvalidJob, match=r"`call` is module:function, as in shop.tasks:send_report, not 'a\\x00b'"):
        check_spec("python", {"call": "a\0b"})


@pytest.mark.parametrize("spec", [{}, {"call": "a:b", "handler": "c"}, {"call": "a:b", "comand": "x"}])
def test_a_python_job_has_either_handler_or_call(spec: dict[str, str]) -> None:
    with pytest.raises(InvalidJob):
        check_spec("python", spec)


@pytest.mark.parametrize("field", [{"working_dir": "/"}, {"env": {"A": "b"}}, {"user": "nobody"}, {"grace": 1.0}])
def test_process_fields_are_only_for_isolated_calls(field: dict[str, object]) -> None:
    check_spec("python", {"call": "tasks:report", **field})

    with pytest.raises(InvalidJob, match="runs in the worker"):
        check_spec("python", {"handler": "report", **field})


def test_a_python_job_has_no_stdin() -> None:
    with pytest.raises(InvalidJob, match="payload"):
        check_spec("python", {"call": "tasks:report", "stdin": "text"})
