"""[[workflows]]: options of a workflow."""

import pytest

from foliot.domain.instant import HOUR
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.workflow.spec import Step, WorkflowSpec
from tests.config.conftest import Good, Loader
from tests.config.workflow_texts import HEAD, etl, step, steps_of


@pytest.mark.proves("R2-25")
def test_a_workflow_needs_an_id_and_a_step(good: Good) -> None:
    declared = good(HEAD + step("only")).declared

    work = JobSpec(kind="shell", spec={"command": "x"}, source="file")
    assert declared.workflows == {"etl": WorkflowSpec(steps=(Step(name="only", definition=work),), source="file")}
    assert (declared.jobs, declared.schedules) == ({}, {})


@pytest.mark.proves("R2-28", "R2-34")
def test_the_example_of_the_seed_loads(good: Good) -> None:
    text = (
        HEAD
        + 'schedule = "0 2 * * *"\n'
        + step("extract")
        + step("transform", 'command = "x"\nafter = "extract"')
        + step("load", 'command = "x"\nafter = ["transform"]')
        + step("cleanup", 'command = "x"\nfinal = true')
    )
    steps = steps_of(good(text))

    assert {name: [edge.parent for edge in one.after] for name, one in steps.items()} == {
        "extract": [],
        "transform": ["extract"],
        "load": ["transform"],
        "cleanup": [],
    }
    assert [name for name, one in steps.items() if one.is_final] == ["cleanup"]


def test_every_option_of_a_workflow_is_read(good: Good) -> None:
    head = """
        [[workflows]]
        id = "etl"
        description = "D"
        owner = "me"
        tags = ["x", "y"]
        enabled = false
        params = { day = "${DAY}", limit = 5, deep = { a = [1.5] } }
        timeout_sec = "2h"
        max_concurrent = 3
        queue = "default"
        priority = 7
        partial_counts_as = "failed"
        final_on_cancel = true
    """

    spec = etl(good(head + step("a"), DAY="monday"))

    assert (spec.description, spec.owner, spec.tags, spec.enabled) == ("D", "me", ("x", "y"), False)
    assert spec.params == {"day": "monday", "limit": 5, "deep": {"a": [1.5]}}
    assert spec.options == Options(timeout=2 * HOUR, max_concurrent=3, priority=7)  # type: ignore[arg-type]
    assert (spec.partial_counts_as, spec.final_on_cancel) == ("failed", True)


def test_renamed_from_of_a_workflow_is_read(good: Good) -> None:
    assert good(HEAD + 'renamed_from = "load"\n' + step("a")).declared.renames == {"load": "etl"}


def test_workflows_can_be_included(good: Good) -> None:
    configuration = good('include = "flows.toml"', {"flows.toml": HEAD + step("a")})

    assert list(configuration.declared.workflows) == ["etl"]


def test_a_workflow_of_ten_thousand_steps_is_read(good: Good) -> None:
    chain = "".join(step(f"s{number}", f'command = "x"\nafter = "s{number - 1}"') for number in range(1, 10_000))

    configuration = good(HEAD + step("s0") + chain)

    assert len(etl(configuration).steps) == 10_000


@pytest.mark.parametrize(
    "asks", ['env = { X = "{{ steps.a.output.path }}" }\nafter = "a"', 'after = { step = "a", contains = "ok" }']
)
def test_reading_the_output_of_a_step_without_output_is_a_warning(loaded: Loader, asks: str) -> None:
    silent = loaded(HEAD + step("a") + step("b", f'command = "x"\n{asks}'))
    telling = loaded(HEAD + step("a", 'command = "x"\noutput = "json"') + step("b", f'command = "x"\n{asks}'))

    [doubt] = silent.problems
    assert (doubt.severity, doubt.message) == ("warning", 'step "b": step "a" has no output')
    assert doubt.hint == 'Set output = "json", "text" or "file" in step "a".'
    assert list(telling.problems) == []


def test_an_exit_code_needs_no_output(loaded: Loader) -> None:
    text = HEAD + step("a") + step("b", 'command = "x"\nafter = { step = "a", exit_code = 0 }')

    assert list(loaded(text).problems) == []
