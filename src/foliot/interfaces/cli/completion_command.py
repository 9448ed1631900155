"""foliot completion: commands, options and ids, completed by the shell."""

import click
from click.shell_completion import get_completion_class

from foliot.interfaces.cli.speaking import tell

_HOME = {
    "bash": 'eval "$(foliot completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(foliot completion zsh)"  # in ~/.zshrc, after compinit',
    "fish": "foliot completion fish | source  # in ~/.config/fish/config.fish",
}


@click.command("completion", epilog="\b\n" + "\n".join(_HOME.values()))
@click.argument("shell", type=click.Choice(list(_HOME)))
def command(shell: str) -> None:
    """Print a script that makes SHELL complete commands, options, and ids of jobs, schedules and runs."""
    # Here, because that module loads this one.
    from foliot.interfaces.cli import cli

    completion = get_completion_class(shell)
    assert completion is not None, "the choices are the shells that click knows"
    tell(completion(cli, {}, "foliot", "_FOLIOT_COMPLETE").source())
