"""[[workflows]]: what a file can say about a workflow and its steps."""

import pytest

from foliot.config import Configuration
from foliot.domain.gate.spec import Action, Gate, WindowKind
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import DAY, HOUR, MINUTE
from foliot.domain.job import JobSpec, Options
from foliot.domain.workflow.conditions import TRIGGER_RULES, Condition
from foliot.domain.workflow.facts import OutputTest
from foliot.domain.workflow.spec import ON_SUCCESS, Answer, Approval, Edge, Step, StepOverlap, WorkflowSpec
from tests.config.conftest import Good, Loader

SCAN = JobId("scan")
HEAD = '[[workflows]]\nid = "etl"\n'


def step(name: str, keys: str = 'command = "x"') -> str:
    return f'[[workflows.steps]]\nname = "{name}"\n{keys}\n'


def etl(configuration: Configuration) -> WorkflowSpec:
    return configuration.declared.workflows["etl"]


def steps_of(configuration: Configuration) -> dict[str, Step]:
    return {step.name: step for step in etl(configuration).steps}


@pytest.mark.proves("R2-25")
def test_a_workflow_needs_an_id_and_a_step(good: Good) -> None:
    declared = good(HEAD + step("only")).declared

    work = JobSpec(kind="shell", spec={"command": "x"}, source="file")
    assert declared.workflows == {"etl": WorkflowSpec(steps=(Step(name="only", definition=work),), source="file")}
    assert (declared.jobs, declared.schedules) == ({}, {})


@pytest.mark.proves("R2-28", "R2-29", "R2-34")
def test_the_example_of_the_seed_can_be_written(good: Good) -> None:
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


def test_everything_about_a_workflow_can_be_given(good: Good) -> None:
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


# -- when it runs


@pytest.mark.proves("R2-26")
def test_a_workflow_owns_its_schedules(good: Good) -> None:
    head = """
        [[workflows]]
        id = "etl"
        schedule = "@daily"
        timezone = "Europe/Berlin"
        overlap = "queue"
        params = { day = 1 }
        [[workflows.schedules]]
        name = "often"
        every = "1h"
        payload = { day = 2 }
    """

    schedules = good(head + step("a")).declared.schedules

    assert {name: (spec.workflow_id, spec.job_id) for name, spec in schedules.items()} == {
        "etl:default": ("etl", None),
        "etl:often": ("etl", None),
    }
    often = schedules[ScheduleId("etl:often")]
    assert (often.timezone, often.overlap, often.payload, often.source) == (
        "Europe/Berlin",
        "queue",
        {"day": 2},
        "file",
    )


@pytest.mark.proves("R4-32")
def test_a_trigger_that_is_schedule_based_is_a_schedule(good: Good) -> None:
    plain = """
        [[workflows]]
        id = "etl"
        timezone = "Europe/Berlin"
        user_id = "ann"
        [[workflows.schedules]]
        name = "nightly"
        cron = "0 3 * * *"
        [[workflows.schedules]]
        name = "weekly"
        cron = "@weekly"
        user_id = "bob"
    """
    seed = plain.replace("workflows.schedules]]", 'workflows.triggers]]\ntype = "schedule_based"')

    schedules = good(seed.replace("cron =", "cron_expr =") + step("a")).declared.schedules

    assert schedules == good(plain + step("a")).declared.schedules
    assert {name: (spec.expr, spec.timezone, spec.user_id) for name, spec in schedules.items()} == {
        "etl:nightly": ("0 3 * * *", "Europe/Berlin", "ann"),
        "etl:weekly": ("@weekly", "Europe/Berlin", "bob"),
    }


def test_a_trigger_of_another_type_is_only_told_of(loaded: Loader) -> None:
    text = HEAD + '[[workflows.triggers]]\ntype = "event"\nevent = { name = "push" }\n' + step("a")

    result = loaded(text)

    assert result.configuration is not None
    [warning] = result.warnings
    assert (warning.line, warning.message) == (3, "a trigger of type 'event' starts nothing here")


