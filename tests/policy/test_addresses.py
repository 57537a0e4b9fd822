"""Addresses: no spelling of an inner address passes as public."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.addresses import classify, permitted

KINDS = (
    "public",
    "loopback",
    "private",
    "link-local",
    "metadata",
    "shared",
    "unspecified",
    "multicast",
    "reserved",
)

IPV4 = {
    "8.8.8.8": "public",
    "192.0.0.9": "public",
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "10.1.2.3": "private",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "172.32.0.1": "public",
    "192.168.1.1": "private",
    "169.254.1.1": "link-local",
    "169.254.169.254": "metadata",
    "100.100.100.200": "metadata",
    "168.63.129.16": "metadata",
    "192.0.0.192": "metadata",
    "100.64.0.1": "shared",
    "100.128.0.1": "public",
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "224.0.0.1": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "reserved",
    "192.0.2.1": "reserved",
    "198.18.0.1": "reserved",
    "198.51.100.1": "reserved",
    "203.0.113.1": "reserved",
    "192.88.99.1": "reserved",
}


@pytest.mark.parametrize(("ip", "kind"), IPV4.items())
def test_ipv4(ip: str, kind: str) -> None:
    assert classify(ip) == kind


@pytest.mark.parametrize(("ip", "kind"), IPV4.items())
def test_ipv4_within_ipv6(ip: str, kind: str) -> None:
    number = int(IPv4Address(ip))
    embedded = [
        (0xFFFF << 32) + number,  # ::ffff:a.b.c.d
        (0xFFFF << 48) + number,  # ::ffff:0:a.b.c.d
        (0x64FF9B << 96) + number,  # 64:ff9b::a.b.c.d
        (0x2002 << 112) + (number << 80) + 1,  # 2002:aabb:ccdd::1
        (0x20010000 << 96) + (int(IPv4Address("8.8.8.8")) << 64) + (number ^ 0xFFFFFFFF),  # Teredo client
        (0x20010000 << 96) + (number << 64) + (int(IPv4Address("8.8.8.8")) ^ 0xFFFFFFFF),  # Teredo server
    ]
    assert {classify(str(IPv6Address(address))) for address in embedded} == {kind}


@pytest.mark.parametrize(
    ("ip", "kind"),
    [
        ("2606:4700::1111", "public"),
        ("::1", "loopback"),
        ("::", "unspecified"),
        ("::127.0.0.1", "loopback"),
        ("fc00::1", "private"),
        ("fd12:3456::1", "private"),
        ("fec0::1", "private"),
        ("64:ff9b:1::a00:1", "private"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("fd00:ec2::254", "metadata"),
        ("fd20:ce::254", "metadata"),
        ("fd00:ec2::254%1", "metadata"),
        ("ff02::1", "multicast"),
        ("2001:db8::1", "reserved"),
        ("3fff::1", "reserved"),
        ("100::1", "reserved"),
        ("4000::1", "reserved"),
    ],
)
def test_ipv6(ip: str, kind: str) -> None:
    assert classify(ip) == kind


@pytest.mark.parametrize(
    "text", ["", "localhost", "0177.0.0.1", "2130706433", "0x7f000001", "127.1", "[::1]", "1.2.3.4:80"]
)
def test_what_is_no_address_is_not_guessed_at(text: str) -> None:
    assert classify(text) == "reserved"


@pytest.mark.parametrize("kind", KINDS)
def test_who_may_be_connected_to(kind: str) -> None:
    assert permitted(kind, exempt="", allow_private=False) is (kind == "public")
    assert permitted(kind, exempt=kind, allow_private=False) is (kind != "multicast")
    assert permitted(kind, exempt="", allow_private=True) is (kind not in ("metadata", "multicast"))


def test_a_seed_opens_its_own_kind_only() -> None:
    assert not permitted("private", exempt="loopback", allow_private=False)
    assert not permitted("metadata", exempt="link-local", allow_private=False)


@given(st.ip_addresses().map(str) | st.text(max_size=40))
def test_every_text_has_a_kind(ip: str) -> None:
    assert classify(ip) in KINDS


@given(st.ip_addresses())
def test_public_is_what_the_standard_library_calls_global(ip: IPv4Address | IPv6Address) -> None:
    if classify(str(ip)) == "public" and not (isinstance(ip, IPv6Address) and (ip.sixtofour or ip.teredo)):
        assert ip.is_global or (isinstance(ip, IPv6Address) and ip.ipv4_mapped)
