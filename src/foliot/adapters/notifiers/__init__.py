"""Notifiers: each sends messages to one kind of target."""
