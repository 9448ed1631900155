"""depends_on: the conditions of a job on other jobs."""

import json
from typing import Any

import msgspec
import pytest

from foliot.config import Configuration
from foliot.domain.gate.spec import Action, Gate, WindowKind
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import DAY, HOUR, MINUTE
from foliot.domain.job.job import JobSpec
from tests.cases import for_each
from tests.config.conftest import Good, Loader

DEPENDENCIES = '[[jobs]]\nid = "a"\ncommand = "x"\n[[jobs]]\nid = "b"\ncommand = "x"\n'
GATE = DEPENDENCIES + '[[jobs]]\nid = "gate"\nkind = "workflow"\n'
LINE = 10
"""The first one after GATE."""


def the_gate(configuration: Configuration) -> JobSpec:
    return configuration.declared.jobs[JobId("gate")]


@pytest.mark.proves("R0-12", "R0-13")
def test_a_gate_needs_only_depends_on_and_a_command(good: Good) -> None:
    job = the_gate(good(GATE + 'depends_on = ["a", "b"]\ncommand = "digest"'))

    assert (job.kind, job.inner_kind, job.runner) == ("workflow", "shell", "shell")
    assert job.gate is not None
    assert job.gate.depends_on == ("a", "b")
    assert (job.gate.window_kind, job.gate.window, job.gate.timezone) == (WindowKind.SLIDING, DAY, "UTC")
    assert (job.gate.on_missing, job.gate.on_dep_fail) == (Action.SKIP, Action.SKIP)
    assert (job.gate.wait, job.gate.cooldown, job.gate.partial_counts_as) == (0, 0, "success")


@pytest.mark.proves("R0-12")
def test_a_gate_has_a_schedule_and_a_time_zone_like_any_other_job(good: Good) -> None:
    keys = 'schedule = "30 14 * * *"\ntimezone = "Europe/Berlin"\ncommand = "x"\n'
    declared = good(GATE + 'depends_on = ["a"]\n' + keys + '[[jobs]]\nid = "plain"\n' + keys).declared

    gate, plain = (declared.schedules[ScheduleId(f"{name}:default")] for name in ("gate", "plain"))
    assert (gate.job_id, gate.expr, gate.timezone) == ("gate", "30 14 * * *", "Europe/Berlin")
    assert msgspec.structs.replace(gate, job_id=plain.job_id) == plain


@pytest.mark.proves("R0-14", "R0-15", "R0-16", "R0-74")
def test_every_option_of_a_gate_is_read(good: Good) -> None:
    keys = """
        depends_on = "a"
        timezone = "Europe/Berlin"
        window_kind = "local_day"
        window_sec = "2h"
        on_missing = "fail"
        on_dep_fail = "run"
        wait = "15m"
        cooldown_sec = 3600
        partial_counts_as = "failed"
        command = "x"
    """

    assert the_gate(good(GATE + keys)).gate == Gate(
        depends_on=(JobId("a"),),
        timezone="Europe/Berlin",
        window_kind=WindowKind.LOCAL_DAY,
        window=2 * HOUR,  # type: ignore[arg-type]
        on_missing=Action.FAIL,
        on_dep_fail=Action.RUN,
        wait=15 * MINUTE,  # type: ignore[arg-type]
        cooldown=HOUR,
        partial_counts_as="failed",
    )


@pytest.mark.parametrize("kind", ["workflow", "gate"])
def test_a_gate_has_two_names(good: Good, kind: str) -> None:
    assert the_gate(good(GATE.replace("workflow", kind) + 'depends_on = "a"\ncommand = "x"')).kind == "workflow"


# -- the work of a gate


