"""[[chains]] and [chain_ceilings]: every option, every kind of stage, and the problems of both."""

from typing import Any, Final

import msgspec
import pytest

from foliot.config import Configuration
from foliot.domain.chain.decision import Decision
from foliot.domain.chain.spec import BreakerRule, ChainSpec, Interval, Limits, Stage
from foliot.domain.chain.step import stage_spec
from foliot.domain.instant import HOUR, MINUTE, SECOND
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.job.kinds import check_spec
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.schedule.schedule import Overlap
from tests.cases import for_each
from tests.config.conftest import Good, Loader

HEAD: Final = '[[chains]]\nid = "disk"\n'
ACTION: Final = '[chains.action]\ncommand = "act"\n'
VERIFY: Final = '[chains.verify]\ncommand = "check"\n'
DEPLOY: Final = '[[jobs]]\nid = "deploy"\ncommand = "x"\n'


def job_of(configuration: Configuration) -> JobSpec:
    return next(job for job in configuration.declared.jobs.values() if job.kind == "chain")


def spec_of(configuration: Configuration) -> ChainSpec:
    return msgspec.convert(job_of(configuration).spec, ChainSpec, str_keys=True)


def action_of(configuration: Configuration) -> Stage:
    return spec_of(configuration).stages["action"]


# -- what can be written


def test_a_class_needs_an_id_and_an_action(good: Good) -> None:
    configuration = good(HEAD + ACTION)

    assert spec_of(configuration) == ChainSpec(stages={"action": Stage(spec={"command": "act"})})
    assert job_of(configuration).options == Options(queue=TREES_QUEUE)
    assert configuration.declared.schedules == {}


@pytest.mark.proves("R3-15", "R3-16")
def test_the_limits_have_the_defaults_of_the_specification(good: Good) -> None:
    limits = spec_of(good(HEAD + ACTION)).limits

    assert (limits.max_depth, limits.max_children, limits.max_retries) == (4, 8, 3)
    assert (limits.lifetime, limits.max_concurrent) == (90 * MINUTE, 3)
    assert (limits.spawns, limits.spawn_window) == (3, 10 * SECOND)
    assert (limits.class_spawns, limits.class_window) == (10, 60 * SECOND)
    assert (limits.tokens, limits.usd, limits.daily_tokens, limits.daily_usd) == (None, None, None, None)


def test_every_option_of_a_class_is_read(good: Good) -> None:
    head = """
        [[chains]]
        id = "disk"
        name = "Disks"
        description = "Clears a full disk"
        owner = "me"
        tags = ["x", "y"]
        enabled = false
        payload = { path = "${PLACE}" }
        max_depth = 3
        max_children = 20
        max_retries = 0
        lifetime = "2h"
        max_concurrent = 1
        spawns = 5
        spawn_window = "20s"
        class_spawns = 7
        class_window = "2m"
        tokens = 1000
        usd = 0.5
        daily_tokens = 5000
        daily_usd = 2
        window = "30m"
        grace = 0
        good_checks = 3
        breaker = { failures = 2, window = "10m", cooldown = "1h" }
        [[chains.intervals]]
        within = "10m"
        every = "1m"
        [[chains.intervals]]
        every = "15m"
    """

    configuration = good(head + ACTION, PLACE="/srv")

    job, spec = job_of(configuration), spec_of(configuration)
    assert (job.description, job.owner, job.tags, job.enabled) == ("Clears a full disk", "me", ("x", "y"), False)
    assert spec.limits == Limits(
        max_depth=3,
        max_children=20,
        max_retries=0,
        lifetime=2 * HOUR,
        max_concurrent=1,
        spawns=5,
        spawn_window=20 * SECOND,
        class_spawns=7,
        class_window=2 * MINUTE,
        tokens=1000,
        usd=0.5,
        daily_tokens=5000,
        daily_usd=2.0,
    )
    assert (spec.window, spec.grace, spec.good_checks) == (30 * MINUTE, 0, 3)
    assert spec.breaker == BreakerRule(failures=2, window=10 * MINUTE, cooldown=HOUR)
    assert spec.intervals == (Interval(within=10 * MINUTE, every=MINUTE), Interval(every=15 * MINUTE))


