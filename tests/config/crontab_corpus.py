"""Odd lines of crontabs, and the job that each of them means."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

HOME = "/home/ann"
CRON_ENV = {"HOME": HOME, "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin", "LOGNAME": "ann", "USER": "ann"}
"""What cron gives a command of ann, whose crontab assigns nothing."""


class Case(NamedTuple):
    """`lines` make one job. What differs from cron's own environment is in `env`."""

    lines: str
    cron: str
    command: str | None = None
    env: Mapping[str, str] = MappingProxyType({})
    stdin: str | None = None
    argv: list[str] | None = None
    timezone: str = "Europe/Berlin"
    description: str = ""
    working_dir: str = HOME


class BadCase(NamedTuple):
    line: str
    message: str


FIELDS = [
    Case("30 2 * * * backup", "30 2 * * *", "backup"),
    Case("*/5 * * * * poll", "*/5 * * * *", "poll"),
    Case("0-59/10 * * * * poll", "0-59/10 * * * *", "poll"),
    Case("0,15,30,45 8-18 * * * poll", "0,15,30,45 8-18 * * *", "poll"),
    Case("0 0 1,15 * * pay", "0 0 1,15 * *", "pay"),
    Case("0 22 * * MON-FRI close", "0 22 * * MON-FRI", "close"),
    Case("0 22 * * mon,wed,Fri close", "0 22 * * mon,wed,Fri", "close"),
    Case("0 4 1 JAN,jul * audit", "0 4 1 JAN,jul *", "audit"),
    Case("0 4 * apr-oct * water", "0 4 * apr-oct *", "water"),
    Case("0 5 * * 0 sunday", "0 5 * * 0", "sunday"),
    Case("0 5 * * 7 sunday", "0 5 * * 7", "sunday"),
    Case("0 5 * * 5-7 weekend", "0 5 * * 5-7", "weekend"),
    Case("0 5 * * 1-7/2 odd", "0 5 * * 1-7/2", "odd"),
    Case("0 0 13 * 5 friday", "0 0 13 * 5", "friday"),
    Case("0 0 */2 * 1 both", "0 0 */2 * 1", "both"),
    Case("*/90 * * * * hourly", "*/60 * * * *", "hourly"),
    Case("5-20/99 * * * * once", "5-20/60 * * * *", "once"),
    Case("0 */24 * * * nightly", "0 */24 * * *", "nightly"),
    Case("0 */30 * * * nightly", "0 */24 * * *", "nightly"),
    Case("0 0 */99999999999 * * first", "0 0 */31 * *", "first"),
    Case("00 06 * * 01 padded", "00 06 * * 01", "padded"),
    Case("0~30 1 * * * spread", "H(0-30) 1 * * *", "spread"),
    Case("~ 1 * * * spread", "H(0-59) 1 * * *", "spread"),
    Case("15~ 1 * * * spread", "H(15-59) 1 * * *", "spread"),
    Case("-*/10 * * * * quiet", "*/10 * * * *", "quiet"),
]
WORDS = [
    Case("@yearly y", "@yearly", "y"),
    Case("@annually y", "@annually", "y"),
    Case("@monthly m", "@monthly", "m"),
    Case("@weekly w", "@weekly", "w"),
    Case("@daily d", "@daily", "d"),
    Case("@midnight d", "@midnight", "d"),
    Case("@hourly h", "@hourly", "h"),
    Case("@Daily d", "@daily", "d"),
    Case("@reboot start", "@reboot", "start"),
    Case("@every_minute tick", "@every_minute", "tick"),
]
SPACES = [
    Case("   30 2 * * * backup", "30 2 * * *", "backup"),
    Case("\t30\t2\t*\t*\t*\tbackup --all", "30 2 * * *", "backup --all"),
    Case("30   2  *    * *      backup", "30 2 * * *", "backup"),
    Case("30 2 * * * backup\r\n", "30 2 * * *", "backup"),
    Case("30 2 * * * backup   ", "30 2 * * *", "backup   "),
    Case("30 2 * * * echo a  b\tc", "30 2 * * *", "echo a  b\tc"),
    Case("\ufeff30 2 * * * backup", "30 2 * * *", "backup"),
    Case("30 2 * * * backup # nightly", "30 2 * * *", "backup # nightly"),
    Case("30 2 * * * echo 'ünïcode ✓'", "30 2 * * *", "echo 'ünïcode ✓'"),
    Case("30 2 * * * printf 'a\\n' \"b\\t\" '''", "30 2 * * *", "printf 'a\\n' \"b\\t\" '''"),
    Case("30 2 * * * echo \x07bell", "30 2 * * *", "echo \x07bell"),
    Case("30 2 * * * echo one \\", "30 2 * * *", "echo one \\"),
]
PERCENT = [
    Case("0 9 * * * mail joe%Hello", "0 9 * * *", "mail joe", stdin="Hello\n"),
    Case("0 9 * * * mail joe%Hello%%Bye%", "0 9 * * *", "mail joe", stdin="Hello\n\nBye\n"),
    Case("0 9 * * * date +\\%F", "0 9 * * *", "date +%F"),
    Case("0 9 * * * date '+\\%H:\\%M'", "0 9 * * *", "date '+%H:%M'"),
    Case("0 9 * * * cat%100\\% of it", "0 9 * * *", "cat", stdin="100% of it\n"),
    Case("0 9 * * * cat%a\\nb", "0 9 * * *", "cat", stdin="a\\nb\n"),
    Case("0 9 * * * cat%a\\\\%b", "0 9 * * *", "cat", stdin="a\\%b\n"),
    Case("0 9 * * * cat%", "0 9 * * *", "cat"),
    Case("0 9 * * * cat%%", "0 9 * * *", "cat", stdin="\n"),
    Case("0 9 * * * cat% two lines % kept", "0 9 * * *", "cat", stdin=" two lines \n kept\n"),
    Case("0 9 * * * echo '%'", "0 9 * * *", "echo '", stdin="'\n"),
    Case("0 9 * * * echo \\\\%x", "0 9 * * *", "echo \\\\", stdin="x\n"),
    Case("0 9 * * * echo C:\\dir", "0 9 * * *", "echo C:\\dir"),
    Case("0 9 * * * echo ${HOME} {{ x }}%${HOME}", "0 9 * * *", "echo ${HOME} {{ x }}", stdin="${HOME}\n"),
]
VARIABLES = [
    Case("A=1\n0 9 * * * x", "0 9 * * *", "x", {"A": "1"}),
    Case("A = 1 \n0 9 * * * x", "0 9 * * *", "x", {"A": "1"}),
    Case("  A\t=\tb c\n0 9 * * * x", "0 9 * * *", "x", {"A": "b c"}),
    Case('A="  b "  \n0 9 * * * x', "0 9 * * *", "x", {"A": "  b "}),
    Case("A='b \"c\"'\n0 9 * * * x", "0 9 * * *", "x", {"A": 'b "c"'}),
    Case('"A"=b\n0 9 * * * x', "0 9 * * *", "x", {"A": "b"}),
    Case("'A B'=c\n0 9 * * * x", "0 9 * * *", "x", {"A B": "c"}),
    Case('A=""\n0 9 * * * x', "0 9 * * *", "x", {"A": ""}),
    Case("A=\n0 9 * * * x", "0 9 * * *", "x", {"A": ""}),
    Case("A=$B ${C} # d\n0 9 * * * x", "0 9 * * *", "x", {"A": "$B ${C} # d"}),
    Case("A=$${B}\n0 9 * * * x", "0 9 * * *", "x", {"A": "$${B}"}),
    Case("A=x=y\n0 9 * * * x", "0 9 * * *", "x", {"A": "x=y"}),
    Case("A=1\nA=2\n0 9 * * * x", "0 9 * * *", "x", {"A": "2"}),
    Case("0 9 * * * x\nA=1", "0 9 * * *", "x"),
    Case("0 9 * * * A=1 x", "0 9 * * *", "A=1 x"),
    Case("PATH=/opt/bin:/usr/bin\n0 9 * * * x", "0 9 * * *", "x", {"PATH": "/opt/bin:/usr/bin"}),
    Case("HOME=/srv/app\n0 9 * * * x", "0 9 * * *", "x", {"HOME": "/srv/app"}, working_dir="/srv/app"),
    Case("LOGNAME=bob\nUSER=bob\n0 9 * * * x", "0 9 * * *", "x"),
    Case("MAILTO=ops@example.com\nMAILFROM=me\n0 9 * * * x", "0 9 * * *", "x"),
    Case('MAILTO=""\n0 9 * * * x', "0 9 * * *", "x"),
    Case("RANDOM_DELAY=45\n0 9 * * * x", "0 9 * * *", "x"),
    Case("CRON_TZ=Asia/Tokyo\n0 9 * * * x", "0 9 * * *", "x", timezone="Asia/Tokyo"),
    Case("CRON_TZ=Asia/Tokyo\nCRON_TZ=\n0 9 * * * x", "0 9 * * *", "x"),
    Case("TZ=Asia/Tokyo\n0 9 * * * x", "0 9 * * *", "x", {"TZ": "Asia/Tokyo"}),
    Case("SHELL=/bin/sh\n0 9 * * * x", "0 9 * * *", "x"),
    Case(
        "SHELL=/bin/bash\n0 9 * * * a && b",
        "0 9 * * *",
        env={"SHELL": "/bin/bash"},
        argv=["/bin/bash", "-c", "a && b"],
    ),
    Case(
        "SHELL=/bin/bash\n0 9 * * * cat%in",
        "0 9 * * *",
        env={"SHELL": "/bin/bash"},
        argv=["/bin/bash", "-c", "cat"],
        stdin="in\n",
    ),
]
COMMENTS = [
    Case("# Nightly\n0 9 * * * x", "0 9 * * *", "x", description="Nightly"),
    Case("  ## Nightly\n#\n# of all\n0 9 * * * x", "0 9 * * *", "x", description="Nightly of all"),
    Case("# About the file\n\n0 9 * * * x", "0 9 * * *", "x"),
    Case("# About A\nA=1\n0 9 * * * x", "0 9 * * *", "x", {"A": "1"}),
    Case("# ------ costs ${5} ------\n0 9 * * * x", "0 9 * * *", "x", description="costs ${5}"),
    Case("# old one\n#0 8 * * * x\n0 9 * * * x", "0 9 * * *", "x"),
    Case("#0 8 * * * y\n# new one\n0 9 * * * x", "0 9 * * *", "x", description="new one"),
    Case("#A=1\n0 9 * * * x", "0 9 * * *", "x"),
    Case("# m h  dom mon dow   command\n0 9 * * * x", "0 9 * * *", "x"),
    Case(
        "# .---- minute (0 - 59)\n# |\n# *  *  *  *  * user-name command to be executed\n0 9 * * * x", "0 9 * * *", "x"
    ),
    Case(
        "# DO NOT EDIT THIS FILE - edit the master and reinstall.\n"
        "# (/tmp/crontab.x installed on Mon Jan  1 00:00:00 2024)\n"
        "# (Cron version -- $Id: crontab.c,v 2.13 1994/01/17 03:20:37 vixie Exp $)\n"
        "0 9 * * * x",
        "0 9 * * *",
        "x",
    ),
]
CORPUS = [*FIELDS, *WORDS, *SPACES, *PERCENT, *VARIABLES, *COMMENTS]