@pytest.mark.proves("R0-25", "R0-26")
@for_each(
    ("keys", "runner", "spec"),
    [
        ({"command": "digest --all"}, "shell", {"command": "digest --all"}),
        ({"command": "https://x.example"}, "shell", {"command": "https://x.example"}),
        ({"command": "{ echo hi; }"}, "shell", {"command": "{ echo hi; }"}),
        ({"command": '{"a": 1}'}, "shell", {"command": '{"a": 1}'}),
        ({"command": '["url"]'}, "shell", {"command": '["url"]'}),
        ({"command": "[" * 100_000}, "shell", {"command": "[" * 100_000}),
        (
            {"command": ' {"method": "POST", "url": "https://x.example"} '},
            "http",
            {"method": "POST", "url": "https://x.example"},
        ),
        ({"command": '{"url": "https://x.example"}'}, "http", {"url": "https://x.example"}),
        ({"argv": ["ls"]}, "shell", {"argv": ["ls"]}),
        ({"url": "https://x.example"}, "http", {"url": "https://x.example"}),
        ({"inner_kind": "http", "command": "https://x.example"}, "http", {"url": "https://x.example"}),
        ({"inner_kind": "claude", "command": "sum up"}, "agent", {"prompt": "sum up"}),
        ({"inner_kind": "agent", "prompt": "sum up"}, "agent", {"prompt": "sum up"}),
        ({"inner_kind": "python", "command": "shop:send"}, "python", {"call": "shop:send"}),
        ({"inner_kind": "shell", "command": '{"url": "x"}'}, "shell", {"command": '{"url": "x"}'}),
    ],
)
def test_the_kind_of_a_gate_follows_from_its_command(
    good: Good, keys: dict[str, Any], runner: str, spec: dict[str, Any]
) -> None:
    written = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())

    job = the_gate(good(f'{GATE}depends_on = "a"\n{written}'))

    assert (job.kind, job.runner, job.spec) == ("workflow", runner, spec)


def test_any_job_can_be_a_gate(good: Good) -> None:
    keys = 'kind = "http"\nurl = "https://x.example"\ndepends_on = ["a"]\nwait = 60'

    job = good(f'{DEPENDENCIES}[[jobs]]\nid = "c"\n{keys}').declared.jobs[JobId("c")]

    assert (job.kind, job.inner_kind) == ("http", "")
    assert job.gate == Gate(depends_on=(JobId("a"),), wait=MINUTE)


def test_options_of_gates_can_be_in_defaults(good: Good) -> None:
    declared = good(f'[defaults]\nwait = 60\n{GATE}depends_on = "a"\ncommand = "x"').declared

    assert [job.gate and job.gate.wait for job in declared.jobs.values()] == [None, None, MINUTE]


# -- invalid gates


@pytest.mark.proves("R0-13")
@for_each(
    ("keys", "line", "message"),
    [
        ('command = "x"', LINE - 3, "a job of kind workflow needs depends_on"),
        ('command = "x"\ndepends_on = []', LINE + 1, "depends_on must name 1 to 1000 jobs"),
        ('command = "x"\ndepends_on = 5', LINE + 1, "must be text, not a whole number"),
        ('command = "x"\ndepends_on = ["a", "gate"]', LINE + 1, '"gate" cannot depend on itself'),
        ('command = "x"\ndepends_on = ["a", "b", "a"]', LINE + 1, '"a" is named twice'),
        ('command = "x"\ndepends_on = "a"\non_missing = "skp"', LINE + 2, "'skp' is not an allowed value"),
        ('command = "x"\ndepends_on = "a"\nwindow_kind = "day"', LINE + 2, "'day' is not an allowed value"),
        ('command = "x"\ndepends_on = "a"\nwindow_sec = 0', LINE + 2, "window_sec must be more than 0"),
        ('command = "x"\ndepends_on = "a"\nwindow_sec = "400d"', LINE + 2, "must be 0 to"),
        ('command = "x"\ndepends_on = "a"\ninner_kind = "clude"', LINE + 2, "kind 'clude' does not exist"),
        ('command = "x"\ndepends_on = "a"\ninner_kind = "workflow"', LINE + 2, "kind 'workflow' does not exist"),
        ('command = "x"\ndepends_on = "a"\nurl = "https://x.example"', LINE + 2, "url is not an option of kind"),
        ('depends_on = "a"', LINE - 3, "a job of kind shell needs command or argv"),
        ("depends_on = 'a'\ncommand = '{\"method\": \"GET\"}'", LINE + 1, "the command has no url"),
    ],
)
def test_an_invalid_gate_is_refused_with_its_line(loaded: Loader, keys: str, line: int, message: str) -> None:
    [error] = loaded(GATE + keys).errors

    assert (error.line, error.message[: len(message)]) == (line, message)


