"""Hypothesis strategies for workflow documents of every kind."""

from typing import Any, Final

from hypothesis import strategies as st

from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec

Document = dict[str, Any]

JOBS: Final = {
    JobId("report"): JobSpec(kind="shell", spec={"command": "x"}),
    JobId("call"): JobSpec(kind="http", spec={"url": "https://x.example"}),
}
"""Jobs that documents may name."""
TEXT: Final = st.from_regex(r"[A-Za-z0-9]([ -#%-)+-z|}~]{0,4}[A-Za-z0-9])?", fullmatch=True)
NAMES: Final = st.from_regex(r"[a-z][a-z0-9_-]{0,5}", fullmatch=True)
VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
SPANS: Final = st.integers(1, 100_000) | st.sampled_from(["90s", "1h30m", "1d", "500ms"]) | st.just(0.25)
ZONES: Final = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"])
WORDS: Final = st.lists(TEXT, max_size=2)
PAIRS: Final = st.dictionaries(NAMES, TEXT, max_size=2)


def some(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Document]:
    """Any of these keys."""
    return st.fixed_dictionaries({}, optional=keys)


def one(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Document]:
    """Exactly one of these keys."""
    return st.one_of(*(st.fixed_dictionaries({name: value}) for name, value in keys.items()))


@st.composite
def joined(draw: st.DrawFn, *parts: st.SearchStrategy[Document]) -> Document:
    return {name: value for part in parts for name, value in draw(part).items()}


