"""Settings: who is heard first, what a value may look like, and what a stranger's collection may not say."""

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.errors import CollectionError, SettingsError
from gossamer.settings import TABLE, Settings
from gossamer.settings_files import DEFAULT, Loaded, load, user_file, write_collection_file
from gossamer.settings_values import accepts, dns_server, parse, show, write

NOTHING: Mapping[str, str] = {}


def load_flags(**flags: object) -> Settings:
    return load(flags, collection=None, environment=NOTHING, user_file=None).settings


def test_every_row_is_complete() -> None:
    assert list(TABLE) == [row.name for row in fields(Settings)]
    for setting in TABLE.values():
        assert setting.help
        assert setting.section
        assert setting.default is None or parse(setting, setting.default, "") == setting.default
        assert accepts(setting)


def test_defaults_respect_others() -> None:
    loaded = load({}, collection=None, environment=NOTHING, user_file=None)
    assert loaded.settings == Settings()
    assert set(loaded.origins.values()) == {DEFAULT}
    assert not loaded.settings.ignore_robots
    assert loaded.settings.per_host == 1


def test_flags_then_environment_then_collection_then_user_then_default(tmp_path: Path) -> None:
    user = tmp_path / "config.toml"
    user.write_text('max_urls = 1\nmax_depth = 1\nscope = "domain"\ncontact = "me@example.org"\n')
    (tmp_path / "gossamer.toml").write_text('max_urls = 2\nmax_depth = 2\nscope = "any"\n')
    environment = {"GOSSAMER_MAX_URLS": "3", "GOSSAMER_MAX_DEPTH": "3", "PATH": "/bin", "GOSSAMER_DEBUG": "1"}
    loaded = load(
        {"max_urls": "4", "max_time": None, "include": ()},
        collection=tmp_path,
        environment=environment,
        user_file=user,
    )
    assert loaded.settings == Settings(max_urls=4, max_depth=3, scope="any", contact="me@example.org")
    assert {name: origin for name, origin in loaded.origins.items() if origin != DEFAULT} == {
        "max_urls": "--max-urls",
        "max_depth": "GOSSAMER_MAX_DEPTH",
        "scope": str(tmp_path / "gossamer.toml"),
        "contact": str(user),
    }


@pytest.mark.parametrize(
    ("text", "seconds"), [("10", 10), ("1.5s", 1.5), ("5m", 300), ("2h", 7200), ("1d", 86400), ("250ms", 0.25), (7, 7)]
)
def test_durations(text: object, seconds: float) -> None:
    assert load_flags(max_time=text).max_time == seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [("100", 100), ("10k", 10240), ("64M", 2**26), ("2G", 2**31), ("1.5KiB", 1536), ("3 mb", 3 * 2**20), (5, 5)],
)
def test_sizes(text: object, size: int) -> None:
    assert load_flags(max_size=text).max_size == size


def test_switches_and_lists_in_the_environment() -> None:
    environment = {
        "GOSSAMER_REQUISITES": "yes",
        "GOSSAMER_HTTP2": "Off",
        "GOSSAMER_HEADER": "Accept-Language: de\nX-Empty:\n",
        "GOSSAMER_CONTACT": "",
    }
    settings = load({}, collection=None, environment=environment, user_file=None).settings
    assert (settings.requisites, settings.http2, settings.contact) == (True, False, "")
    assert settings.header == ("Accept-Language: de", "X-Empty:")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_time", "10M"),
        ("max_time", "-1"),
        ("max_time", "0"),
        ("max_time", "5 parsecs"),
        ("max_time", float("nan")),
        ("max_time", float("inf")),
        ("max_time", True),
        ("max_size", "10s"),
        ("max_size", 1.5),
        ("limit_rate", "0.5"),
        ("limit_rate", "0.0001k"),
        ("max_size", 10**4000),
        ("delay", 10**400),
        ("max_urls", "many"),
        ("max_urls", "1.5"),
        ("max_urls", -1),
        ("max_urls", False),
        ("per_host", 0),
        ("per_host", "65"),
        ("slow_factor", "1e999"),
        ("requisites", "maybe"),
        ("requisites", 1),
        ("scope", "planet"),
        ("scope", 5),
        ("include", [1]),
        ("include", ["a\x1b[31m"]),
        ("user_agent", "a\r\nHost: evil"),
        ("user_agent", "ü"),
        ("contact", "x\x00"),
        ("header", ["no colon"]),
        ("header", ["Bad Name: x"]),
        ("header", ["A: b\r\nHost: evil"]),
        ("dns", ["dns.example"]),
        ("dns", ["1.1.1.1:0"]),
        ("dns", ["1.1.1.1:99999"]),
        ("dns", ["1.1.1.1\x00"]),
        ("credential", ["https://example.org basic password-without-user"]),
        ("credential", ["https://example.org digest \u00fc:x"]),
        ("credential", ["https://example.org bearer two words"]),
        ("credential", ["https://example.org/path basic a:b"]),
        ("credential", ["https://a:b@example.org/ basic a:b"]),
        ("credential", ["ftp://example.org basic a:b"]),
        ("credential", ["https://example.org negotiate a:b"]),
        ("client_cert", ["http://example.org our.pem"]),
        ("client_cert", ["https://example.org"]),
        ("client_cert", ["https://example.org a b c"]),
        ("proxy", "ftp://proxy.example:21"),
        ("proxy", "proxy.example:8080"),
        ("proxy", "http://proxy.example:99999"),
        ("proxy", "http://proxy.example/path"),
        ("log_level", "loud"),
        ("max_time", {}),
        ("timeout", "1" * 100_000),
    ],
)
def test_wrong_values_name_setting_value_place_and_what_is_accepted(name: str, value: object) -> None:
    with pytest.raises(SettingsError) as caught:
        load_flags(**{name: value})
    message = str(caught.value)
    assert message.startswith(f"{name} can't be ")
    assert TABLE[name].flag in message
    assert accepts(TABLE[name]) in message
    wrong = value[0] if isinstance(value, list) else value
    assert (repr(str(wrong)[:80])[1:-1] in message) is not TABLE[name].secret
    assert len(message) < 400
    assert message.isprintable()
    assert caught.value.exit_code == 2


