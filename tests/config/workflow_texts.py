"""Helpers for workflows in a file."""

from foliot.config import Configuration
from foliot.domain.workflow.spec import Step, WorkflowSpec

HEAD = '[[workflows]]\nid = "etl"\n'


def step(name: str, keys: str = 'command = "x"') -> str:
    return f'[[workflows.steps]]\nname = "{name}"\n{keys}\n'


def etl(configuration: Configuration) -> WorkflowSpec:
    return configuration.declared.workflows["etl"]


def steps_of(configuration: Configuration) -> dict[str, Step]:
    return {step.name: step for step in etl(configuration).steps}