@pytest.mark.proves("R4-33")
@pytest.mark.parametrize(
    ("keys", "line", "message"),
    [
        ("triggers = 5", 3, "triggers must be a list of tables"),
        ("triggers = [5]", 3, "it must be a table"),
        ('[[workflows.triggers]]\ncron = "@daily"', 3, "the trigger has no type"),
        ('[[workflows.triggers]]\ntype = "schedule-based"', 4, "type 'schedule-based' does not exist"),
        ('[[workflows.triggers]]\ntype = "schedule_based"\ncron = "@dayly"', 5, 'schedule "etl:default": '),
        ('[[workflows.triggers]]\ntype = "schedule_based"\ncron = "@daily"\ntimezone = "Mars"', 6, "timezone 'Mars'"),
        ('[[workflows.triggers]]\ntype = "schedule_based"\ncron = "@daily"\nurl = "x"', 6, "key 'url' does not exist"),
        (
            'every = 60\n[[workflows.triggers]]\ntype = "schedule_based"\ncron = "@daily"',
            4,
            'there are two schedules named "default"',
        ),
    ],
)
def test_a_trigger_that_cannot_be_kept_is_refused(loaded: Loader, keys: str, line: int, message: str) -> None:
    errors = loaded(f"{HEAD}{keys}\n{step('a')}").errors

    assert (errors[0].line, errors[0].message[: len(message)]) == (line, message)


@pytest.mark.parametrize(
    ("keys", "line", "message"),
    [
        ('schedule = "61 * * * *"', 3, "schedule \"etl:default\": minute '61' is outside 0-59"),
        ("schedules = 5", 3, "schedules must be a list of tables"),
        ("every = 60\n[[workflows.schedules]]\nevery = 90", 4, 'there are two schedules named "default"'),
        ("[[workflows.schedules]]\nevery = 90\npayload = { x = 1 }", 3, "schedule \"etl:default\": parameter 'x' does"),
        ("[[workflows.schedules]]\nevery = 90\npayload = 5", 3, 'schedule "etl:default": parameters are named values'),
    ],
)
def test_a_schedule_that_cannot_be_kept_is_refused(loaded: Loader, keys: str, line: int, message: str) -> None:
    [error] = loaded(f"{HEAD}{keys}\n{step('a')}").errors

    assert (error.line, error.message[: len(message)]) == (line, message)


# -- edges

FAILURE = frozenset({Condition.FAILURE})
ANY = frozenset({Condition.SUCCESS, Condition.FAILURE})


@pytest.mark.parametrize(
    ("keys", "edges"),
    [
        ('after = "a"', [Edge(parent="a")]),
        ('after = ["a", "b"]', [Edge(parent="a"), Edge(parent="b")]),
        ('after = { step = "a", when = "failure" }', [Edge(parent="a", when=FAILURE)]),
        (
            'after = [{ step = "a", when = ["success", "failure"] }, "b"]',
            [Edge(parent="a", when=ANY), Edge(parent="b")],
        ),
        ('after = { step = "a", when = "none_skipped" }', [Edge(parent="a", when=ANY)]),
        ('after = "a"\ntrigger_rule = "all_failed"', [Edge(parent="a", when=FAILURE)]),
        (
            'after = [{ step = "a", when = "success" }, "b"]\ntrigger_rule = "all_failed"',
            [Edge(parent="a", when=ON_SUCCESS), Edge(parent="b", when=FAILURE)],
        ),
        ('after = { step = "a", exit_code = 3 }', [Edge(parent="a", test=OutputTest(exit_code=(3,)))]),
        (
            'after = { step = "a", contains = "ok", path = "n.0", equals = { x = 1 } }',
            [Edge(parent="a", test=OutputTest(contains="ok", path="n.0", equals={"x": 1}))],
        ),
        ('[[workflows.steps.after]]\nstep = "a"\nwhen = "failure"', [Edge(parent="a", when=FAILURE)]),
        ('after = "${PARENT}"', [Edge(parent="b")]),
    ],
)
def test_a_step_follows_others_under_conditions(good: Good, keys: str, edges: list[Edge]) -> None:
    text = HEAD + step("a") + step("b") + step("c", f'command = "x"\n{keys}')

    assert steps_of(good(text, PARENT="b"))["c"].after == tuple(edges)


