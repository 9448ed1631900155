"""foliot completion: shell completion of commands, options and ids."""

import click
from click.shell_completion import get_completion_class

from foliot.interfaces.cli.output import print_line

_SETUP = {
    "bash": 'eval "$(foliot completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(foliot completion zsh)"  # in ~/.zshrc, after compinit',
    "fish": "foliot completion fish | source  # in ~/.config/fish/config.fish",
}


@click.command("completion", epilog="\b\n" + "\n".join(_SETUP.values()))
@click.argument("shell", type=click.Choice(list(_SETUP)))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a script that makes SHELL complete commands, options, and ids of jobs, schedules, workflows and runs."""
    completion = get_completion_class(shell)
    assert completion is not None, "the choices are the shells that click knows"
    print_line(completion(context.find_root().command, {}, "foliot", "_FOLIOT_COMPLETE").source())
