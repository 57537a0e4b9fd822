"""The programs we compare with: found where they are installed, or installed."""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gossamer-bench"

PACKAGES = {"nginx": "nginx-light", "wget": "wget", "wget2": "wget2", "dpkg-deb": "dpkg"}
"""Program -> Debian package."""

SCRAPY = "scrapy==2.19.0"


def find(name: str) -> str | None:
    """The path of a program, if it is there."""
    if name == "scrapy":
        program = CACHE / "scrapy" / "bin" / "scrapy"
        return str(program) if program.exists() else None
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def install() -> None:
    """Put everything in place. Without the right to, say what is missing and end."""
    missing = [package for program, package in PACKAGES.items() if find(program) is None]
    if missing:
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            sys.exit(f"missing: {' '.join(missing)}; install them (Debian: sudo apt-get install {' '.join(missing)})")
        print("installing", *missing, file=sys.stderr)
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", *missing]):
            subprocess.run(["apt-get", "-q", *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)
    if find("scrapy") is None:
        _install_scrapy(CACHE / "scrapy")


def _install_scrapy(folder: Path) -> None:
    print("installing", SCRAPY, "into", folder, file=sys.stderr)
    venv.create(folder, clear=True, with_pip=True)
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", SCRAPY]
    subprocess.run(command, check=True)


def versions() -> Iterator[str]:
    """What is there, with its version."""
    for name in ("wget", "wget2", "scrapy"):
        program = find(name)
        if program is None:
            yield f"{name} is not installed"
        else:
            argument = "version" if name == "scrapy" else "--version"
            output = subprocess.run([program, argument], capture_output=True, text=True, check=False).stdout
            yield output.partition("\n")[0].partition(" built")[0]
