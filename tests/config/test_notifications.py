"""[notifications], and the options of jobs about notifications."""

from pathlib import Path

import pytest

from foliot.config.exposure import written_secrets
from foliot.domain.ids import JobId
from foliot.domain.notification.rule import NO_OPTIONS, Notify, Occasion
from foliot.domain.notification.settings import NotificationSettings
from tests.config.conftest import Good, Loader

SLACK = "https://hooks.slack.com/services/T/B/hunter2"
SECRET = "hunter2-hunter2-hunter2"
JOB = '[[jobs]]\nid = "a"\ncommand = "x"\n'


def test_without_options_nobody_is_notified(good: Good) -> None:
    configuration = good(JOB)

    assert configuration.notifications == NotificationSettings()
    assert not configuration.notifications.is_configured
    assert configuration.declared.jobs[JobId("a")].notify == NO_OPTIONS


def test_the_section_has_targets_a_rule_and_keys(good: Good) -> None:
    text = (
        '[server]\npublic_url = "https://foliot.example"\n[notifications]\nwebhook_url = "https://x/${PATH_PART}"\n'
        f'slack_webhook_url = "{SLACK}"\nnotify_on = "end"\nnotify_after_failures = 5\n'
        'webhook_secret = ["${NEW}", "${OLD}"]'
    )

    assert good(text, PATH_PART="hook", NEW="a,comma,in,the,new,key", OLD=SECRET).notifications == NotificationSettings(
        defaults=Notify(
            webhook_url="https://x/hook",
            slack_webhook_url=SLACK,
            notify_on=(Occasion.END,),
            notify_after_failures=5,
        ),
        secrets=("a,comma,in,the,new,key", SECRET),
        public_url="https://foliot.example",
    )


def test_the_environment_sets_targets_and_keys(good: Good) -> None:
    environ = {"FOLIOT_NOTIFICATIONS_WEBHOOK_URL": "https://x/hook", "FOLIOT_NOTIFICATIONS_WEBHOOK_SECRET": SECRET}
    notifications = good("", **environ).notifications

    assert (notifications.defaults.webhook_url, notifications.secrets) == ("https://x/hook", (SECRET,))


def test_a_job_has_its_own_options(good: Good) -> None:
    rule = 'notify_on = ["repeated_failure", "recovery", "recovery"]\nnotify_after_failures = 2'
    text = f'{JOB}webhook_url = "${{URL}}"\n{rule}'

    spec = good(text, URL="https://x/hunter2").declared.jobs[JobId("a")]

    occasions = (Occasion.REPEATED_FAILURE, Occasion.RECOVERY)
    assert spec.notify == Notify(webhook_url="https://x/hunter2", notify_on=occasions, notify_after_failures=2)


def test_urls_may_be_in_args_of_a_job_of_any_kind(good: Good) -> None:
    text = (
        f'{JOB}slack_webhook_url = "{SLACK}2"\nargs = {{ webhook_url = "https://x/a", slack_webhook_url = "{SLACK}" }}'
    )

    spec = good(text).declared.jobs[JobId("a")]

    assert spec.notify == Notify(webhook_url="https://x/a", slack_webhook_url=f"{SLACK}2")
    assert "args" not in spec.spec


def test_an_empty_list_is_not_the_same_as_no_list(good: Good) -> None:
    assert good(f"{JOB}notify_on = []").declared.jobs[JobId("a")].notify.notify_on == ()


@pytest.mark.parametrize(
    ("text", "key", "part"),
    [
        ('webhook_url = "hunter2"', "notifications.webhook_url", "is not valid: the url is not complete"),
        ('slack_webhook_url = "https://x/hunter2"', "notifications.slack_webhook_url", "hooks.slack.com"),
        ('webhook_secret = "hunter2"', "notifications.webhook_secret", "at least 16 characters"),
        (f'webhook_secret = "whsec_{SECRET}"', "notifications.webhook_secret", "not Base64"),
        ('notify_on = "sometimes"', "notifications.notify_on", "is not an allowed value"),
        ("notify_after_failures = 0", "notifications.notify_after_failures", "must be 1 to 100"),
        ('[defaults]\nwebhook_url = "https://x/hunter2"', "defaults.webhook_url", "does not exist"),
        (f'{JOB}slack_webhook_url = "https://x/hunter2"', "jobs[1].slack_webhook_url", "hooks.slack.com"),
    ],
)
def test_an_invalid_option_is_reported_without_its_value(loaded: Loader, text: str, key: str, part: str) -> None:
    [problem] = loaded(f"[notifications]\n{text}").errors

    assert problem.key == key
    assert part in problem.message
    assert "hunter2" not in f"{problem.message} {problem.hint}"


def test_an_option_of_notifications_in_defaults_is_pointed_to_its_section(loaded: Loader) -> None:
    [problem] = loaded("[defaults]\nnotify_on = []").errors

    assert problem.hint == "Use [notifications] notify_on."


def test_a_target_of_a_step_is_a_warning(loaded: Loader) -> None:
    step = f'[[workflows.steps]]\nname = "s"\ncommand = "x"\nargs = {{ slack_webhook_url = "{SLACK}" }}'
    result = loaded(f'[[workflows]]\nid = "w"\n{step}')

    [warning] = result.warnings
    assert warning.message == "slack_webhook_url is not an option of a step, and is ignored"
    assert "hunter2" not in repr(result.configuration)


def test_a_url_of_slack_and_a_key_in_the_file_are_secrets_and_variables_are_not(tmp_path: Path) -> None:
    path = tmp_path / "foliot.toml"
    path.write_text(
        f'[notifications]\nslack_webhook_url = "{SLACK}"\nwebhook_secret = ["{SECRET}", "${{OLD}}"]\n'
        '[[jobs]]\nid = "a"\nslack_webhook_url = "${URL}"\nwebhook_url = "https://x/hook"\n'
    )

    assert written_secrets(path) == ["notifications.slack_webhook_url", "notifications.webhook_secret"]
