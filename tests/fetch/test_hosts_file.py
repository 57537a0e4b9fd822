"""The hosts file."""

import os
from pathlib import Path

import pytest

from gossamer.fetch.hosts_file import HostsFile

TEXT = """
127.0.0.1\tlocalhost loopback  # ourselves
10.0.0.1 Intranet.Example. intranet
10.0.0.2 intranet
::1 localhost
fe80::1%eth0 scoped
not-an-address name
10.0.0.3
#10.0.0.4 commented
"""


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    path = tmp_path / "hosts"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(
    ("name", "addresses"),
    [
        ("intranet", ("10.0.0.1", "10.0.0.2")),
        ("intranet.example", ("10.0.0.1",)),
        ("localhost", ("127.0.0.1", "::1")),
        ("a.localhost", ("127.0.0.1", "::1")),
        ("scoped", ("fe80::1%eth0",)),
        ("name", ()),
        ("commented", ()),
        ("elsewhere.test", ()),
    ],
)
def test_names(hosts: Path, name: str, addresses: tuple[str, ...]) -> None:
    assert HostsFile(hosts).find(name) == addresses


def test_what_changed_counts(hosts: Path) -> None:
    file = HostsFile(hosts)
    assert file.find("new") == ()
    hosts.write_text("10.0.0.9 new\n")
    os.utime(hosts, (1, 1))
    assert (file.find("new"), file.find("intranet")) == (("10.0.0.9",), ())
    hosts.unlink()
    assert file.find("new") == ()


def test_localhost_needs_no_file(tmp_path: Path) -> None:
    assert HostsFile(tmp_path / "none").find("localhost") == ("127.0.0.1", "::1")
    assert HostsFile(tmp_path / "none").find("notlocalhost") == ()


def test_bytes_of_any_kind(hosts: Path) -> None:
    hosts.write_bytes(b"\xff\xfe\x00 x\n10.0.0.1 fine\n")
    assert HostsFile(hosts).find("fine") == ("10.0.0.1",)
