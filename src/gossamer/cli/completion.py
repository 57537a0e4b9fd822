"""`gossamer completion`: what makes a shell complete our commands and options."""

import click
from click.shell_completion import get_completion_class

from gossamer.cli import output
from gossamer.cli.options import Command

PROGRAMS = ("gossamer", "webcrawl", "gethttp")


@click.command(
    cls=Command,
    examples=[
        ("bash >> ~/.bashrc", "complete in every bash from now on"),
        ("zsh >> ~/.zshrc", "the same for zsh"),
        ("fish > ~/.config/fish/completions/gossamer.fish", "the same for fish"),
    ],
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that makes SHELL complete commands, options and their values."""
    kind = get_completion_class(shell)
    assert kind is not None
    for program in PROGRAMS:
        script = kind(ctx.find_root().command, {}, program, f"_{program.upper()}_COMPLETE").source()
        for line in script.splitlines():
            output.write_line(line)
