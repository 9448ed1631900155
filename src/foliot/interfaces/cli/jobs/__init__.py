"""The commands of `foliot jobs`."""