@pytest.mark.parametrize(
    ("keys", "hint"),
    [
        ('depends_on = "nightly-bakcup"', 'Did you mean "nightly-backup"?'),
        ('depends_on = "a"\non_dep_fail = "fial"', 'Did you mean "fail"?'),
        ('depends_on = "a"\ninner_kind = "htp"', 'Did you mean "http"?'),
    ],
)
def test_a_similar_name_is_suggested(loaded: Loader, keys: str, hint: str) -> None:
    text = GATE.replace('"b"', '"nightly-backup"')

    assert [error.hint for error in loaded(f'{text}command = "x"\n{keys}').errors] == [hint]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("window_sec = 60", "window_sec requires depends_on"),
        ('inner_kind = "http"', "inner_kind is not an option of kind shell"),
    ],
)
def test_options_of_gates_are_refused_in_other_jobs(loaded: Loader, key: str, message: str) -> None:
    [error] = loaded(f'[[jobs]]\nid = "a"\ncommand = "x"\n{key}').errors

    assert (error.line, error.message) == (4, message)


def test_all_problems_of_a_gate_are_reported_together(loaded: Loader) -> None:
    keys = 'depends_on = ["x", "gate"]\nwindow_sec = -1\non_missing = "?"\nwait = "soon"\npartial_counts_as = 1\n'

    errors = loaded(f'{GATE}{keys}command = "x"').errors

    assert [error.line for error in errors] == [LINE, LINE + 1, LINE + 2, LINE + 3, LINE + 4]


def test_a_job_may_depend_on_an_unreadable_job(loaded: Loader) -> None:
    """The unreadable job is reported once, at its own line."""
    unreadable = '[[jobs]]\nid = "c"\nkind = "shel"\n'

    [error] = loaded(f'{GATE}depends_on = "c"\ncommand = "x"\n{unreadable}').errors

    assert error.message == "kind 'shel' does not exist"


@pytest.mark.parametrize("name", ["flow", "flow.load"])
def test_a_gate_can_depend_on_a_workflow_or_a_step(good: Good, name: str) -> None:
    workflow = '[[workflows]]\nid = "flow"\n[[workflows.steps]]\nname = "load"\ncommand = "x"\n'

    gate = the_gate(good(f'{GATE}depends_on = "{name}"\ncommand = "x"\n{workflow}')).gate

    assert gate is not None
    assert gate.depends_on == (name,)


def test_gates_that_depend_on_each_other_are_a_warning(loaded: Loader) -> None:
    jobs = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "d"), ("f", "a")]
    text = "".join(f'[[jobs]]\nid = "{job}"\ncommand = "x"\ndepends_on = "{other}"\n' for job, other in jobs)

    result = loaded(text)

    assert result.configuration is not None
    assert [warning.message for warning in result.warnings] == [
        "these jobs depend on each other: a -> c -> b -> a",
        "these jobs depend on each other: d -> e -> d",
    ]
    assert [warning.line for warning in result.warnings] == [4, 16]


def test_of_cycles_that_share_a_gate_one_is_reported(loaded: Loader) -> None:
    jobs = [("a", '["b"]'), ("b", '["a", "c"]'), ("c", '["b"]')]
    text = "".join(f'[[jobs]]\nid = "{job}"\ncommand = "x"\ndepends_on = {others}\n' for job, others in jobs)

    [warning] = loaded(text).warnings

    assert warning.message == "these jobs depend on each other: a -> b -> a"


def test_a_misspelt_job_is_an_error_and_an_unknown_job_a_warning(loaded: Loader) -> None:
    """The other job may have been stored by an application: applying the file checks that."""
    jobs = '[[jobs]]\nid = "extract"\ncommand = "x"\n[[jobs]]\nid = "gate"\nkind = "gate"\ncommand = "x"\n'

    slip = loaded(f'{jobs}depends_on = ["extrakt"]')
    stranger = loaded(f'{jobs}depends_on = ["elsewhere"]')

    assert [(error.message, error.hint) for error in slip.errors] == [
        ("job 'extrakt' does not exist", 'Did you mean "extract"?')
    ]
    assert stranger.errors == ()
    assert [warning.message for warning in stranger.warnings] == ["job 'elsewhere' is not in these files"]


@pytest.mark.proves("R0-09")
@pytest.mark.parametrize("key", ['after = "a"', 'when = "failure"', 'trigger_rule = "all_done"', "final = true"])
def test_a_gate_has_no_edges(loaded: Loader, key: str) -> None:
    [error] = loaded(GATE + f'depends_on = ["a", "b"]\ncommand = "x"\n{key}').errors

    assert error.message == f"key {key.split()[0]!r} does not exist"