@pytest.mark.parametrize(("rule", "conditions"), TRIGGER_RULES.items())
def test_trigger_rules_that_translate_are_understood(good: Good, rule: str, conditions: frozenset[Condition]) -> None:
    text = HEAD + step("a") + step("b", f'command = "x"\nafter = "a"\ntrigger_rule = "{rule}"')

    assert steps_of(good(text))["b"].after == (Edge(parent="a", when=conditions),)


# -- what a step does


def test_a_step_says_what_a_job_of_its_kind_says(good: Good) -> None:
    keys = """
        kind = "http"
        url = "https://x.example"
        headers = { A = "b" }
        timeout_sec = 60
        retry_count = 2
        description = "D"
        output = "json"
        overlap = "skip"
    """

    one = steps_of(good(HEAD + step("call", keys)))["call"]

    assert one.definition is not None
    assert one.definition.spec == {"url": "https://x.example", "headers": {"A": "b"}, "output": "json"}
    assert (one.definition.kind, one.definition.description, one.definition.name) == ("http", "D", "")
    assert (one.definition.options.timeout, one.definition.options.retry.retries) == (MINUTE, 2)
    assert one.overlap is StepOverlap.SKIP


def test_templates_are_left_as_they_are_and_variables_are_replaced(good: Good) -> None:
    text = (
        HEAD
        + "params = { day = 1 }\n"
        + step("a")
        + step(
            "b",
            'command = "echo ${DAY}"\nafter = "a"\n'
            'env = { DAY = "{{ params.day }} of ${WHO}" }\npayload = { x = ["{{ steps.a.output.x }}"] }',
        )
    )

    one = steps_of(good(text, WHO="me"))["b"]

    assert one.definition is not None
    assert one.definition.spec == {"command": "echo ${DAY}", "env": {"DAY": "{{ params.day }} of me"}}
    assert one.payload == {"x": ["{{ steps.a.output.x }}"]}
    assert one.overlay == {"env": {"DAY": "{{ params.day }} of me"}}


def test_a_step_can_be_a_job_of_the_file(good: Good) -> None:
    job = '[[jobs]]\nid = "report"\ncommand = "x"\nenv = { A = "1" }\n'
    keys = 'job = "report"\nafter = "a"\nenv = { DAY = "{{ steps.a.output }}" }\nstdin = "hello"\npayload = 5'

    one = steps_of(good(job + HEAD + step("a") + step("b", keys)))["b"]

    assert (one.job, one.definition, one.payload) == ("report", None, 5)
    assert one.spec == {"env": {"DAY": "{{ steps.a.output }}"}, "stdin": "hello"}


# -- gates of steps


def test_a_step_may_ask_what_other_jobs_have_come_to(good: Good) -> None:
    job = '[[jobs]]\nid = "scan"\ncommand = "x"\n'
    keys = 'command = "x"\ndepends_on = ["scan", "etl.b"]\nwindow_sec = "1h"\non_missing = "fail"\nwait_sec = 60'

    one = steps_of(good(job + HEAD + step("a", keys) + step("b")))["a"]

    assert one.definition is not None
    assert (one.definition.kind, one.definition.gate) == (
        "shell",
        Gate(depends_on=(SCAN, JobId("etl.b")), window=HOUR, on_missing=Action.FAIL, wait=MINUTE),
    )


