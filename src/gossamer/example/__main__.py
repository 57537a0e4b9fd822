"""`python -m gossamer.example [COMMAND...]`."""

import signal
import subprocess
import sys

import click

from gossamer.example.server import serve


def main(command: list[str]) -> int:
    """Serve the site until ``command`` has ended, or until a person ends it."""
    with serve() as address:
        if not command:
            click.echo(f"The example site: {address} (Ctrl-C ends it)", err=True)
            return _wait()
        # a Ctrl-C at the terminal reaches the command as well, and how to end is its decision
        signal.signal(signal.SIGINT, lambda *_: None)
        return subprocess.run([address if word == "{}" else word for word in command], check=False).returncode


def _wait() -> int:
    try:
        signal.pause()
    except KeyboardInterrupt:
        click.echo(err=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