def test_every_option_of_a_stage_is_read(good: Good) -> None:
    action = """
        delay = "5s"
        retry_delays = ["1s", 2]
        exit_codes = { 0 = "done", 7 = "retry", 15 = "close" }
        transient_codes = [75, 111]
        transient_patterns = ["try later"]
        idempotent = true
        timeout = "9s"
        queue = "default"
        priority = 3
        env = { A = "{{chainId}}" }
    """

    stage = action_of(good(HEAD + ACTION + action))

    assert (stage.delay, stage.retry_delays) == (5 * SECOND, (SECOND, 2 * SECOND))
    assert stage.exit_codes == {0: Decision.DONE, 7: Decision.RETRY, 15: Decision.CLOSE}
    assert (stage.transient_codes, stage.transient_patterns, stage.idempotent) == ((75, 111), ("try later",), True)
    assert stage.options == {"timeout": 9 * SECOND, "priority": 3}
    assert stage.spec == {"command": "act", "env": {"A": "{{chainId}}"}}


@for_each(
    ("text", "kind", "spec"),
    [
        ('command = "x"', "shell", {"command": "x"}),
        ('argv = ["x", "{{depth}}"]', "shell", {"argv": ("x", "{{depth}}")}),
        ('kind = "http"\nurl = "https://a.example/{{chainId}}"', "http", {"url": "https://a.example/{{chainId}}"}),
        ('kind = "python"\ncall = "tasks:act"', "python", {"call": "tasks:act"}),
        ('kind = "agent"\nprompt = "Attempt {{attempt}}"', "agent", {"prompt": "Attempt {{attempt}}"}),
    ],
)
def test_a_stage_can_be_a_job_of_any_kind(good: Good, text: str, kind: str, spec: dict[str, Any]) -> None:
    stage = action_of(good(f"{HEAD}[chains.action]\n{text}\n"))

    assert (stage.kind, {name: _tuples(stage.spec[name]) for name in spec}) == (kind, spec)
    check_spec(stage.kind, stage.spec)


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def test_a_stage_can_be_a_fanout(good: Good) -> None:
    stage = action_of(good(f'{HEAD}[chains.action]\nkind = "fanout"\ncommand = "x"\nitems = [1, 2]\n'))

    assert (stage.kind, stage.options["queue"]) == ("fanout", TREES_QUEUE)
    assert (stage.spec["items"], stage.spec["inner_kind"]) == ([1, 2], "shell")


@for_each(
    "other",
    [DEPLOY, '[[workflows]]\nid = "deploy"\n[[workflows.steps]]\nname = "a"\ncommand = "x"\n'],
)
def test_a_stage_can_run_a_registered_job_or_workflow(good: Good, other: str) -> None:
    text = HEAD + '[chains.action]\njob = "deploy"\ndelay = "1s"\nexit_codes = { 0 = "done", 3 = "close" }\n' + other

    stage = action_of(good(text))

    assert (stage.job, stage.delay, stage.exit_codes) == (
        "deploy", SECOND, {0: Decision.DONE, 3: Decision.CLOSE},
    )  # fmt: skip


def test_a_class_may_have_further_stages(good: Good) -> None:
    text = HEAD + ACTION + '[chains.stages.clean-up]\ncommand = "c"\n[chains.stages.notify]\nargv = ["n"]\n'

    assert list(spec_of(good(text)).stages) == ["action", "clean-up", "notify"]


def test_the_scout_has_the_schedule_and_may_look_while_a_chain_is_active(good: Good) -> None:
    text = HEAD + 'every = "5m"\n[chains.scout]\ncommand = "look"\n' + ACTION

    [schedule] = good(text).declared.schedules.values()

    assert (schedule.job_id, schedule.overlap) == ("disk", Overlap.ALLOW)