@pytest.mark.parametrize(
    ("of_all", "of_workflow", "of_step", "zone"),
    [
        ("", "", "", "UTC"),
        ('timezone = "Asia/Tokyo"', "", "", "Asia/Tokyo"),
        ('timezone = "Asia/Tokyo"', 'timezone = "Europe/Berlin"', "", "Europe/Berlin"),
        ("", 'timezone = "Europe/Berlin"', 'timezone = "America/Lima"', "America/Lima"),
    ],
)
def test_the_day_of_a_gate_is_that_of_its_workflow(
    good: Good, of_all: str, of_workflow: str, of_step: str, zone: str
) -> None:
    keys = f'command = "x"\ndepends_on = "etl"\nwindow = "local_day"\n{of_step}'

    one = steps_of(good(f"[defaults]\n{of_all}\n{HEAD}{of_workflow}\n{step('a', keys)}"))["a"]

    assert one.definition is not None
    assert one.definition.gate == Gate(depends_on=(JobId("etl"),), window_kind=WindowKind.LOCAL_DAY, timezone=zone)


def test_a_step_may_be_a_gate_by_name(good: Good) -> None:
    keys = 'kind = "gate"\ndepends_on = "etl"\ncommand = "https://x.example"\ninner_kind = "http"'

    one = steps_of(good(HEAD + step("a", keys)))["a"]

    assert one.definition is not None
    assert (one.definition.kind, one.definition.runner) == ("workflow", "http")


def test_a_job_that_only_somebody_else_may_have_stored_is_a_warning(loaded: Loader) -> None:
    [warning] = loaded(HEAD + step("a", 'command = "x"\ndepends_on = "elsewhere"')).problems

    assert (warning.line, warning.message) == (6, "job 'elsewhere' is not in these files")


# -- another id


def test_a_workflow_can_say_what_it_was(good: Good) -> None:
    assert good(HEAD + 'was = "load"\n' + step("a")).declared.renames == {"load": "etl"}


def test_two_cannot_have_been_the_same(loaded: Loader) -> None:
    job = '[[jobs]]\nid = "report"\nwas = "load"\ncommand = "x"\n'

    [error] = loaded(job + HEAD + 'was = "load"\n' + step("a")).errors

    assert (error.line, error.message) == (7, 'job "report" was "load" already')


@pytest.mark.parametrize(
    ("value", "approval"),
    [
        ("true", Approval()),
        ("{}", Approval()),
        ('{ timeout_sec = "1d", default = "approve" }', Approval(timeout=DAY, default=Answer.APPROVE)),
        ("{ timeout_sec = 0 }", Approval()),
    ],
)
def test_a_step_can_ask_a_person(good: Good, value: str, approval: Approval) -> None:
    one = steps_of(good(HEAD + step("ask", f"approve = {value}")))["ask"]

    assert (one.approval, one.definition) == (approval, None)


def test_a_step_that_asks_nobody_is_a_job(good: Good) -> None:
    assert steps_of(good(HEAD + step("a", 'approve = false\ncommand = "x"')))["a"].approval is None


# -- defaults


def test_bounds_for_all_hold_for_steps_and_not_for_the_whole(good: Good) -> None:
    defaults = """
        [defaults]
        timeout_sec = 60
        max_concurrent = 2
        concurrency_key = "db"
        overlap = "queue"
        timezone = "Europe/Berlin"
        owner = "me"
        env = { A = "1", B = "1" }
        payload = "for all"
    """
    text = defaults + HEAD + 'schedule = "@daily"\n' + step("a", 'command = "x"\nenv = { B = "2" }')

    configuration = good(text)

    [schedule] = configuration.declared.schedules.values()
    whole, one = etl(configuration), steps_of(configuration)["a"]
    assert (whole.options, whole.owner) == (Options(), "me")
    assert (schedule.overlap, schedule.timezone) == ("queue", "Europe/Berlin")
    assert one.definition is not None
    assert (one.definition.options.timeout, one.definition.options.max_concurrent) == (MINUTE, 2)
    assert (one.definition.options.concurrency_key, one.overlap) == ("db", StepOverlap.ALLOW)
    assert (one.definition.spec["env"], one.definition.owner) == ({"A": "1", "B": "2"}, "me")
    assert (one.payload, one.definition.payload_template) == (None, "for all")


