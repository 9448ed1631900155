"""Fanouts: one parent run, one child run for each item of a list, and possibly a reducer at the end.

    inputs --resolve--> items, stored once --begin--> the first children --notes--> more children, until all have ended
                                                                          --------> the reducer, if it is due
                                                                          --------> the end of the parent

A fanout is a tree (`domain.tree`): `kind.FanoutKind` makes its decisions. It counts its children and remembers which
are open, so that a decision costs the same for ten items as for a million.
"""
