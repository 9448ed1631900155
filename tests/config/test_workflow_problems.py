"""Errors and warnings in [[workflows]]."""

import pytest

from tests.cases import for_each
from tests.config.conftest import Loader
from tests.config.workflow_texts import HEAD, step


def test_a_job_and_a_workflow_cannot_have_the_same_former_id(loaded: Loader) -> None:
    job = '[[jobs]]\nid = "report"\nrenamed_from = "load"\ncommand = "x"\n'

    [error] = loaded(job + HEAD + 'renamed_from = "load"\n' + step("a")).errors

    assert (error.line, error.message) == (7, 'job "report" is renamed from "load" already')


@pytest.mark.proves("R2-30", "R2-32", "R2-33")
@for_each(
    ("text", "line", "message"),
    [
        ("", 1, "a workflow needs at least one step"),
        ("steps = 5", 3, "steps must be a list of tables"),
        ("steps = [5]", 3, "it must be a table"),
        (step("a") + step("a"), 6, 'step "a" is defined twice'),
        (
            step("a", 'command = "x"\nfinal = true') + step("b", 'command = "x"\nfinal = true'),
            1,
            "only one step can be",
        ),
        (step("a", 'command = "x"\nafter = "b"'), 6, 'step "a" comes after "b", which does not exist'),
        (step("a") + step("b", 'command = "x"\nafter = ["a", "a"]'), 9, 'step "b" comes after "a" twice'),
        (step("a") + step("b", 'command = "x"\nafter = { step = "a", when = [] }'), 9, 'step "b" has no condition'),
        (
            step("a", 'command = "x"\nafter = "b"') + step("b", 'command = "x"\nafter = "a"'),
            1,
            "the steps form a cycle: ",
        ),
        (step("a", 'command = "x"\nrecovers = true'), 3, 'step "a" has recovers and follows no step by failure'),
        (
            step("a") + step("b", 'command = "x"\nafter = "a"\nrecovers = true'),
            6,
            'step "b" has recovers and follows no step by failure',
        ),
        (
            step("a") + step("z", 'command = "x"\nfinal = true\nrecovers = true'),
            6,
            'final step "z" cannot have recovers',
        ),
        (step("a b"), 3, "step \"a b\": step 'a b' is not a valid name"),
        ('[[workflows.steps]]\ncommand = "x"', 3, "the step has no name"),
        (step("a", ""), 3, "a job of kind shell needs command or argv"),
        (step("a", 'kind = "workflow"\ncommand = "x"'), 3, "a job of kind workflow needs depends_on"),
        (step("a", 'kind = "fanout"\ncommand = "x"'), 3, "a job of kind fanout needs inputs_from or items"),
        (step("a", 'command = "x"\ninner_kind = "http"'), 6, "inner_kind is not an option of kind shell"),
        (step("a", 'command = "x"\nurl = "y"'), 6, "url is not an option of kind shell"),
        (step("a", 'command = "x"\ntimeout_sec = -1'), 6, "must be 0 to"),
        (step("a", 'command = "x"\npriority = 9999'), 6, "priority must be"),
        (step("a", 'command = "x"\ndepends_on = "etl.a"'), 6, '"etl.a" cannot depend on itself'),
        (step("a", 'command = "x"\ndepends_on = []'), 6, "depends_on must name 1 to"),
        (step("a", 'command = "x"\ndepends_on = ["etl", "etl"]'), 6, '"etl" is named twice'),
        (step("a", 'command = "x"\ndepends_on = "etl.aa"'), 6, "job 'etl.aa' does not exist"),
        (step("a", 'command = "x"\nwindow_sec = 5'), 6, "window_sec requires depends_on"),
        (step("a", 'command = "x"\ntimezone = "UTC"'), 6, "timezone requires depends_on"),
        (step("a", 'approve = true\ndepends_on = "etl"'), 6, "depends_on is not an option of a step that asks"),
        (step("a", 'command = "x"\noverlap = "cancel_running"'), 6, "'cancel_running' is not an allowed value"),
        (step("a", 'command = "x"\ntrigger_rule = "always"'), 6, "trigger_rule requires after"),
        (step("a") + step("b", 'command = "x"\nafter = "a"\ntrigger_rule = "one_success"'), 10, "one_success counts"),
        (step("a") + step("b", 'command = "x"\nafter = { when = "failure" }'), 9, "the edge has no step"),
        (step("a") + step("b", 'command = "x"\nafter = { step = "a", when = "fail" }'), 9, "condition 'fail' does not"),
        (step("a") + step("b", 'command = "x"\nafter = [{ step = "a" }, 5]'), 9, "must be text, not a whole number"),
        (step("a", 'job = "nowhere"'), 3, 'step "a": job "nowhere" does not exist'),
        (step("a", "job = 5"), 5, "must be text, not a whole number"),
        (step("a", 'job = "etl"'), 3, 'step "a": "etl" would start itself without end'),
        (step("a", 'workflow = "etl"'), 3, 'step "a": "etl" would start itself without end'),
        (step("a", 'workflow = "nowhere"'), 3, 'step "a": workflow "nowhere" does not exist'),
        (step("a", 'command = "y"\nparams = {}'), 6, "params requires workflow"),
        (step("a", "approve = 5"), 5, "approve must be true or a table"),
        (step("a", 'approve = { default = "skip" }'), 5, "'skip' is not an allowed value"),
        (step("a", 'approve = true\ncommand = "x"'), 6, "command is not an option of a step that asks a person"),
        (
            step("a", 'command = "{{ execution.id }}"'),
            3,
            'step "a": a template is not allowed in command',
        ),
        (step("a", 'command = "x"\npayload = "{{ params.day }}"'), 3, 'step "a": {{ params.day }}: parameter "day"'),
        (step("a", 'command = "x"\nenv = { A = "{{ steps.b.output }}" }') + step("b"), 3, 'step "a": {{ steps.b.outp'),
        (f'params = {{ x = "{"y" * (1 << 20)}" }}\n' + step("a"), 3, "the payload has"),
        ("params = 5\n" + step("a"), 3, "must be a table"),
        ('renamed_from = "etl"\n' + step("a"), 3, "renamed_from names the workflow itself"),
        ("retry_count = 5\n" + step("a"), 3, "key 'retry_count' does not exist"),
        (step("x" * 198), 3, f'step "{"x" * 64}": \'etl.xxx'),
    ],
)
def test_an_invalid_workflow_is_refused_with_its_line(loaded: Loader, text: str, line: int, message: str) -> None:
    [error] = loaded(HEAD + text).errors

    assert (error.line, error.message[: len(message)]) == (line, message)