def test_an_overlap_that_was_written_is_kept(good: Good) -> None:
    [schedule] = good(HEAD + 'every = "5m"\noverlap = "skip"\n' + ACTION).declared.schedules.values()

    assert schedule.overlap is Overlap.SKIP


def test_classes_can_be_included(good: Good) -> None:
    assert list(good('include = "more.toml"', {"more.toml": HEAD + ACTION}).declared.jobs) == ["disk"]


def test_variables_of_stages_are_expanded_and_what_was_written_is_kept(good: Good) -> None:
    text = f'{HEAD}[chains.action]\nkind = "http"\nurl = "https://a.example/${{KEY}}"\n'

    stage = action_of(good(text, KEY="secret"))

    assert (stage.spec["url"], stage.written) == ("https://a.example/secret", {"url": "https://a.example/${KEY}"})


def test_ceilings_can_be_lowered_and_raised(good: Good) -> None:
    ceilings = "[chain_ceilings]\nmax_depth = 40\nlifetime = '3d'\nmax_children = 8\n"

    limits = spec_of(good(ceilings + HEAD + 'max_depth = 30\nlifetime = "2d"\n' + ACTION)).limits

    assert (limits.max_depth, limits.lifetime, limits.max_children) == (30, 48 * HOUR, 8)


def test_exit_codes_that_decide_are_successes_of_the_process(good: Good) -> None:
    stage = spec_of(good(HEAD + ACTION + VERIFY)).stages["verify"]

    spec = stage_spec({"verify": stage}, None).spec

    assert (spec["success_codes"], spec["output"]) == ([0, 20, 30, 40], "last_line")


# -- problems


Problem = tuple[int, str, str, str]
"""Line, key, a part of the message, a part of the hint."""
STAGE_PROBLEMS: Final[dict[str, Problem]] = {
    "tiemout = 3": (5, "tiemout", "key 'tiemout' does not exist", 'Did you mean "timeout"?'),
    "retries = 3": (5, "retries", "key 'retries' does not exist", "Use max_retries of the chain."),
    'after = "3s"': (5, "after", "key 'after' does not exist", "Use delay."),
    "delay = -3": (5, "delay", "must be 0 to ", "Write seconds"),
    "retry_delays = [0]": (5, "retry_delays", "must be 1 to ", "Write seconds"),
    "transient_codes = [300]": (5, "transient_codes", "must be 0 to 255, not 300", "within these bounds"),
    'exit_codes = { 0 = "dome" }': (5, "exit_codes", "'dome' is not an allowed value", 'Did you mean "done"?'),
    'exit_codes = { 0 = "quiet" }': (5, "exit_codes", "the stage action cannot decide quiet", "close, done, escalate"),
    'exit_codes = { 256 = "done" }': (5, "exit_codes", "must be 0 to 255, not 256", "within these bounds"),
    'exit_codes = { x = "done" }': (5, "exit_codes", "'x' is not a whole number", "Write digits"),
    "exit_codes = [1]": (5, "exit_codes", "must be a table of exit codes", 'Write { 0 = "good", 30 = "retry" }.'),
    'kind = "ftp"': (5, "kind", "kind 'ftp' does not exist", "shell, http, python, agent, fanout"),
    'kind = "chain"': (5, "kind", "kind 'chain' does not exist", "shell, http, python, agent, fanout"),
    'prompt = "x"': (5, "prompt", "prompt is not an option of kind shell", "It is an option of kind agent."),
    'job = "deploy"': (4, "command", "command is not an option of a stage that runs a job", "Change the job itself"),
}


@for_each(("line", "problem"), STAGE_PROBLEMS.items())
def test_a_problem_of_a_stage_is_reported_once_at_its_line(loaded: Loader, line: str, problem: Problem) -> None:
    [found] = loaded(f"{HEAD}{ACTION}{line}\n{DEPLOY}").errors

    at, key, message, hint = problem
    assert (found.place.line, found.key) == (at, f"chains[1].action.{key}")
    assert (message in found.message, hint in (found.hint or "")) == (True, True), str(found)


