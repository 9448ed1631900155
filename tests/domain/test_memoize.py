"""One result for all schedules with one specification."""

from foliot.domain.ids import ScheduleId
from foliot.domain.schedule.memoize import memoize_by_spec
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType
from foliot.testing.builders import cron, every

NAMES = [ScheduleId(name) for name in ("a", "b", "c")]


class Recorder:
    """Records its calls and returns the id."""

    def __init__(self) -> None:
        self.calls: list[ScheduleId] = []

    def __call__(self, spec: ScheduleSpec, schedule_id: ScheduleId) -> ScheduleId:
        self.calls.append(schedule_id)
        return schedule_id


def test_schedules_with_one_specification_share_one_call() -> None:
    recorder, one, other = Recorder(), every(60), every(60)
    specs = [one, other, one]

    compute = memoize_by_spec(recorder, specs)

    assert [compute(spec, name) for spec, name in zip(specs, NAMES, strict=True)] == ["a", "b", "a"]
    assert recorder.calls == ["a", "b"]


def test_a_specification_that_depends_on_the_id_is_computed_for_each_id() -> None:
    recorder, drawn = Recorder(), cron("H * * * *")

    compute = memoize_by_spec(recorder, [drawn] * 3)

    assert [compute(drawn, name) for name in NAMES] == recorder.calls == NAMES


def test_distinct_specifications_are_computed_one_by_one() -> None:
    recorder, specs = Recorder(), [every(60) for _ in NAMES]

    compute = memoize_by_spec(recorder, specs)

    assert [compute(spec, name) for spec, name in zip(specs, NAMES, strict=True)] == recorder.calls == NAMES


def test_a_result_of_none_is_memoized() -> None:
    calls, spec = [], every(60)

    compute = memoize_by_spec(lambda spec, name: calls.append(name), [spec] * 3)

    assert [compute(spec, name) for name in NAMES] == [None] * 3
    assert calls == ["a"]


def test_only_a_cron_expression_with_h_depends_on_the_id() -> None:
    assert cron("0 H * * *").depends_on_id
    assert not cron("0 3 * * *").depends_on_id
    assert not ScheduleSpec(type=ScheduleType.MANUAL, expr="H").depends_on_id