def test_messages_read_well() -> None:
    with pytest.raises(SettingsError) as caught:
        load_flags(per_host="100")
    assert str(caught.value) == "per_host can't be '100' (--per-host); it must be a whole number, from 1 to 64"
    with pytest.raises(SettingsError) as caught:
        load_flags(dns=("9.9.9.9", "nonsense"))
    assert str(caught.value) == (
        "dns can't be 'nonsense' (--dns); it must be addresses such as 9.9.9.9, 127.0.0.1:5353 or [2620:fe::fe]:53"
    )
    with pytest.raises(SettingsError) as caught:
        load_flags(scope="planet")
    assert str(caught.value) == (
        "scope can't be 'planet' (--scope); it must be one of page, prefix, host, domain or any"
    )


@pytest.mark.parametrize(
    ("server", "place"),
    [
        ("9.9.9.9", ("9.9.9.9", 53)),
        ("127.0.0.1:5353", ("127.0.0.1", 5353)),
        ("::1", ("::1", 53)),
        ("[::1]", ("::1", 53)),
        ("[2620:fe::fe]:54", ("2620:fe::fe", 54)),
    ],
)
def test_dns_servers(server: str, place: tuple[str, int]) -> None:
    assert load_flags(dns=(server,)).dns == (server,)
    assert dns_server(server) == place


@pytest.mark.parametrize(
    ("key", "nearest"), [("max-urls", "max_urls"), ("max_url", "max_urls"), ("useragent", "user_agent")]
)
def test_an_unknown_key_suggests_the_nearest(tmp_path: Path, key: str, nearest: str) -> None:
    (tmp_path / "gossamer.toml").write_text(f"{key} = 1\n")
    with pytest.raises(SettingsError, match=f"unknown setting '{key}'.*gossamer.toml.*did you mean {nearest}?"):
        load({}, collection=tmp_path, environment=NOTHING, user_file=None)


def test_an_unknown_key_far_from_all_points_to_the_list() -> None:
    with pytest.raises(SettingsError, match=r"unknown setting 'zzzzqqq'.*GOSSAMER_ZZZZQQQ.*gossamer config show"):
        load({}, collection=None, environment={"GOSSAMER_ZZZZQQQ": "1"}, user_file=None)


@pytest.mark.parametrize("name", [name for name, setting in TABLE.items() if setting.trusted])
def test_what_could_hurt_is_not_read_from_a_collection(tmp_path: Path, name: str) -> None:
    value = {"switch": "true", "list": '["x"]', "text": '"x"'}[TABLE[name].kind]
    (tmp_path / "gossamer.toml").write_text(f"{name} = {value}\n")
    with pytest.raises(
        SettingsError, match=f"{name} is not read from .*may come from a stranger; .*{TABLE[name].flag}"
    ):
        load({}, collection=tmp_path, environment=NOTHING, user_file=None)