BAD = [
    BadCase("hello", "the line is neither an assignment nor five fields with a command"),
    BadCase("1 2 3 4", "the line is neither an assignment nor five fields with a command"),
    BadCase("30 2 * * *", "the line has no command"),
    BadCase("30 2 * * *   ", "the line has no command"),
    BadCase("@daily", "the line has no command"),
    BadCase("@fortnightly x", "'@fortnightly' is not a word of cron"),
    BadCase("@manual x", "'@manual' is not a word of cron"),
    BadCase("30 2 * * * %input", "the command is empty"),
    BadCase("60 2 * * * x", "minute '60' is outside 0-59"),
    BadCase("0 24 * * * x", "hour '24' is outside 0-23"),
    BadCase("0 0 0 * * x", "day-of-month '0' is outside 1-31"),
    BadCase("0 0 30 2 * x", "the expression never matches: no month has such a day"),
    BadCase("*/0 * * * * x", "a step cannot be 0"),
    BadCase("0 0 * * MONDAY x", "'MONDAY' is not a day-of-week"),
    BadCase("1,,2 * * * * x", "the list in the minute field has an empty item"),
    BadCase('A="b" c', "the line is neither an assignment nor five fields with a command"),
    BadCase("30 2 * * * echo \udcff", "the line contains characters that are not UTF-8 text"),
    BadCase("30 2 * * * echo \0", "the line contains characters that are not UTF-8 text"),
]
