"""The file that `foliot init` writes: a job that runs immediately, and examples to enable.

A line that begins with `#` and no space is an example: without the `#` it is configuration.
"""

from typing import Final

STARTER: Final = """\
# Foliot: what to run, and when.
#
#   foliot check     is this file right?
#   foliot plan      what would change, and what would fire?
#   foliot serve     run it
#   foliot reload    apply it again after a change
#
# Lines that begin with # and no space are examples. To use one, remove the #.
# Every key is explained in docs/reference/configuration.md.

# Further files with jobs.
#include = ["jobs.d/*.toml"]

[server]
# How many runs at once.
concurrency = 10
# Apply this file again whenever it changes.
#watch = true
# Settings can come from the environment: FOLIOT_SERVER_CONCURRENCY=20, or as here.
#name = "${HOSTNAME:-foliot}"

[storage]
# Beside this file. For more than one machine: "postgresql://user@host/database".
url = "sqlite:///foliot.db"

[defaults]
# Every job without its own value gets this one.
timezone = "UTC"
# After a downtime, one run replaces all missed ticks of a schedule. "none": no run.
catchup = "once"
# What a tick does while the run before it is still running: "skip", "queue", "allow" or "cancel_running".
overlap = "skip"

[retention]
#runs = "90d"
#logs = "30d"

# ---------------------------------------------------------------- jobs

[[jobs]]
id = "hello"
description = "Says hello every minute."
cron = "* * * * *"
command = 'echo "hello from $FOLIOT_JOB_ID, it is $(date)"'
timeout = 30

# A nightly script with retries, its own environment and limits.
#[[jobs]]
#id = "backup"
#cron = "30 2 * * *"
#timezone = "Europe/Berlin"
#argv = ["/usr/local/bin/backup", "--target", "/srv/backup"]
#working_dir = "/srv"
#env = { LEVEL = "full" }
#timeout = "2h"
#retries = 3
#retry_delay = "5m"
#limits = { memory = "1GB", processes = 50 }

# A request. Success is a status from 200 to 299, unless expect_status says otherwise.
#[[jobs]]
#id = "ping"
#kind = "http"
#every = "5m"
#url = "https://example.com/health"
#expect_status = [200, 204]
#timeout = 10

# A Python function, in a process of its own.
#[[jobs]]
#id = "report"
#kind = "python"
#call = "shop.tasks:send_report"
#payload = { days = 7 }
#cron = "0 7 * * MON"

# A command-line assistant that is given a prompt.
#[[jobs]]
#id = "summary"
#kind = "agent"
#command = "Read the logs of this week in /var/log/shop and write a summary to summary.md."
#args = { model = "sonnet", permission_mode = "acceptEdits" }
#working_dir = "/srv/shop"
#cron = "0 18 * * FRI"

# One job with several schedules, each with a payload of its own.
#[[jobs]]
#id = "sync"
#command = 'echo "syncing: $FOLIOT_PAYLOAD"'
#overlap = "queue"
#
#[[jobs.schedules]]
#name = "often"
#every = "15m"
#payload = { what = "changes" }
#
#[[jobs.schedules]]
#name = "nightly"
#cron = "15 1 * * *"
#jitter = "1m"
#payload = { what = "everything" }

# A job that runs only if others have succeeded: it looks at their latest runs of the last day.
#[[jobs]]
#id = "digest"
#depends_on = ["hello", "ping"]
#cron = "30 14 * * *"
#command = "echo all is well"

# Steps that follow each other. The output of a step is data for the steps after it.
#[[workflows]]
#id = "etl"
#cron = "0 3 * * *"
#params = { day = "yesterday" }
#
#[[workflows.steps]]
#name = "extract"
#command = 'date -d "$DAY" +%F'
#env = { DAY = "{{ params.day }}" }
#output = "text"
#
#[[workflows.steps]]
#name = "load"
#after = "extract"
#command = 'echo "loading what came in on $DATE"'
#env = { DATE = "{{ steps.extract.output }}" }
#
#[[workflows.steps]]
#name = "cleanup"
#final = true
#command = "echo done"

# One run per item, at most 4 at once.
#[[jobs]]
#id = "thumbnails"
#kind = "fanout"
#items = ["a.png", "b.png"]
#concurrency = 4
#command = 'echo "shrinking $FANOUT_ITEM"'

# A chain: if the scout exits with 10, the action follows, and then a check whether it helped.
#[[chains]]
#id = "disk-full"
#every = "5m"
#
#[chains.scout]
#command = "test -e full && exit 10; exit 0"
#
#[chains.action]
#command = "rm full"
#
#[chains.verify]
#command = "test ! -e full"

# Where messages about failed runs and alerts are sent.
#[notifications]
#slack_webhook_url = "${SLACK_URL:-https://hooks.slack.com/services/T0/B0/secret}"

# A job without a schedule runs only when it is triggered: foliot trigger by-hand
#[[jobs]]
#id = "by-hand"
#command = "uptime"
"""
