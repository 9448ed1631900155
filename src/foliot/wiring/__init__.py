"""Connects all parts. The only package that knows every adapter: a new adapter is a new line in a table here.

It exports nothing itself: a command that only reads the database then loads no runner and no engine.

    storage       opens databases by URL, and copies them
    definitions   definitions as JSON and TOML
    services      the services on a database
    runners       what executes jobs, reads inputs and sends notifications
    processes     nodes, and workers without a database
    machine       the machine of this process
"""
