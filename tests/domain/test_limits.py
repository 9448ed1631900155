"""Which waiting runs get free slots."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.ids import JobId, ScheduleUid
from foliot.domain.run.limits import Limit, Waiter, admit, is_overlap_key, job_limit, keyed_limit, overlap_key

KEYS = ("a", "b", "c")
WAITERS = st.lists(st.lists(st.sampled_from(KEYS), unique=True, max_size=3), max_size=12).map(
    lambda keys: [Waiter(f"run-{number}", tuple(names)) for number, names in enumerate(keys)]
)
ROOM = st.fixed_dictionaries({key: st.integers(-1, 4) for key in KEYS})


def test_the_first_waiter_gets_the_slot() -> None:
    assert admit([Waiter("one", ("a",)), Waiter("two", ("a",))], {"a": 1}) == ["one"]


def test_a_waiter_that_lacks_one_slot_takes_none_and_blocks_no_other() -> None:
    waiters = [Waiter("both", ("a", "b")), Waiter("one", ("a",))]

    assert admit(waiters, {"a": 1, "b": 0}) == ["one"]


def test_a_waiter_without_limits_is_always_admitted() -> None:
    assert admit([Waiter("free", ())], {}) == ["free"]


@pytest.mark.proves("L10")
@given(WAITERS, ROOM)
def test_no_key_admits_more_runs_than_its_capacity(waiters: list[Waiter], room: dict[str, int]) -> None:
    left = dict(room)

    admitted = set(admit(waiters, left))

    used = Counter(key for waiter in waiters if waiter.run_id in admitted for key in waiter.keys)
    assert all(used[key] <= max(0, room[key]) for key in KEYS)
    assert left == {key: room[key] - used[key] for key in KEYS}


@given(WAITERS, ROOM)
def test_no_waiter_waits_that_could_be_admitted(waiters: list[Waiter], room: dict[str, int]) -> None:
    left = dict(room)
    admitted = set(admit(waiters, left))

    waiting = [waiter for waiter in waiters if waiter.run_id not in admitted]

    assert all(any(left[key] <= 0 for key in waiter.keys) for waiter in waiting)
    assert admit(waiting, left) == []


def test_keys_of_jobs_names_and_schedules_never_collide() -> None:
    keys = {job_limit(JobId("x"), 1).key, keyed_limit("x", 1).key, overlap_key(ScheduleUid("x"))}

    assert len(keys) == 3
    assert job_limit(JobId("x"), 7) == Limit("job:x", 7)


def test_an_overlap_key_is_distinguished_from_keys_of_limits() -> None:
    assert is_overlap_key(overlap_key(ScheduleUid("x")))
    assert not is_overlap_key(job_limit(JobId("tick:x"), 1).key)
    assert not is_overlap_key(keyed_limit("tick:x", 1).key)