CLASS_PROBLEMS: Final[dict[str, Problem]] = {
    "max_depth = 0": (3, ".max_depth", "must be 1 to ", "within these bounds"),
    "max_retries = -1": (3, ".max_retries", "must be 0 to ", "within these bounds"),
    'max_children = "x"': (3, ".max_children", "'x' is not a whole number", "Write digits"),
    "usd = -0.5": (3, ".usd", "must be 0 or more, not -0.5", "Leave it out for no limit."),
    'lifetime = "0s"': (3, ".lifetime", "must be 1 to ", "Write seconds"),
    'window = "0s"': (3, ".window", "must be 1 to ", "Write seconds"),
    "good_checks = 0": (3, ".good_checks", "must be 1 to 100, not 0", "within these bounds"),
    "timeout = 3": (3, ".timeout", "key 'timeout' does not exist", "Use lifetime."),
    'retry_delays = ["1s"]': (3, ".retry_delays", "does not exist", "in a stage, such as [chains.action]"),
    "limits = { max_depth = 3 }": (3, ".limits", "key 'limits' does not exist", "directly below [[chains]]"),
    "max_depth = 17": (3, ".max_depth", "max_depth is 17, above the ceiling of this server, 16", "[chain_ceilings]"),
    'lifetime = "2d"': (3, ".lifetime", "lifetime is 172800 s, above the ceiling", "[chain_ceilings]"),
    "breaker = 3": (3, ".breaker", "breaker must be a table", "Give it keys"),
    "breaker = { failures = 0 }": (3, ".breaker.failures", "must be 1 to 100, not 0", "within these bounds"),
    "breaker = { failure = 3 }": (3, ".breaker.failure", "key 'failure' does not exist", 'Did you mean "failures"?'),
    'breaker = { cooldown = "0s" }': (3, ".breaker.cooldown", "must be 1 to ", "Write seconds"),
    "intervals = 3": (3, ".intervals", "intervals must be a list of tables", "Write [[chains.intervals]]."),
    "intervals = []": (3, ".intervals", "the intervals are not in order", "the last one without within"),
    "intervals = [7]": (3, ".intervals[1]", "it must be a table", "Give it keys"),
    'intervals = [{ within = "1m" }]': (3, ".intervals[1]", "the interval has no every", 'every = "5m"'),
    "intervals = [{ every = 0 }]": (3, ".intervals[1].every", "must be 1 to ", "Write seconds"),
    'intervals = [{ every = "5m" }, { every = "1m", within = "9m" }]': (
        3, ".intervals", "the intervals are not in order", "from the shortest within to the longest",
    ),
    "stages = 3": (3, ".stages", "stages must be a table", "Write [chains.stages.NAME]."),
    'stages = { verify = { command = "x" } }': (3, ".stages.verify", "has a place of its own", "Write [chains.verify]"),
    'stages = { "a b" = { command = "x" } }': (3, ".stages.'a b'", "is not a valid name", "Use 1 to 200 characters"),
    'monitor = { command = "x" }': (3, ".monitor", "a chain with a monitor needs a verify", "Add a stage verify."),
    "verify = 3": (3, ".verify", "verify must be a table", "Give it keys"),
    'verify = { command = "x", exit_codes = { 0 = "monitor" } }': (
        3, ".verify", "the stage verify can never close the chain", 'Let one exit code mean "good"',
    ),
}  # fmt: skip


@for_each(("line", "problem"), CLASS_PROBLEMS.items())
def test_a_problem_of_a_class_is_reported_once_at_its_line(loaded: Loader, line: str, problem: Problem) -> None:
    [found] = loaded(f"{HEAD}{line}\n{ACTION}").errors

    at, key, message, hint = problem
    assert (found.place.line, found.key) == (at, f"chains[1]{key}")
    assert (message in found.message, hint in (found.hint or "")) == (True, True), str(found)


