"""[[jobs]]: options of a job in a file."""

from datetime import UTC, datetime
from typing import Any

import pytest

from foliot.domain.ids import JobId
from foliot.domain.instant import HOUR, MINUTE, SECOND
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.job.kinds import KINDS
from foliot.domain.job.kinds.agent import ARGS
from foliot.domain.run.lane import Executor
from foliot.domain.run.retry import Retry
from foliot.domain.vocabulary.kind import KIND_FIELDS
from foliot.domain.vocabulary.places import JOB, OPTIONS_OF_OTHER_TOOLS
from tests.cases import for_each
from tests.config.conftest import Good, Loader


def only_job(configuration: Any) -> JobSpec:
    [job] = configuration.declared.jobs.values()
    assert isinstance(job, JobSpec)
    return job


def test_a_job_needs_an_id_and_a_command(good: Good) -> None:
    declared = good('[[jobs]]\nid = "a"\ncommand = "true"').declared

    assert declared.jobs == {
        JobId("a"): JobSpec(kind="shell", spec={"command": "true"}, options=Options(max_concurrent=1), source="file")
    }
    assert declared.schedules == {}
    assert declared.source == "file"


def test_every_job_option_of_the_predecessor_is_read(good: Good) -> None:
    job = only_job(
        good("""
        [[jobs]]
        id = "a"
        name = "A"
        description = "B"
        category = "C"
        kind = "shell"
        schedule = "*/5 * * * *"
        timezone = "Europe/Berlin"
        command = "true"
        env = { X = "1", N = 2 }
        working_dir = "/tmp"
        timeout_sec = 60
        max_concurrent = 3
        retry_count = 2
        retry_delay_sec = 5
        enabled = false
        executor = "local"
        labels = []
    """)
    )

    assert (job.name, job.description, job.category, job.enabled) == ("A", "B", "C", False)
    assert job.spec == {"command": "true", "env": {"X": "1", "N": "2"}, "working_dir": "/tmp"}
    assert job.options == Options(
        timeout=MINUTE,
        max_concurrent=3,
        retry=Retry(retries=2, base=SECOND * 5),  # type: ignore[arg-type]
        executor=Executor.LOCAL,
    )


def test_options_of_runs_are_read(good: Good) -> None:
    job = only_job(
        good("""
        [[jobs]]
        id = "a"
        command = "true"
        retry_factor = 3
        retry_cap = "1h"
        retry_jitter = 0.5
        retry_delays = [1, "2m"]
        priority = 5
        queue = "mail"
        executor = "worker"
        labels = ["gpu", "github:owner/repo"]
        concurrency_key = "db"
        concurrency_limit = 2
        delivery = "at_most_once"
        max_lost = 1
        tags = ["x", "y"]
        owner = "me"
        payload = { a = [1, 2026-01-01T00:00:00Z] }
        [server]
        queues = ["mail"]
    """)
    )

    assert job.options.retry == Retry(
        retries=2,
        factor=3.0,
        cap=HOUR,
        jitter=0.5,
        delays=(SECOND, 2 * MINUTE),  # type: ignore[arg-type]
    )
    assert (job.options.priority, job.options.queue, job.options.delivery) == (5, "mail", "at_most_once")
    assert (job.options.concurrency_key, job.options.concurrency_limit, job.options.max_lost) == ("db", 2, 1)
    assert job.options.labels == ("gpu", "github:owner/repo")
    assert job.options.lane == "mail+@worker+gpu"
    assert (job.tags, job.owner) == (("x", "y"), "me")
    assert job.payload_template == {"a": [1, "2026-01-01T00:00:00+00:00"]}


@pytest.mark.parametrize(("text", "limit"), [("", 1), ("max_concurrent = 0", None), ("max_concurrent = 9", 9)])
def test_a_job_of_a_file_has_max_concurrent_1_by_default(good: Good, text: str, limit: int | None) -> None:
    assert only_job(good(f'[[jobs]]\nid = "a"\ncommand = "x"\n{text}')).options.max_concurrent == limit


def test_timeout_0_means_no_limit(good: Good) -> None:
    assert only_job(good('[[jobs]]\nid = "a"\ncommand = "x"\ntimeout_sec = 0')).options.timeout is None