@pytest.mark.parametrize("name", [name for name, setting in TABLE.items() if setting.secret])
def test_what_is_secret_is_never_shown(name: str) -> None:
    example = {
        "header": ["X-Key: hunter2"],
        "credential": ["https://example.org basic me:hunter2"],
        "proxy": "socks5h://me:hunter2@127.0.0.1",
    }
    loaded = load({name: example[name]}, collection=None, environment=NOTHING, user_file=None)
    assert show(TABLE[name], getattr(loaded.settings, name)) == "[redacted]"
    assert "hunter2" not in repr(loaded)


def test_credentials_in_a_file_are_for_its_owners_eyes(tmp_path: Path) -> None:
    user = tmp_path / "config.toml"
    user.write_text('credential = ["https://example.org basic me:hunter2"]\n')
    user.chmod(0o640)
    with pytest.raises(SettingsError, match="others may read it; give it to yourself alone: chmod 600"):
        load({}, collection=None, environment=NOTHING, user_file=user)
    user.chmod(0o600)
    settings = load({}, collection=None, environment=NOTHING, user_file=user).settings
    assert settings.credential == ("https://example.org basic me:hunter2",)


def test_what_could_hurt_is_read_from_the_users_own_file(tmp_path: Path) -> None:
    user = tmp_path / "config.toml"
    user.write_text('ignore_robots = true\ndns = ["::1"]\n')
    settings = load({}, collection=None, environment=NOTHING, user_file=user).settings
    assert settings == Settings(ignore_robots=True, dns=("::1",))


def test_what_belongs_to_one_run_is_not_read_from_a_collection(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text('max_time = "1h"\n')
    with pytest.raises(SettingsError, match=r"max_time is not read from .*belongs to one run; give --max-time"):
        load({}, collection=tmp_path, environment=NOTHING, user_file=None)


@pytest.mark.parametrize(
    "content",
    [b"max_urls = ", b"\xff\xfe", b"a = " + b"[" * 20_000, b"a = " + b"9" * 5000, b"#" * 2_000_000, b"x = 1\nx = 2"],
)
def test_a_strangers_file_may_be_anything(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "gossamer.toml").write_bytes(content)
    with pytest.raises(SettingsError, match=r"gossamer\.toml"):
        load({}, collection=tmp_path, environment=NOTHING, user_file=None)


def test_a_pipe_in_place_of_the_file_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gossamer.toml")
    with pytest.raises(SettingsError, match="is no file"):
        load({}, collection=tmp_path, environment=NOTHING, user_file=None)


def loaded(**values: object) -> Loaded:
    return load(values, collection=None, environment=NOTHING, user_file=None)


def test_a_crawl_resumes_with_the_settings_it_was_started_with(tmp_path: Path) -> None:
    user = tmp_path / "config.toml"
    user.write_text('delay = "2s"\n')
    first = load(
        {"max_size": "10M", "per_host": "1", "exclude": ("*.zip",), "ignore_robots": True, "max_time": "1h"},
        collection=tmp_path,
        environment=NOTHING,
        user_file=user,
    )
    write_collection_file(tmp_path, first)
    assert tomllib.loads((tmp_path / "gossamer.toml").read_text()) == {
        "max_size": "10M",
        "exclude": ["*.zip"],
        "delay": "2s",
        "per_host": 1,  # a default, but somebody said so
    }
    user.write_text("per_host = 9\n")
    again = load({}, collection=tmp_path, environment=NOTHING, user_file=user)
    assert again.settings == Settings(max_size=10 * 2**20, exclude=("*.zip",), delay=2, per_host=1)
    assert stat.S_IMODE((tmp_path / "gossamer.toml").stat().st_mode) == 0o644
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.toml", "gossamer.toml"]


def test_a_file_that_says_the_same_keeps_its_comments(tmp_path: Path) -> None:
    path = tmp_path / "gossamer.toml"
    path.write_text("# mine\nmax_size = 1024\n")
    write_collection_file(tmp_path, loaded(max_size="1k"))
    assert path.read_text().startswith("# mine")
    write_collection_file(tmp_path, loaded(max_size="2k"))
    assert tomllib.loads(path.read_text()) == {"max_size": "2k"}


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match=r"gossamer.toml can't be written \(No such file"):
        write_collection_file(tmp_path / "nowhere", loaded())
    (tmp_path / "gossamer.toml").mkdir()
    with pytest.raises(CollectionError, match="can't be written"):
        write_collection_file(tmp_path, loaded())
    assert [path.name for path in tmp_path.iterdir()] == ["gossamer.toml"]


@given(st.integers(0, 10**15))
def test_sizes_are_written_so_that_they_read_back(size: int) -> None:
    setting = TABLE["min_free"]
    assert parse(setting, write(setting, size), "") == size
    assert parse(setting, show(setting, size), "") == size


