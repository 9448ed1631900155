"""One answer for all schedules that share a specification."""

from foliot.domain.ids import ScheduleId
from foliot.domain.schedule.memoize import memoize_by_spec
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType
from foliot.testing.builders import cron, every

NAMES = [ScheduleId(name) for name in ("a", "b", "c")]


class Survey:
    """Notes whom it asks, and answers with the name."""

    def __init__(self) -> None:
        self.asked: list[ScheduleId] = []

    def __call__(self, spec: ScheduleSpec, schedule_id: ScheduleId) -> ScheduleId:
        self.asked.append(schedule_id)
        return schedule_id


def test_schedules_with_one_specification_share_one_call() -> None:
    survey, one, other = Survey(), every(60), every(60)
    specs = [one, other, one]

    ask = memoize_by_spec(survey, specs)

    assert [ask(spec, name) for spec, name in zip(specs, NAMES, strict=True)] == ["a", "b", "a"]
    assert survey.asked == ["a", "b"]


def test_a_specification_that_depends_on_the_id_is_computed_for_each_id() -> None:
    survey, drawn = Survey(), cron("H * * * *")

    ask = memoize_by_spec(survey, [drawn] * 3)

    assert [ask(drawn, name) for name in NAMES] == survey.asked == NAMES


def test_distinct_specifications_are_computed_one_by_one() -> None:
    survey, specs = Survey(), [every(60) for _ in NAMES]

    ask = memoize_by_spec(survey, specs)

    assert [ask(spec, name) for spec, name in zip(specs, NAMES, strict=True)] == survey.asked == NAMES


def test_a_result_of_none_is_memoized() -> None:
    asked, spec = [], every(60)

    ask = memoize_by_spec(lambda spec, name: asked.append(name), [spec] * 3)

    assert [ask(spec, name) for name in NAMES] == [None] * 3
    assert asked == ["a"]


def test_only_a_cron_expression_with_h_depends_on_the_id() -> None:
    assert cron("0 H * * *").depends_on_id
    assert not cron("0 3 * * *").depends_on_id
    assert not ScheduleSpec(type=ScheduleType.MANUAL, expr="H").depends_on_id