@for_each("key", ["timeout_sec", "retry_count", "priority", "max_concurrent", "every", "jitter_ms"])
@for_each("number", ["9" * 400, "0x" + "f" * 5_000])
def test_a_number_out_of_range_is_reported_with_its_line(loaded: Loader, key: str, number: str) -> None:
    [error] = loaded(f'[[jobs]]\nid = "a"\ncommand = "x"\n{key} = {number}').errors

    assert error.line == 4
    assert len(error.message) < 200


def test_a_number_out_of_range_in_a_table_is_reported_with_its_line(loaded: Loader) -> None:
    [error] = loaded(f'[[jobs]]\nid = "a"\ncommand = "x"\nenv = {{ A = 0x{"f" * 5_000} }}').errors

    assert error.line == 4


# -- kinds


def test_limits_of_a_process_are_read(good: Good) -> None:
    job = only_job(
        good("""
        [[jobs]]
        id = "a"
        argv = ["/bin/cat", "-"]
        stdin = "hello"
        user = "nobody"
        umask = "027"
        kill_after = "5s"
        output_cap = "64KB"
        [jobs.limits]
        memory = "512MB"
        cpu_time = 10
        files = 64
        processes = 5
        file_size = 1000
        core = 0
    """)
    )

    assert job.spec == {
        "argv": ["/bin/cat", "-"],
        "stdin": "hello",
        "user": "nobody",
        "umask": 0o27,
        "grace": 5.0,
        "output_cap": 65_536,
        "limits": {
            "memory": 512 << 20,
            "cpu_sec": 10,
            "files": 64,
            "processes": 5,
            "file_size": 1000,
            "core": 0,
        },
    }


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ('command = "https://x.example/a"', {"url": "https://x.example/a"}),
        ('command = "POST https://x.example/a"', {"method": "POST", "url": "https://x.example/a"}),
        (
            """command = '{"url": "https://x.example", "follow": false}'""",
            {"url": "https://x.example", "follow": False},
        ),
        (
            'url = "https://x.example"\nmethod = "PUT"\nheaders = { A = "b" }\nbody = "c"\nverify = false',
            {"url": "https://x.example", "method": "PUT", "headers": {"A": "b"}, "body": "c", "verify": False},
        ),
        (
            'url = "https://x.example"\nexpect_status = [204, "300-399"]',
            {"url": "https://x.example", "expect_status": [[204, 204], [300, 399]]},
        ),
        ('url = "https://x.example"\nexpect_status = 404', {"url": "https://x.example", "expect_status": [[404, 404]]}),
    ],
)
def test_a_request_can_be_written_in_several_ways(good: Good, text: str, spec: dict[str, Any]) -> None:
    assert only_job(good(f'[[jobs]]\nid = "a"\nkind = "http"\n{text}')).spec == spec


def test_values_in_a_json_command_override_keys(good: Good) -> None:
    command = '{"method": "POST", "url": "https://x.example"}'
    job = only_job(good(f"[[jobs]]\nid = 'a'\nkind = 'http'\ncommand = '{command}'\nmethod = 'PUT'\nbody = 'b'"))

    assert job.spec == {"method": "POST", "url": "https://x.example", "body": "b"}


@for_each(
    ("kind", "text"),
    [
        ("http", 'url = "https://x.example/${TOKEN}"'),
        ("http", 'url = "https://x.example"\nmethod = "POST"\nbody = "key ${TOKEN}"'),
        ("http", 'url = "https://x.example"\nmethod = "POST"\njson = { id = "${TOKEN}" }'),
        ("shell", 'command = "true"\npayload = { id = ["${TOKEN}"] }'),
        ("agent", 'prompt = "x"\ncli = ["llm", "${TOKEN}"]'),
        ("agent", 'prompt = "x"\nprompt_args = ["--key=${TOKEN}", "-p"]'),
        ("agent", 'prompt = "x"\nargs = { extra_args = ["--key", "${TOKEN}"] }'),
        ("agent", 'prompt = "x"\nargs = { model = "${TOKEN}" }'),
        ("workflow", 'prompt = "x"\nargs = { extra_args = ["${TOKEN}"] }\ndepends_on = ["a"]'),
    ],
)
def test_a_value_with_a_variable_is_shown_with_the_variable_name(good: Good, kind: str, text: str) -> None:
    others = '[[jobs]]\nid = "a"\ncommand = "true"\n'
    jobs = good(f'{others}[[jobs]]\nid = "b"\nkind = "{kind}"\n{text}', TOKEN="s3cret").declared.jobs
    job = jobs[JobId("b")]

    shown = job.as_written
    assert "s3cret" in str((job.spec, job.payload_template))
    assert "s3cret" not in str((shown.spec, shown.payload_template))
    assert "${TOKEN}" in str((shown.spec, shown.payload_template))


