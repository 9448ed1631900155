"""foliot workflows approve: an answer that lets go on."""

from foliot.interfaces.cli.workflows.answering import answering

command = answering("approve", "Let STEP of EXECUTION, which waits for an answer, go on.", approve=True)
