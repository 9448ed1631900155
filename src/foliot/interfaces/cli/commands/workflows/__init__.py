"""The commands of `foliot workflows`."""
