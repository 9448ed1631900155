"""Every option that people can give, once: in TOML, in JSON and as keyword arguments.

    field       what an option is: name, aliases, reader, attribute, documentation
    readers     value as written -> value used inside
    job         how a job is described, how its runs are handled, gates
    kind        what a job of each kind says
    schedule    when a job or a workflow runs
    workflow    workflows, steps, edges, approvals
    server      [server], [storage], [queue], [retention], [outbound]
    access      [auth]
    places      where each option can be given: in a file, in a document, in a call

`config` reads files and documents by these tables, `domain.input` keyword arguments. The tables of
docs/reference/configuration.md are made from them.
"""
