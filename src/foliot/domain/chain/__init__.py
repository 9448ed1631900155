"""Chains: one-shot steps that follow from one another, and limits that they cannot exceed.

    scout --trigger--> action --done--> verify --good--> closed
                         ^                |  \\
                         |                |   +--monitor--> monitor --good--> closed
                         +-----retry------+

A run of a job of kind `chain` begins with the scout. If the scout finds nothing, the run ends. If it triggers, the
chain is armed: it has an id, an expiry and limits, and every further step is a run of its own, created for one moment.
The rules are pure functions; they are applied in the transaction that creates a step, so that steps cannot go around
them.

| Module | Contents |
|---|---|
| `spec` | a class: limits, breaker, stages |
| `decision` | what a step decided: by a request, by JSON on its last line, or by its exit code |
| `state` | one chain, and its history |
| `class_state` | what all chains of a class share: which are active, the breaker, the spending of a day |
| `refusal` | why a request is refused |
| `step` | the run of a step: payload, variables, templates |
| `bounds` | one chain under its limits: arming, creating steps, spending, closing |
| `flow` | what follows from an ended step |
| `message` | what a running step may ask for |
| `request` | the answers |
| `kind` | chains as trees |
"""