@given(st.integers(0, 86400 * 10**6))
def test_durations_are_written_so_that_they_read_back(microseconds: int) -> None:
    setting = TABLE["delay"]
    seconds = parse(setting, microseconds / 1e6, "")
    assert parse(setting, write(setting, seconds), "") == seconds


@example("delay", -0.0)
@example("slow_factor", -0.0)
@given(st.sampled_from(sorted(TABLE)), st.text() | st.integers() | st.floats() | st.booleans() | st.lists(st.text()))
def test_any_value_is_taken_whole_or_refused_in_one_line(name: str, value: object) -> None:
    setting = TABLE[name]
    try:
        parsed = parse(setting, value, "test")
    except SettingsError as error:
        assert "\n" not in str(error)
    else:
        assert parse(setting, write(setting, parsed), "again") == parsed


@pytest.mark.parametrize(
    ("value", "shown"),
    [("64M", "64M"), ("1500", "1500"), ("1048576k", "1G"), ("0", "0")],
)
def test_sizes_for_people(value: str, shown: str) -> None:
    assert show(TABLE["min_free"], parse(TABLE["min_free"], value, "")) == shown


def test_values_for_people() -> None:
    assert show(TABLE["delay"], None) == ""
    assert show(TABLE["delay"], 5400.0) == "90m"
    assert show(TABLE["delay"], 0.25) == "0.25s"
    assert show(TABLE["http2"], value=True) == "yes"
    assert show(TABLE["include"], ("a", "b")) == "a, b"


def test_the_users_file_lies_where_xdg_says() -> None:
    assert user_file({"XDG_CONFIG_HOME": "/c", "HOME": "/h"}) == Path("/c/gossamer/config.toml")
    assert user_file({"XDG_CONFIG_HOME": "relative", "HOME": "/h"}) == Path("/h/.config/gossamer/config.toml")
    assert user_file({}) is None


# --- a stranger's collection

HARMLESS = {
    *("max_urls", "max_depth", "max_host_urls", "max_domain_urls"),
    *("scope", "include", "exclude", "sitemaps", "requisites"),  # what a crawl is: patterns take linear time
    *("robots_age", "limit_rate", "accept_cookies", "http2", "max_redirects"),
    *("connect_timeout", "first_byte_timeout", "timeout"),
    *("trap_budget", "max_url_length", "max_path_segments"),
}
"""Settings that hurt nobody, whatever a stranger's file says."""


def test_it_was_decided_of_every_setting_what_a_stranger_may_say() -> None:
    assert {name for name, row in TABLE.items() if row.travels and not row.elsewhere} == HARMLESS


def from_elsewhere(folder: Path, text: str) -> Loaded:
    (folder / "gossamer.toml").write_text(text)
    return load({}, collection=folder, environment=NOTHING, user_file=None, is_own=False)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("delay = 0", "delay = 0"),
        ('delay = "200ms"', "delay = 0.2s"),
        ("per_host = 2", "per_host = 2"),
        ("max_delay = 1", "max_delay = 1s"),
        ("max_retry_after = 0", "max_retry_after = 0"),
        ("parsers = 200", "parsers = 200"),
        ("parsers = 0", "parsers = 0"),
        ('body_memory = "100G"', "body_memory = 100G"),
        ("min_free = 0", "min_free = 0"),
        ('user_agent = "Googlebot"', "user_agent = Googlebot"),
        ('contact = "you@example.org"', "contact = you@example.org"),
    ],
)
def test_what_could_hurt_is_not_taken_from_a_stranger_and_said(tmp_path: Path, said: str, shown: str) -> None:
    loaded = from_elsewhere(tmp_path, f'scope = "domain"\n{said}\n')
    assert loaded.settings == Settings(scope="domain")
    name = shown.partition(" ")[0]
    assert loaded.origins[name] == DEFAULT
    assert shown in loaded.note
    assert TABLE[name].flag in loaded.note


def test_what_is_more_careful_than_the_defaults_is_taken(tmp_path: Path) -> None:
    loaded = from_elsewhere(tmp_path, "delay = 10\nper_address = 2\nmax_tries = 1\n")
    assert loaded.settings == Settings(delay=10.0, per_address=2, max_tries=1)
    assert loaded.note == ""


def test_flags_are_still_heard(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("delay = 0\n")
    loaded = load({"delay": "0"}, collection=tmp_path, environment=NOTHING, user_file=None, is_own=False)
    assert loaded.settings.delay == 0
    assert loaded.note == ""