def test_defaults_are_nothing_to_a_step_that_is_no_job_of_its_own(good: Good) -> None:
    text = '[defaults]\nkind = "http"\nenv = { A = "1" }\n' + HEAD + step("a", "approve = true")

    assert steps_of(good(text))["a"] == Step(name="a", approval=Approval())


# -- what cannot be


@pytest.mark.proves("R2-30", "R2-31", "R2-32", "R2-33")
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "a workflow needs at least one step"),
        ("steps = 5", 3, "steps must be a list of tables"),
        ("steps = [5]", 3, "it must be a table"),
        (step("a") + step("a"), 6, 'step "a" is there twice'),
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
            "the steps wait for each other: ",
        ),
        (step("a b"), 3, "step \"a b\": step 'a b' is not a usable name"),
        ('[[workflows.steps]]\ncommand = "x"', 3, "the step has no name"),
        (step("a", ""), 3, "a job of kind shell needs command or argv"),
        (step("a", 'kind = "workflow"\ncommand = "x"'), 3, "a job of kind workflow needs depends_on"),
        (step("a", 'kind = "fanout"\ncommand = "x"'), 5, "kind 'fanout' does not exist"),
        (step("a", 'command = "x"\ninner_kind = "http"'), 6, "inner_kind means nothing to a job of kind shell"),
        (step("a", 'command = "x"\nurl = "y"'), 6, "url means nothing to a job of kind shell"),
        (step("a", 'command = "x"\ntimeout_sec = -1'), 6, "must be 0 to"),
        (step("a", 'command = "x"\npriority = 9999'), 6, "priority must be"),
        (step("a", 'command = "x"\ndepends_on = "etl.a"'), 6, '"etl.a" cannot depend on itself'),
        (step("a", 'command = "x"\ndepends_on = []'), 6, "depends_on names 1 to"),
        (step("a", 'command = "x"\ndepends_on = ["etl", "etl"]'), 6, '"etl" is named twice'),
        (step("a", 'command = "x"\ndepends_on = "etl.aa"'), 6, "job 'etl.aa' does not exist"),
        (step("a", 'command = "x"\nwindow_sec = 5'), 6, "window_sec means nothing without depends_on"),
        (step("a", 'command = "x"\ntimezone = "UTC"'), 6, "timezone means nothing without depends_on"),
        (step("a", 'approve = true\ndepends_on = "etl"'), 6, "depends_on means nothing to a step that asks a person"),
        (step("a", 'command = "x"\noverlap = "cancel_running"'), 6, "'cancel_running' does not exist"),
        (step("a", 'command = "x"\ntrigger_rule = "always"'), 6, "trigger_rule means nothing without after"),
        (step("a") + step("b", 'command = "x"\nafter = "a"\ntrigger_rule = "one_success"'), 10, "one_success counts"),
        (step("a") + step("b", 'command = "x"\nafter = { when = "failure" }'), 9, "the edge has no step"),
        (step("a") + step("b", 'command = "x"\nafter = { step = "a", when = "fail" }'), 9, "condition 'fail' does not"),
        (step("a") + step("b", 'command = "x"\nafter = [{ step = "a" }, 5]'), 9, "must be text, not a whole number"),
        (step("a", 'job = "nowhere"'), 3, 'step "a": job "nowhere" does not exist'),
        (step("a", "job = 5"), 5, "must be text, not a whole number"),
        (step("a", 'job = "etl"'), 3, 'step "a": "etl" is a workflow and cannot be a step'),
        (step("a", "approve = 5"), 5, "approve must be true or a table"),
        (step("a", 'approve = { default = "skip" }'), 5, "'skip' does not exist"),
        (step("a", 'approve = true\ncommand = "x"'), 6, "command means nothing to a step that asks a person"),
        (
            step("a", 'command = "{{ execution.id }}"'),
            3,
            'step "a": a template cannot stand in command; put it',
        ),
        (step("a", 'command = "x"\npayload = "{{ params.day }}"'), 3, 'step "a": {{ params.day }}: parameter "day"'),
        (step("a", 'command = "x"\nenv = { A = "{{ steps.b.output }}" }') + step("b"), 3, 'step "a": {{ steps.b.outp'),
        (f'params = {{ x = "{"y" * (1 << 20)}" }}\n' + step("a"), 3, "the payload has"),
        ("params = 5\n" + step("a"), 3, "must be a table"),
        ('was = "etl"\n' + step("a"), 3, "was names the workflow itself"),
        ("retry_count = 5\n" + step("a"), 3, "key 'retry_count' does not exist"),
        (step("x" * 198), 3, f'step "{"x" * 64}": \'etl.xxx'),
    ],
)
def test_a_workflow_that_cannot_be_walked_through_is_refused(
    loaded: Loader, text: str, line: int, message: str
) -> None:
    [error] = loaded(HEAD + text).errors

    assert (error.line, error.message[: len(message)]) == (line, message)