def test_a_default_with_a_variable_is_shown_with_the_variable_name(good: Good) -> None:
    defaults = '[defaults]\nargs = { extra_args = ["--key", "${TOKEN}"], model = "m" }\n'
    job = only_job(
        good(f'{defaults}[[jobs]]\nid = "a"\nkind = "agent"\nprompt = "x"\nargs = {{ model = "n" }}', TOKEN="s3cret")
    )

    assert (job.spec["extra_args"], job.spec["model"]) == (["--key", "s3cret"], "n")
    assert (job.as_written.spec["extra_args"], job.as_written.spec["model"]) == (["--key", "${TOKEN}"], "n")


@pytest.mark.parametrize("args", ["5", '"${TOKEN}"', "[1]"])
def test_args_that_are_not_a_table_are_one_problem(loaded: Loader, args: str) -> None:
    defaults = '[defaults]\nargs = { model = "m" }\n'
    problems = loaded(f'{defaults}[[jobs]]\nid = "a"\nkind = "agent"\nprompt = "x"\nargs = {args}', TOKEN="t").errors

    assert len(problems) == 1
    assert "table" in problems[0].message


def test_a_command_that_is_not_text_is_one_problem(loaded: Loader) -> None:
    [error] = loaded('[[jobs]]\nid = "a"\ncommand = 3').errors

    assert error.message == "must be text, not a whole number"


@pytest.mark.parametrize("key", ["call", "command"])
def test_a_function_is_named_by_module_and_name(good: Good, key: str) -> None:
    job = only_job(good(f'[[jobs]]\nid = "a"\nkind = "python"\n{key} = "shop.tasks:send"'))

    assert (job.kind, job.spec) == ("python", {"call": "shop.tasks:send"})


@pytest.mark.parametrize(("kind", "key"), [("agent", "prompt"), ("claude", "command")])
def test_an_agent_is_given_a_prompt(good: Good, kind: str, key: str) -> None:
    text = 'args = { model = "m", permission_mode = "plan", bare = true, extra_args = ["--x"] }\ncli = ["my-agent"]'
    job = only_job(good(f'[[jobs]]\nid = "a"\nkind = "{kind}"\n{key} = "Sum up ${{X}}"\n{text}'))

    assert job.kind == "agent"
    assert job.spec == {
        "prompt": "Sum up ${X}",
        "model": "m",
        "permission_mode": "plan",
        "bare": True,
        "extra_args": ["--x"],
        "cli": ["my-agent"],
    }


def test_an_agent_may_be_given_its_prompt_in_another_way(good: Good) -> None:
    job = only_job(good('[[jobs]]\nid = "a"\nkind = "agent"\nprompt = "x"\ncli = "llm"\nprompt_args = []'))

    assert job.spec == {"prompt": "x", "cli": ["llm"], "prompt_args": []}


def test_every_kind_can_be_written() -> None:
    assert KIND_FIELDS.keys() == KINDS.keys()


@pytest.mark.parametrize(
    ("kind", "elsewhere"),
    [("shell", set()), ("http", set()), ("python", {"handler", "stdin"}), ("agent", set(ARGS))],
)
def test_every_field_of_a_kind_can_be_written(kind: str, elsewhere: set[str]) -> None:
    """Functions are registered by an application, and arguments of an agent are in a separate table."""
    written = {field.attribute for field in KIND_FIELDS[kind]}

    assert set(KINDS[kind].__struct_fields__) - written == elsewhere