OTHER_PROBLEMS: Final[dict[str, tuple[str, list[tuple[int, str, str]]]]] = {
    "no action": (HEAD + VERIFY, [(1, "chains[1]", "a chain needs an action")]),
    "an action that cannot be read": (
        HEAD + "action = 3\n",
        [(3, "chains[1].action", "action must be a table")],
    ),
    "no id": ("[[chains]]\n" + ACTION, [(1, "chains[1]", "the chain has no id")]),
    "the id of a class of follow-ups": (
        HEAD.replace("disk", "job:disk") + ACTION,
        [(2, "chains[1].id", "the id of a class cannot begin with job:")],
    ),
    "an id used twice": (
        HEAD + ACTION + HEAD + ACTION,
        [(6, "chains[2].id", 'job "disk" is defined twice')],
    ),
    "the id of a job": (
        HEAD.replace("disk", "deploy") + ACTION + DEPLOY,
        [(2, "chains[1].id", 'job "deploy" is defined twice')],
    ),
    "a default above a ceiling": (
        f"[chain_ceilings]\nmax_children = 4\n{HEAD}{ACTION}",
        [(3, "chains[1]", "max_children is 8, above the ceiling of this server, 4")],
    ),
    "a ceiling of 0": (
        f"[chain_ceilings]\nmax_depth = 0\n{HEAD}{ACTION}",
        [(2, "chain_ceilings.max_depth", "must be 1 to 1000000, not 0")],
    ),
    "a job that does not exist": (
        HEAD + '[chains.action]\njob = "dploy"\n' + DEPLOY,
        [(4, "chains[1].action.job", "job 'dploy' does not exist")],
    ),
    "a further stage with a job that does not exist": (
        HEAD + ACTION + '[chains.stages.more]\njob = "dploy"\n' + DEPLOY,
        [(6, "chains[1].stages.more.job", "job 'dploy' does not exist")],
    ),
    "a stage that runs its chain": (
        HEAD + '[chains.action]\njob = "disk"\n',
        [(2, "chains[1].id", "a stage of a chain cannot run the chain itself")],
    ),
    "chains that run each other": (
        HEAD + '[chains.action]\njob = "flow"\n[[chains]]\nid = "flow"\n[chains.action]\njob = "disk"\n',
        [
            (2, "chains[1].id", "it would start itself without end: disk -> flow -> disk"),
            (6, "chains[2].id", "it would start itself without end: disk -> flow -> disk"),
        ],
    ),
}


@for_each(("text", "problems"), OTHER_PROBLEMS.values())
def test_other_problems_are_reported_at_their_lines(
    loaded: Loader, text: str, problems: list[tuple[int, str, str]]
) -> None:
    found = loaded(text).errors

    assert [(one.place.line, one.key) for one in found] == [problem[:2] for problem in problems], str(found)
    assert all(wanted[2] in one.message for one, wanted in zip(found, problems, strict=True)), str(found)
    assert all(one.hint for one in found)


def test_a_workflow_and_a_chain_that_start_each_other_are_refused(loaded: Loader) -> None:
    flow = '[[workflows]]\nid = "flow"\n[[workflows.steps]]\nname = "a"\njob = "disk"\n'

    found = loaded(HEAD + '[chains.action]\njob = "flow"\n' + flow).errors

    assert {one.key for one in found} == {"chains[1].id", "workflows[1]"}


def test_a_queue_without_a_worker_is_a_warning(loaded: Loader) -> None:
    result = loaded(HEAD + ACTION + 'queue = "gpu"\n')

    assert result.errors == ()
    [warning] = result.problems
    assert (warning.place.line, warning.message) == (5, 'this server does not serve queue "gpu"')


def test_ceilings_belong_into_the_main_file(loaded: Loader) -> None:
    [problem] = loaded('include = "more.toml"', {"more.toml": "[chain_ceilings]\nmax_depth = 3\n"}).errors

    assert problem.message == "[chain_ceilings] belongs into the main file"
