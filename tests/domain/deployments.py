"""What tests ask of the changes that a deployment makes."""

from foliot.domain.deployment import Changes


def changes_nothing(changes: Changes) -> bool:
    puts = changes.jobs_to_put or changes.workflows_to_put or changes.schedules_to_put
    return not (changes.renames or puts or changes.schedules_to_delete)