@for_each(
    ("job", "line", "message"),
    [
        ('kind = "shell"', 1, "a job of kind shell needs command or argv"),
        ('command = ""', 3, "a job of kind shell needs command or argv"),
        ('command = " "', 3, "a job of kind shell needs command or argv"),
        ('argv = [""]', 3, "not a valid shell job: the first item of `argv` must be a program"),
        ('command = "x"\nenv = { "A=B" = "" }', 4, "the name of a variable must not be empty or contain ="),
        ('command = "x"\nargv = ["y"]', 3, "not a valid shell job: `command` and `argv` are mutually exclusive"),
        ('command = "x"\nurl = "https://x.example"', 4, "url is not an option of kind shell"),
        ('command = "x"\nlimits = { memory = 5 }', 4, "must be at least 1048576"),
        ('command = "x"\n[jobs.limits]\nfiles = 9\nmemory = 5', 6, "must be at least 1048576"),
        ('command = "x"\nlimits = { memory = "5 pounds" }', 4, "'5 pounds' is not a size"),
        ('command = "x"\numask = "7777"', 4, "must be at most 511"),
        ('command = "x"\numask = 22', 4, "must be a umask, not a whole number"),
        ('command = "x"\numask = 0o022', 4, "must be a umask, not a whole number"),
        ('command = "x"\numask = "089"', 4, "'089' is not a umask"),
        ('command = "x"\nkill_after = "1h"', 4, "must be 0 to 300 seconds, not 3600"),
        ('kind = "http"\ncommand = "ftp://x"', 4, 'the scheme "ftp" is not supported'),
        ('kind = "http"\nurl = "https://x.example"\nmethod = "G T"', 5, "method 'G T' is not a method name"),
        ('kind = "http"\nurl = "https://x.example"\nexpect_status = 7', 5, "7 is not a status code"),
        ('kind = "http"\ncommand = "https://a.example"\nurl = "https://b.example"', 4, "command and url both say"),
        ('kind = "python"\ncall = "os.system"', 4, "not a valid python job: `call` is module:function"),
        ('kind = "agent"\nprompt = "x"\nargs = { modl = "m" }', 5, "key 'modl' does not exist"),
        ('kind = "shel"\ncommand = "x"', 3, "kind 'shel' does not exist"),
    ],
)
def test_an_invalid_specification_is_refused_with_its_line(loaded: Loader, job: str, line: int, message: str) -> None:
    [error] = loaded(f'[[jobs]]\nid = "a"\n{job}').errors

    assert (error.line, error.message[: len(message)]) == (line, message)


# -- defaults


def test_defaults_apply_to_jobs_that_do_not_override_them(good: Good) -> None:
    declared = good("""
        [defaults]
        timeout_sec = 10
        owner = "me"
        overlap = "queue"
        env = { A = "1", B = "1" }
        headers = { X = "y" }
        [[jobs]]
        id = "a"
        command = "x"
        schedule = "@daily"
        env = { B = "2" }
        [[jobs]]
        id = "b"
        kind = "http"
        command = "https://x.example"
        timeout_sec = 20
        owner = "you"
    """).declared
    a, b = declared.jobs.values()

    assert (a.options.timeout, a.owner, a.spec["env"]) == (10 * SECOND, "me", {"A": "1", "B": "2"})
    assert (b.options.timeout, b.owner) == (20 * SECOND, "you")
    assert b.spec == {"url": "https://x.example", "headers": {"X": "y"}}
    assert [spec.overlap for spec in declared.schedules.values()] == ["queue"]


def test_an_invalid_default_is_reported_once(loaded: Loader) -> None:
    jobs = "".join(f'[[jobs]]\nid = "{name}"\ncommand = "x"\nschedule = "@daily"\n' for name in "ab")

    errors = loaded(f'[defaults]\nretry_count = -1\ntimezone = "Nowhere"\n{jobs}').errors
    alone = loaded('[defaults]\nretry_count = -1\ntimezone = "Nowhere"\n').errors

    assert [error.line for error in errors] == [error.line for error in alone] == [2, 3]


@pytest.mark.parametrize("key", ["id", "renamed_from", "command", "schedule", "schedules", "name"])
def test_identity_options_are_refused_in_defaults(loaded: Loader, key: str) -> None:
    assert loaded(f"[defaults]\n{key} = 'x'").errors[0].message == f"key '{key}' does not exist"


# -- names


def test_renamed_from_is_read(good: Good) -> None:
    assert good('[[jobs]]\nid = "new"\nrenamed_from = "old"\ncommand = "x"').declared.renames == {"old": "new"}


