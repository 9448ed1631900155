"""Decides what is notified, finds the targets, and keeps their URLs secret."""