def test_a_step_may_override_only_data_of_its_job(loaded: Loader) -> None:
    job = '[[jobs]]\nid = "report"\nkind = "http"\nurl = "https://x.example"\n'
    keys = 'job = "report"\nurl = "https://y.example"\ntimeout_sec = 5\nheaders = { "A b" = "x" }\napprove = true'

    errors = loaded(job + HEAD + step("a", keys)).errors

    assert [(error.line, error.message[:40]) for error in errors] == [
        (10, "url is not an option of a step that runs"),
        (11, "timeout_sec is not an option of a step t"),
        (12, "'A b' cannot be the name of a header"),
        (13, "a step names a job or asks a person, not"),
    ]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (step("extract") + step("b", 'command = "x"\nafter = "extrct"'), 'Did you mean "extract"?'),
        (step("a", 'job = "reprot"'), 'Did you mean "report"?'),
        (
            step("a") + step("b", 'command = "x"\nafter = "a"\ntrigger_rule = "all_sucess"'),
            'Did you mean "all_success"?',
        ),
        (step("a", 'comand = "x"\ncommand = "y"'), 'Did you mean "command"?'),
    ],
)
def test_a_similar_name_is_suggested(loaded: Loader, text: str, hint: str) -> None:
    [error] = loaded('[[jobs]]\nid = "report"\ncommand = "x"\n' + HEAD + text).errors

    assert error.hint == hint


@pytest.mark.proves("D1")
def test_all_problems_of_a_workflow_are_reported_together(loaded: Loader) -> None:
    errors = loaded(
        HEAD
        + 'timeout_sec = -1\npriority = "high"\n'  # 3, 4
        + step("a", 'comand = "x"')  # 5
        + step("b", 'command = "x"\nafter = "nowhere"')  # 8, 11
        + step("c", 'job = "nobody"')  # 12
        + step("d", 'command = "x"\nafter = { step = "b", when = "ok" }')  # 15, 18
    ).errors

    assert [error.line for error in errors] == [3, 4, 5, 7, 11, 12, 18]


@pytest.mark.proves("R2-32")
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (HEAD + step("a") + HEAD + step("b"), 7, 'workflow "etl" is defined twice'),
        (HEAD + step("a") + '[[jobs]]\nid = "etl"\ncommand = "x"', 2, '"etl" is the name of a job already'),
        (HEAD + step("a") + '[[jobs]]\nid = "etl.a"\ncommand = "x"', 3, '"etl.a" is the name of a job already'),
        (
            HEAD + step("a.b") + '[[workflows]]\nid = "etl.a"\n' + step("b"),
            8,
            'step "etl.a.b" is defined twice',
        ),
        (
            HEAD + step("a") + '[[workflows]]\nid = "etl.a"\n' + step("b"),
            3,
            '"etl.a" is the name of a workflow already',
        ),
        ("[[workflows]]\n" + step("a"), 1, "the workflow has no id"),
        ('[[workflows]]\nid = "a/b"\n' + step("a"), 2, "id 'a/b' is not a valid name"),
    ],
)
def test_jobs_workflows_and_steps_share_one_namespace(loaded: Loader, text: str, line: int, message: str) -> None:
    [error] = loaded(text).errors

    assert (error.line, error.message) == (line, message)


def test_workflows_must_be_a_list_of_tables(loaded: Loader) -> None:
    [error] = loaded('[workflows]\nid = "etl"').errors

    assert (error.message, error.hint) == ("workflows must be a list of tables", "Write [[workflows]].")


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ('queue = "mail"\n' + step("a"), 3, 'does not serve queue "mail"'),
        (step("a", 'command = "x"\nqueue = "mail"'), 6, 'does not serve queue "mail"'),
    ],
)
def test_a_questionable_workflow_is_a_warning(loaded: Loader, text: str, line: int, part: str) -> None:
    result = loaded(HEAD + text)

    assert result.configuration is not None
    [warning] = result.warnings
    assert warning.line == line
    assert part in warning.message