def test_a_former_id_may_be_used_once(loaded: Loader) -> None:
    text = job_that_was("a", "old") + job_that_was("b", "old")

    [error] = loaded(text).errors
    [itself] = loaded('[[jobs]]\nid = "a"\nrenamed_from = "a"\ncommand = "x"').errors

    assert (error.line, error.message) == (7, 'job "a" is renamed from "old" already')
    assert (itself.line, itself.message) == (3, "renamed_from names the job itself")


def job_that_was(name: str, was: str) -> str:
    return f'[[jobs]]\nid = "{name}"\nrenamed_from = "{was}"\ncommand = "x"\n'


@pytest.mark.parametrize(
    ("names", "way"),
    [([("a", "b"), ("b", "a")], "a -> b -> a"), ([("b", "a"), ("c", "b"), ("a", "c")], "b -> c -> a -> b")],
)
def test_swapped_ids_are_refused(loaded: Loader, names: list[tuple[str, str]], way: str) -> None:
    [error] = loaded("".join(job_that_was(*name) for name in names)).errors

    assert (error.line, error.message) == (3, f"these ids cannot change places at once: {way}")
    assert error.hint.startswith("Give one of them a third id first")


def test_every_swap_is_reported_and_a_chain_of_renames_is_accepted(loaded: Loader) -> None:
    swaps = job_that_was("a", "b") + job_that_was("b", "a") + job_that_was("x", "y") + job_that_was("y", "x")

    assert len(loaded(swaps).errors) == 2
    assert loaded(job_that_was("b", "a") + job_that_was("c", "b")).errors == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('command = "x"', "the job has no id"),
        ('id = "a/b"\ncommand = "x"', "id 'a/b' is not a valid name"),
        ('id = 7\ncommand = "x"', "must be text, not a whole number"),
    ],
)
def test_a_job_needs_a_usable_id(loaded: Loader, text: str, message: str) -> None:
    assert [error.message for error in loaded(f"[[jobs]]\n{text}").errors] == [message]


# -- warnings


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ('queue = "mail"', 4, 'does not serve queue "mail"'),
        ('args = { model = "x" }', 4, "is not an option of kind shell"),
        ('overlap = "allow"\nschedule = "@daily"', 4, "max_concurrent is 1"),
    ],
)
def test_a_questionable_job_is_a_warning(loaded: Loader, text: str, line: int, part: str) -> None:
    result = loaded(f'[[jobs]]\nid = "a"\ncommand = "x"\n{text}')

    assert result.configuration is not None
    [warning] = result.warnings
    assert warning.line == line
    assert part in warning.message


def test_a_server_without_workers_need_not_work_on_a_queue(loaded: Loader) -> None:
    assert loaded('[server]\nroles = ["scheduler"]\n[[jobs]]\nid = "a"\ncommand = "x"\nqueue = "y"').problems == ()


def test_variables_in_the_command_of_a_request_are_a_warning(loaded: Loader) -> None:
    [warning] = loaded('[[jobs]]\nid = "a"\nkind = "http"\ncommand = "https://x.example/${TOKEN}"').problems

    assert (warning.severity, warning.message) == ("warning", "variables are not replaced in command")


def test_toml_datetimes_are_read(good: Good) -> None:
    [spec] = good('[[jobs]]\nid = "a"\ncommand = "x"\nat = 2030-01-01T00:00:00Z').declared.schedules.values()

    assert spec.expr == str(int(datetime(2030, 1, 1, tzinfo=UTC).timestamp()) * 1_000)


@for_each(
    ("line", "hint"),
    [
        ("max_instances = 2", "Use max_concurrent."),
        ('script = "x.sh"', "Use command, or argv without a shell."),
        ('on_failure = "mail"', "Use notify_on, with the targets of [notifications]."),
        ("zzzz = 1", "All options are in docs/reference/configuration.md."),
    ],
)
def test_the_hint_for_an_option_of_another_tool_names_the_one_that_does_it(
    loaded: Loader, line: str, hint: str
) -> None:
    [error] = loaded(f'[[jobs]]\nid = "a"\ncommand = "true"\n{line}').errors

    assert error.hint == hint


def test_each_option_of_another_tool_is_none_of_ours() -> None:
    assert [name for name in OPTIONS_OF_OTHER_TOOLS if name in JOB] == []
