"""Crontabs as cron reads them, and the jobs that keep their meaning.

    line          one line: assignment, expression, user, command, percent signs
    comments      which comments describe a job
    parser        a whole crontab: entries, rejected lines, problems
    run_parts     a line that starts every script of a directory, as one entry for each script
    job_id        an id made from a command

`config.crontab` writes the result as a configuration file.
"""

from foliot.domain.crontab.entry import Crontab, Entry, Rejected
from foliot.domain.crontab.job_id import JobIds
from foliot.domain.crontab.parser import parse_crontab
from foliot.domain.crontab.run_parts import expand_run_parts

__all__ = ["Crontab", "Entry", "JobIds", "Rejected", "expand_run_parts", "parse_crontab"]