def test_a_step_gives_a_job_of_the_file_anew_only_what_is_data(loaded: Loader) -> None:
    job = '[[jobs]]\nid = "report"\nkind = "http"\nurl = "https://x.example"\n'
    keys = 'job = "report"\nurl = "https://y.example"\ntimeout_sec = 5\nheaders = { "A b" = "x" }\napprove = true'

    errors = loaded(job + HEAD + step("a", keys)).errors

    assert [(error.line, error.message[:40]) for error in errors] == [
        (10, "url means nothing to a step that runs jo"),
        (11, "timeout_sec means nothing to a step that"),
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
def test_the_near_match_is_offered(loaded: Loader, text: str, hint: str) -> None:
    [error] = loaded('[[jobs]]\nid = "report"\ncommand = "x"\n' + HEAD + text).errors

    assert error.hint == hint


@pytest.mark.proves("D1", "R2-31")
def test_everything_that_is_wrong_is_said_at_once(loaded: Loader) -> None:
    errors = loaded(
        HEAD
        + 'timeout_sec = -1\npriority = "high"\n'  # 3, 4
        + step("a", 'comand = "x"')  # 5
        + step("b", 'command = "x"\nafter = "nowhere"')  # 8, 11
        + step("c", 'job = "nobody"')  # 12
        + step("d", 'command = "x"\nafter = { step = "b", when = "ok" }')  # 15, 18
    ).errors

    assert [error.line for error in errors] == [3, 4, 5, 7, 11, 12, 18]


# -- names


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
        ('[[workflows]]\nid = "a/b"\n' + step("a"), 2, "id 'a/b' is not a usable name"),
    ],
)
def test_jobs_workflows_and_steps_share_one_space_of_names(loaded: Loader, text: str, line: int, message: str) -> None:
    [error] = loaded(text).errors

    assert (error.line, error.message) == (line, message)


def test_workflows_can_be_included(good: Good) -> None:
    configuration = good('include = "flows.toml"', {"flows.toml": HEAD + step("a")})

    assert list(configuration.declared.workflows) == ["etl"]


def test_workflows_are_a_list_of_tables(loaded: Loader) -> None:
    [error] = loaded('[workflows]\nid = "etl"').errors

    assert (error.message, error.hint) == ("workflows must be a list of tables", "Write [[workflows]].")


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ('queue = "mail"\n' + step("a"), 3, 'does not work on queue "mail"'),
        (step("a", 'command = "x"\nqueue = "mail"'), 6, 'does not work on queue "mail"'),
        (step("a", 'command = "x"\nlabels = ["gpu"]'), 6, "arrives with a later version"),
    ],
)
def test_what_is_doubtful_is_a_warning(loaded: Loader, text: str, line: int, part: str) -> None:
    result = loaded(HEAD + text)

    assert result.configuration is not None
    [warning] = result.warnings
    assert warning.line == line
    assert part in warning.message


def test_a_workflow_of_ten_thousand_steps_is_read(good: Good) -> None:
    chain = "".join(step(f"s{number}", f'command = "x"\nafter = "s{number - 1}"') for number in range(1, 10_000))

    configuration = good(HEAD + step("s0") + chain)

    assert len(etl(configuration).steps) == 10_000
