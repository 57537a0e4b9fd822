"""What a URL shows by itself."""

import pytest

from gossamer.policy.traps import TrapRules, trap
from gossamer.settings import Settings

RULES = TrapRules.of(Settings())


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/a/a/a/", "trap: segments repeat: a"),
        ("/x/a/a/a.html", ""),
        ("/x/a/a/a/b", "trap: segments repeat: a"),
        ("/a/b/a/b/a/b", "trap: segments repeat: a/b"),
        ("/a/b/c/a/b/c/a/b/c/d", "trap: segments repeat: a/b/c"),
        ("/a/x/a/y/a/z/a/w/a/v/a/u", "trap: a segment repeats: a"),
        ("/a/b/a/b", ""),
        ("/2011/11/11/11/", ""),
        ("/1/1/1/1/1/1/1", ""),
        ("/?a/a/a/a", ""),
        ("/node_modules/x/node_modules/y/node_modules/z", ""),
        ("/" + "/".join(f"s{n}" for n in range(32)), ""),
        ("/" + "/".join(f"s{n}" for n in range(33)), "trap: the path has more than 32 segments"),
        ("/" + "x" * 2100, "trap: the URL has more than 2048 characters"),
        ("/usr/share/doc/python3.11/html/library/json.html", ""),
        ("/", ""),
    ],
)
def test_shapes(path: str, reason: str) -> None:
    assert trap(f"http://a.test{path}", RULES) == reason


def test_the_settings_are_the_rules() -> None:
    rules = TrapRules.of(Settings(max_url_length=100, max_path_segments=2))
    assert trap("http://a.test/a/b/c", rules) == "trap: the path has more than 2 segments"
    assert trap("http://a.test/" + "x" * 100, rules).endswith("more than 100 characters")
