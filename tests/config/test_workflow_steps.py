"""[[workflows.steps]]: options of steps."""

import pytest

from foliot.domain.gate.spec import Action, Gate, WindowKind
from foliot.domain.ids import JobId
from foliot.domain.instant import DAY, HOUR, MINUTE
from foliot.domain.job.job import Options
from foliot.domain.workflow.conditions import TRIGGER_RULES, Condition
from foliot.domain.workflow.output import OutputTest
from foliot.domain.workflow.spec import ON_SUCCESS, Answer, Approval, Edge, Step, StepOverlap
from tests.cases import for_each
from tests.config.conftest import Good, Loader
from tests.config.workflow_texts import HEAD, etl, step, steps_of

SCAN = JobId("scan")
FAILURE = frozenset({Condition.FAILURE})
ANY = frozenset({Condition.SUCCESS, Condition.FAILURE})


# -- edges


@for_each(
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
def test_trigger_rules_are_translated_to_conditions(good: Good, rule: str, conditions: frozenset[Condition]) -> None:
    text = HEAD + step("a") + step("b", f'command = "x"\nafter = "a"\ntrigger_rule = "{rule}"')

    assert steps_of(good(text))["b"].after == (Edge(parent="a", when=conditions),)


@for_each("when", ["failure", "complete", "all_done"])
def test_a_step_may_recover_a_failure(good: Good, when: str) -> None:
    keys = f'command = "x"\nafter = {{ step = "a", when = "{when}" }}\nrecovers = true'

    assert [one.recovers for one in steps_of(good(HEAD + step("a") + step("b", keys))).values()] == [False, True]


# -- what a step does


def test_a_step_has_the_options_of_its_kind(good: Good) -> None:
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


def test_templates_are_kept_and_variables_are_replaced(good: Good) -> None:
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


@pytest.mark.parametrize(
    ("value", "approval"),
    [
        ("true", Approval()),
        ("{}", Approval()),
        ('{ timeout_sec = "1d", default = "approve" }', Approval(timeout=DAY, default=Answer.APPROVE)),
        ("{ timeout_sec = 0 }", Approval()),
    ],
)
def test_a_step_can_require_approval(good: Good, value: str, approval: Approval) -> None:
    one = steps_of(good(HEAD + step("ask", f"approve = {value}")))["ask"]

    assert (one.approval, one.definition) == (approval, None)


def test_approve_false_makes_a_job(good: Good) -> None:
    assert steps_of(good(HEAD + step("a", 'approve = false\ncommand = "x"')))["a"].approval is None


# -- gates of steps


def test_a_step_may_have_a_gate(good: Good) -> None:
    job = '[[jobs]]\nid = "scan"\ncommand = "x"\n'
    keys = 'command = "x"\ndepends_on = ["scan", "etl.b"]\nwindow_sec = "1h"\non_missing = "fail"\nwait = 60'

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
def test_a_gate_of_a_step_inherits_the_timezone_of_its_workflow(
    good: Good, of_all: str, of_workflow: str, of_step: str, zone: str
) -> None:
    keys = f'command = "x"\ndepends_on = "etl"\nwindow_kind = "local_day"\n{of_step}'

    one = steps_of(good(f"[defaults]\n{of_all}\n{HEAD}{of_workflow}\n{step('a', keys)}"))["a"]

    assert one.definition is not None
    assert one.definition.gate == Gate(depends_on=(JobId("etl"),), window_kind=WindowKind.LOCAL_DAY, timezone=zone)


def test_a_step_may_be_a_gate_by_name(good: Good) -> None:
    keys = 'kind = "gate"\ndepends_on = "etl"\ncommand = "https://x.example"\ninner_kind = "http"'

    one = steps_of(good(HEAD + step("a", keys)))["a"]

    assert one.definition is not None
    assert (one.definition.kind, one.definition.runner) == ("workflow", "http")


def test_a_job_that_is_not_in_the_files_is_a_warning(loaded: Loader) -> None:
    [warning] = loaded(HEAD + step("a", 'command = "x"\ndepends_on = "elsewhere"')).problems

    assert (warning.line, warning.message) == (6, "job 'elsewhere' is not in these files")


# -- defaults


def test_default_limits_apply_to_steps_and_not_to_the_workflow(good: Good) -> None:
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


def test_defaults_do_not_apply_to_approval_steps(good: Good) -> None:
    text = '[defaults]\nkind = "http"\nenv = { A = "1" }\n' + HEAD + step("a", "approve = true")

    assert steps_of(good(text))["a"] == Step(name="a", approval=Approval())
