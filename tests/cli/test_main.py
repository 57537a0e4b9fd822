"""How the program answers: help, usage errors, completion; and how it ends whatever happens."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from cli.programs import BIN, run
from gossamer import __version__, errors
from gossamer.cli.guard import run as guard


def ended(what: Callable[[], None], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit code of a program whose only command does ``what``."""
    monkeypatch.setattr("sys.argv", ["program", *arguments])
    with pytest.raises(SystemExit) as caught:
        guard(click.command()(what), "program")
    assert isinstance(caught.value.code, int)
    return caught.value.code


def raising(error: BaseException) -> Callable[[], None]:
    def command() -> None:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ProblemFound("document is not text/html"), 1),
        (errors.UsageError("what?"), 2),
        (errors.SettingsError("wrong"), 2),
        (errors.FetchError("no such host"), 3),
        (errors.CollectionError("no collection"), 4),
        (errors.CollectionLocked("held by process 7"), 4),
        (errors.ArchiveError("torn"), 4),
        (errors.Interrupted("stopped"), 130),
        (PermissionError(13, "Permission denied", "/closed/copy"), 4),
        (click.ClickException("no"), 1),
        (click.UsageError("no"), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_every_error_is_one_line_and_its_code(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(raising(error), monkeypatch) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.strip().splitlines()) == 1
    assert captured.err.lstrip().startswith("Error: ")


def test_an_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ended(raising(errors.FetchError("no such host: a\x1b[31m", hint="look at the spelling")), monkeypatch)
    assert capsys.readouterr().err == "Error: no such host: a[31m; look at the spelling\n"


def test_a_bug_is_our_fault_and_its_traceback_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("GOSSAMER_DEBUG", raising=False)
    assert ended(raising(KeyError("x\ny")), monkeypatch) == 70
    kept = next((tmp_path / "gossamer").iterdir())
    assert "raise error" in kept.read_text()
    message = capsys.readouterr().err
    assert message.startswith("Error: this is our fault: KeyError: ")
    assert str(kept) in message
    assert message.count("\n") == 1


def test_a_bug_shows_its_traceback_when_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))  # where no folder can be made
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    monkeypatch.setenv("GOSSAMER_DEBUG", "1")
    assert ended(raising(ValueError("x")), monkeypatch) == 70
    message = capsys.readouterr().err
    assert "raise error" in message
    assert "GOSSAMER_DEBUG=1" in message


def test_what_a_command_returns_or_exits_with(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ended(lambda: None, monkeypatch) == 0
    assert ended(raising(click.exceptions.Exit(1)), monkeypatch) == 1
    assert ended(lambda: None, monkeypatch, "--help") == 0
    assert ended(lambda: None, monkeypatch, "-x") == 2


def test_version_and_help() -> None:
    assert run("gossamer", "--version").out == f"gossamer {__version__}\n"
    shown = run("gossamer", "-h")
    assert (shown.code, shown.err) == (0, "")
    assert "gossamer COMMAND --help" in shown.out
    bare = run("gossamer")
    assert bare.code == 2
    assert "Commands:" in bare.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("crwl",), "Error: No such command 'crwl'. Did you mean 'crawl'?; see: gossamer --help\n"),
        (("crawl", "--max-url", "5"), "see: gossamer crawl --help\n"),
        (("config", "show", "--colour"), "see: gossamer config show --help\n"),
    ],
)
def test_usage_errors_are_one_line(arguments: tuple[str, ...], message: str) -> None:
    shown = run("gossamer", *arguments)
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.endswith(message)
    assert shown.err.count("\n") == 1


def test_a_reader_that_has_gone_ends_it_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([BIN / "gossamer", "config", "show"], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_output_that_cannot_be_written_is_said() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([BIN / "gossamer", "config", "show"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.stderr.decode() == "Error: the output can't be written (No space left on device); is the disk full?\n"
    assert done.returncode == 4


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_every_program(shell: str) -> None:
    shown = run("gossamer", "completion", shell)
    assert shown.code == 0
    for program in ("gossamer", "webcrawl", "gethttp"):
        assert f"_{program.upper()}_COMPLETE={shell}_complete" in shown.out


def test_completion_completes() -> None:
    shown = run("gossamer", _GOSSAMER_COMPLETE="bash_complete", COMP_WORDS="gossamer crawl --max-urls", COMP_CWORD="2")
    assert shown.out == "plain,--max-urls\n"
