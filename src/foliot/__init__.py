"""Foliot turns planned moments into work that is done, once, and can be proved."""

__version__ = "0.1.0"
