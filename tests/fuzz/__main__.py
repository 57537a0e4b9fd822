"""The runner: ``python -m fuzz TARGET... --seconds 300``, from the folder of the tests."""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from fuzz.corpus import EXAMPLES, WORDS
from fuzz.targets import TARGETS, check

_ATHERIS = """
import sys, atheris
with atheris.instrument_imports(include=["gossamer"]):
    from fuzz.targets import check
name = sys.argv.pop(1)
atheris.Setup(sys.argv, lambda data: check(name, data))
atheris.Fuzz()
"""


def main() -> int:
    """Fuzz the targets one after the other; 1 when something was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="hostile bytes for one reader after the other")
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; all, where none is named")
    parser.add_argument("--seconds", type=int, default=60, help="for each")
    parser.add_argument(
        "--blind", action="store_true", help="mutate without looking at coverage, also where atheris is there"
    )
    arguments = parser.parse_args()
    found = 0
    for name in arguments.targets or TARGETS:
        guided = find_spec("atheris") is not None and not arguments.blind
        found += (_guided if guided else _blind)(name, arguments.seconds)
    return 1 if found else 0


def _blind(name: str, seconds: int) -> int:
    """Mutations of the examples, until something breaks or the time is over."""
    draw = random.Random(time.time_ns())
    until, count = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        data = _mutated(draw, name)
        count += 1
        try:
            check(name, data)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            _say(f"{name}: {count} executions, then {type(error).__name__}: {error}\n  {data!r}")
            return 1
    _say(f"{name}: {count} executions, nothing found")
    return 0


def _mutated(draw: random.Random, name: str) -> bytes:
    data = bytearray(draw.choice(EXAMPLES[name]))
    for _ in range(draw.randrange(1, 12)):
        place = draw.randrange(len(data) + 1)
        match draw.randrange(5):
            case 0:
                data[place:place] = draw.choice(WORDS[name])
            case 1:
                data[place : place + draw.randrange(1, 20)] = draw.choice(WORDS[name])
            case 2:
                del data[place : place + draw.randrange(1, 20)]
            case 3:
                data[place:place] = draw.randbytes(draw.randrange(1, 5))
            case _:
                start = draw.randrange(len(data) + 1)
                data[place:place] = data[start : start + draw.randrange(1, 60)]
    return bytes(data)


def _guided(name: str, seconds: int) -> int:
    """By atheris, in a process of its own: what crashes the interpreter is found as well."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "corpus").mkdir()
        for number, example in enumerate(EXAMPLES[name]):
            (folder / "corpus" / str(number)).write_bytes(example)
        words = ("".join(f"\\x{byte:02x}" for byte in word) for word in WORDS[name] if word)
        (folder / "words").write_text("".join(f'"{word}"\n' for word in words), encoding="ascii")
        limits = [
            f"-max_total_time={seconds}",
            "-max_len=4096",
            "-timeout=20",
            "-rss_limit_mb=2048",
            "-print_final_stats=1",
        ]
        command = [sys.executable, "-c", _ATHERIS, name, str(folder / "corpus"), f"-dict={folder / 'words'}", *limits]
        ended = subprocess.run(
            [*command, f"-artifact_prefix={folder}/"],
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
        lines = ended.stderr.splitlines()
        count = next((line.rpartition(":")[2].strip() for line in lines if "number_of_executed_units" in line), "?")
        covered = next((line for line in reversed(lines) if " cov: " in line), "")
        _say(f"{name}: {count} executions, {' '.join(covered.split()[2:6])}, exit code {ended.returncode}")
        if ended.returncode:
            _say("\n".join([*ended.stdout.splitlines()[-25:], *lines[-25:]]))
            for crash in sorted(folder.glob("*-*")):
                _say(f"  {crash.name}: {crash.read_bytes()!r}")
        return int(ended.returncode != 0)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
