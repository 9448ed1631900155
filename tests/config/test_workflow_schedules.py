"""[[workflows.schedules]] and triggers of a workflow."""

import pytest

from foliot.domain.ids import ScheduleId
from tests.cases import for_each
from tests.config.conftest import Good, Loader
from tests.config.workflow_texts import HEAD, step


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
def test_a_trigger_of_type_schedule_is_a_schedule(good: Good) -> None:
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


def test_a_trigger_of_another_type_is_a_warning(loaded: Loader) -> None:
    text = HEAD + '[[workflows.triggers]]\ntype = "event"\nevent = { name = "push" }\n' + step("a")

    result = loaded(text)

    assert result.configuration is not None
    [warning] = result.warnings
    assert (warning.line, warning.message) == (3, "a trigger of type 'event' starts nothing here")


@pytest.mark.proves("R4-33")
@for_each(
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
def test_an_invalid_trigger_is_refused_with_its_line(loaded: Loader, keys: str, line: int, message: str) -> None:
    errors = loaded(f"{HEAD}{keys}\n{step('a')}").errors

    assert (errors[0].line, errors[0].message[: len(message)]) == (line, message)


@pytest.mark.parametrize(
    ("keys", "line", "message"),
    [
        ('schedule = "61 * * * *"', 3, "schedule \"etl:default\": minute '61' is outside 0-59"),
        ("schedules = 5", 3, "schedules must be a list of tables"),
        ("every = 60\n[[workflows.schedules]]\nevery = 90", 4, 'there are two schedules named "default"'),
        ("[[workflows.schedules]]\nevery = 90\npayload = { x = 1 }", 3, "schedule \"etl:default\": parameter 'x' does"),
        (
            "[[workflows.schedules]]\nevery = 90\npayload = 5",
            3,
            'schedule "etl:default": parameters must be a JSON object',
        ),
    ],
)
def test_an_invalid_workflow_schedule_is_refused_with_its_line(
    loaded: Loader, keys: str, line: int, message: str
) -> None:
    [error] = loaded(f"{HEAD}{keys}\n{step('a')}").errors

    assert (error.line, error.message[: len(message)]) == (line, message)
