"""For any stored and declared definitions, applying the changes gives the declared ones, and then no change is left."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foliot.domain.deploy.compare import compare
from foliot.domain.deploy.deployment import Changes, Current, Declared
from foliot.domain.deploy.rename import possible_renames, renamed_schedule_id, renamed_spec
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.schedule import ScheduleSpec, anchored
from foliot.domain.workflow.jobs import jobs_of
from foliot.testing.clock import START
from tests.domain.deployments import A, B, C, changes_nothing, every, flow, job, stored, work

IDS = st.sampled_from([A, B, C, JobId("d")])
FORMER = IDS | st.sampled_from([JobId("v"), JobId("w")])
FLOWS = st.dictionaries(
    st.sampled_from(["v", "w"]),
    st.builds(
        lambda steps, enabled, source: flow(*steps, enabled=enabled, source=source),
        st.sampled_from([(work("a"),), (work("a", "x"),), (work("a"), work("b", after=["a"]))]),
        st.booleans(),
        st.sampled_from(["file", "api"]),
    ),
)
JOBS = st.builds(job, st.sampled_from(["x", "y"]), enabled=st.booleans(), source=st.sampled_from(["file", "api"]))


@st.composite
def definitions(draw: st.DrawFn) -> tuple[dict[JobId, JobSpec], dict[ScheduleId, ScheduleSpec]]:
    jobs = draw(st.dictionaries(IDS, JOBS))
    schedules = {}
    for job_id in jobs:
        for name in draw(st.sets(st.sampled_from(["default", "noon"]))):
            source = draw(st.sampled_from(["file", "api"]))
            seconds = draw(st.sampled_from([60, 90]))
            schedules[ScheduleId(f"{job_id}:{name}")] = every(seconds, job_id, source=source)
    return jobs, schedules


@st.composite
def declarations(draw: st.DrawFn) -> Declared:
    jobs, schedules = draw(definitions())
    flows = draw(FLOWS)
    return Declared(
        jobs={job_id: replace(spec, source="file") for job_id, spec in jobs.items()},
        schedules={name: replace(spec, source="file") for name, spec in schedules.items()},
        renames=draw(st.dictionaries(FORMER, st.sampled_from(sorted({*jobs, *flows})))) if jobs or flows else {},
        past=frozenset(draw(st.sets(st.sampled_from(sorted(schedules))))) if schedules else frozenset(),
        workflows={name: replace(spec, source="file") for name, spec in flows.items()},
    )


@st.composite
def stored_sets(draw: st.DrawFn) -> Current:
    jobs, schedules = draw(definitions())
    paused = draw(st.sets(st.sampled_from(sorted(schedules)))) if schedules else set()
    workflows = draw(FLOWS)
    behind = {name: spec for flow_id, one in workflows.items() for name, spec in jobs_of(flow_id, 1, one).items()}
    return Current(
        jobs={**behind, **jobs},
        workflows=workflows,
        schedules={name: stored(spec) for name, spec in schedules.items()},
        paused=frozenset(paused),
    )


@given(declarations(), stored_sets())
def test_definitions_that_do_not_concern_a_set_do_not_affect_the_comparison(
    declared: Declared, current: Current
) -> None:
    only = replace(
        current,
        jobs={name: spec for name, spec in current.jobs.items() if declared.concerns(name, spec.source)},
        workflows={name: spec for name, spec in current.workflows.items() if declared.concerns(name, spec.source)},
        schedules={name: spec for name, spec in current.schedules.items() if declared.concerns(name, spec.source)},
    )

    assert compare(declared, only) == compare(declared, current)


@given(declarations(), stored_sets())
def test_after_applying_changes_a_comparison_finds_none(declared: Declared, current: Current) -> None:
    changes = compare(declared, current)
    if changes.refusals:
        return

    after = applied(changes, current)

    assert {job_id: after.jobs[job_id] for job_id in declared.jobs} == declared.jobs
    assert not any(
        spec.enabled
        for name, spec in after.jobs.items()
        if name not in declared.jobs and name not in declared.workflows and spec.source == "file"
    )
    assert not any(
        spec.enabled
        for name, spec in after.workflows.items()
        if name not in declared.workflows and spec.source == "file"
    )
    assert {name: after.workflows[name] for name in declared.workflows} == declared.workflows
    assert len(after.jobs) >= len(current.jobs), "no job is ever deleted"
    moved = [old for old in changes.renames if old in current.workflows and old not in after.workflows]
    assert not any(name.startswith(f"{old}.") for name in after.jobs for old in moved), "a step was left behind"
    wanted = {name: spec for name, spec in declared.schedules.items() if name not in declared.past}
    for name, spec in wanted.items():
        assert after.schedules[name].expr == spec.expr
    assert {name for name, spec in after.schedules.items() if spec.source == "file"} <= declared.schedules.keys()
    assert changes_nothing(compare(declared, after))


def applied(changes: Changes, current: Current) -> Current:
    """Return what is stored after the changes were applied."""
    jobs, schedules, paused = dict(current.jobs), dict(current.schedules), set(current.paused)
    workflows = dict(current.workflows)
    for rename in possible_renames(changes.renames, jobs.keys()):
        jobs[rename.new] = jobs.pop(rename.old)
        if rename.old in workflows:
            workflows[rename.new] = workflows.pop(rename.old)
        for old in [name for name, spec in schedules.items() if spec.target == rename.old]:
            new = renamed_schedule_id(old, rename)
            schedules[new] = renamed_spec(schedules.pop(old), old, rename)
            paused = {new if name == old else name for name in paused}
    jobs |= changes.jobs_to_put
    for name, spec in changes.schedules_to_put.items():
        schedules[name] = anchored(spec, START, schedules.get(name))
    for name in changes.schedules_to_delete:
        del schedules[name]
    workflows |= changes.workflows_to_put
    for workflow_id, workflow in workflows.items():
        jobs |= jobs_of(workflow_id, 1, workflow)
    return Current(jobs=jobs, workflows=workflows, schedules=schedules, paused=frozenset(paused & schedules.keys()))