PROCESS: Final = some(
    env=PAIRS,
    working_dir=st.just("/tmp"),
    umask=st.sampled_from(["022", "0077"]),
    limits=some(memory=st.sampled_from(["1GB", 4_194_304]), files=st.integers(8, 99)),
    kill_after=st.integers(0, 60),
    output_cap=st.sampled_from(["1MB", 100]),
)
OUTPUT: Final = some(output=st.sampled_from(["none", "text", "json"]))
SHELL: Final = joined(one(command=TEXT, argv=st.just(["/bin/true", "x"])), PROCESS, OUTPUT, some(stdin=TEXT))
HTTP: Final = joined(
    one(
        url=st.just("https://x.example/a?b=c"), command=st.sampled_from(["POST https://x.example", "https://y.example"])
    ),
    some(
        headers=PAIRS,
        expect_status=st.sampled_from([204, "2xx", ["200-204", 301]]),
        follow=st.booleans(),
        max_redirects=st.integers(0, 3),
        verify=st.booleans(),
    ),
    OUTPUT,
)
PYTHON: Final = joined(one(call=st.just("shop.tasks:load"), command=st.just("shop:x")), PROCESS)
AGENT: Final = joined(
    one(prompt=TEXT, command=TEXT),
    some(cli=st.just(["claude"]), args=some(model=st.just("m"), bare=st.booleans(), extra_args=st.just(["--x"]))),
    PROCESS,
)
GATE: Final = joined(
    st.fixed_dictionaries({"depends_on": st.sampled_from(["report", ["report", "call"]])}),
    some(
        window_kind=st.sampled_from(["sliding", "since_last_success", "local_day"]),
        window_sec=SPANS,
        on_missing=st.sampled_from(["skip", "fail", "run"]),
        on_dep_fail=st.sampled_from(["skip", "fail", "run"]),
        wait=SPANS,
        cooldown_sec=SPANS,
        partial_counts_as=st.sampled_from(["success", "failed"]),
        timezone=ZONES,
    ),
)
OPTIONS: Final = some(
    timeout_sec=SPANS,
    max_concurrent=st.integers(0, 5),
    retry_count=st.integers(0, 5),
    retry_delay_sec=SPANS,
    retry_factor=st.sampled_from([1.0, 2.5, 3]),
    retry_cap=SPANS,
    retry_jitter=st.sampled_from([0.0, 0.5]),
    retry_delays=st.lists(SPANS, max_size=3),
    queue=st.sampled_from(["default", "slow"]),
    priority=st.integers(-5, 5),
    concurrency_key=st.just("db"),
    concurrency_limit=st.integers(1, 3),
    delivery=st.sampled_from(["at_least_once", "at_most_once"]),
    max_lost=st.integers(0, 5),
)
DESCRIBED: Final = some(description=TEXT, category=TEXT, owner=TEXT, tags=WORDS)
KINDS: Final = {"shell": SHELL, "http": HTTP, "python": PYTHON, "agent": AGENT}
OWN: Final = st.sampled_from(sorted(KINDS)).flatmap(
    lambda kind: joined(
        st.just({"kind": kind}), KINDS[kind], OPTIONS, DESCRIBED, st.just({}) | GATE, some(payload=VALUES)
    )
)
BY_NAME: Final = joined(st.just({"kind": "workflow", "inner_kind": "shell"}), SHELL, GATE)
NAMED: Final = joined(st.just({"job": "report"}), some(env=PAIRS, stdin=TEXT, payload=VALUES)) | joined(
    st.just({"job": "call"}), some(headers=PAIRS, body=TEXT)
)
ASKED: Final = st.fixed_dictionaries(
    {"approve": st.just(True) | some(timeout_sec=SPANS, default=st.sampled_from(["approve", "reject"]))}
)
WHEN: Final = st.lists(st.sampled_from(["success", "failure", "skipped", "complete", "none_failed"]), min_size=1)
TEST: Final = some(
    exit_code=st.just(3) | st.lists(st.integers(0, 5), max_size=2), contains=TEXT, path=NAMES, equals=VALUES
)
RULES: Final = st.just({"schedule": "CRON_TZ=Asia/Tokyo 5 4 * * 1"}) | joined(
    one(
        schedule=st.sampled_from(["0 3 * * *", "@daily", "@every 90s", "@triggered"]),
        cron=st.just("H 2 * * *"),
        every=st.sampled_from([60, "1h"]),
        at=st.just("2030-01-31T08:00:00+01:00"),
        manual=st.just(True),
    ),
    some(timezone=ZONES),
)
POLICY: Final = some(
    start_at=st.just("2027-01-01T00:00:00Z"),
    end_at=st.just("2035-01-01T00:00:00.250Z"),
    jitter_ms=st.integers(0, 1_000),
    jitter_mode=st.sampled_from(["around", "after"]),
    overlap=st.sampled_from(["allow", "skip", "queue", "cancel_running"]),
    catchup=st.sampled_from(["none", "once", "all", "spread", "skip"]),
    catchup_max_age_sec=SPANS,
    dst=st.sampled_from(["vixie", "skip", "literal"]),
    dom_dow=st.sampled_from(["or", "and"]),
    user_id=TEXT,
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Draw a document without problems."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    steps = [draw(_step(name, names[:nth])) for nth, name in enumerate(names)]
    if draw(st.booleans()):
        last = {name: value for name, value in steps[-1].items() if name not in ("after", "trigger_rule", "recovers")}
        steps[-1] = {**last, "final": True}
    schedules = [
        {**draw(joined(RULES, POLICY)), "name": name} for name in draw(st.lists(NAMES, max_size=2, unique=True))
    ]
    head = some(
        description=TEXT,
        owner=TEXT,
        tags=WORDS,
        enabled=st.booleans(),
        params=st.dictionaries(NAMES, VALUES, max_size=2),
        timeout_sec=SPANS,
        max_concurrent=st.integers(0, 3),
        queue=st.just("slow"),
        priority=st.integers(-3, 3),
        partial_counts_as=st.sampled_from(["success", "failed"]),
        final_on_cancel=st.booleans(),
        user_id=TEXT,
    )
    how = draw(st.sampled_from(["schedules", "triggers"]))
    types = {"type": "schedule_based"} if how == "triggers" else {}
    return {"id": "etl", **draw(head), how: [{**types, **one} for one in schedules], "steps": steps}


@st.composite
def _step(draw: st.DrawFn, name: str, before: list[str]) -> Document:
    step = draw(OWN | BY_NAME | NAMED | ASKED)
    parents = draw(st.lists(st.sampled_from(before), unique=True)) if before else []
    edges = [draw(st.just(parent) | joined(st.just({"step": parent}), some(when=WHEN), TEST)) for parent in parents]
    rule = draw(some(trigger_rule=st.sampled_from(["always", "all_done", "none_skipped"]))) if edges else {}
    is_after_failure = bool(rule) and isinstance(edges[0], str)
    recovers = draw(some(recovers=st.booleans())) if is_after_failure else {}
    return {"name": name, **step, **({"after": edges} if edges else {}), **rule, **recovers}
