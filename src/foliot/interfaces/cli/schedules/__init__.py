"""The commands of `foliot schedules`."""
