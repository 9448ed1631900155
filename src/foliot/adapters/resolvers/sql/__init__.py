"""sql://NAME?QUERY reads the first column of a query from a registered database.

`resolver` finds the DSN and encodes the values; `sqlite` and `postgres` run the query, each as a single statement that
can only read, with a time limit, and row by row.
"""
