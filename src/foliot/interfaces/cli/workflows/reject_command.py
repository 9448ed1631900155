"""foliot workflows reject: an answer that stops."""

from foliot.interfaces.cli.workflows.answering import answering

command = answering("reject", "Let STEP of EXECUTION, which waits for an answer, fail.", approve=False)
