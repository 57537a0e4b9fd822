"""What the value of a setting may look like, wherever it is written, and how it is written back."""

import ipaddress
import re
from collections.abc import Callable

from gossamer.errors import SettingsError
from gossamer.settings import Setting
from gossamer.settings_secrets import certificate, credential, proxy

Value = int | float | bool | str | tuple[str, ...]

_DURATION = re.compile(r"(\d{1,12}(?:\.\d{1,6})?) ?(ms|s|m|h|d)?")
_WRITTEN_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SECONDS = {"ms": 0.001, **_WRITTEN_SECONDS}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ?([kmgt]?)(?:i?b)?", re.IGNORECASE)
_WRITTEN_BYTES = {"": 1, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_BYTES = {unit.lower(): size for unit, size in _WRITTEN_BYTES.items()}
_WHOLE = re.compile(r"\d{1,15}")
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?")
_SWITCH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_MOST = 10**15  # no number of ours means anything beyond
_SHOWN = 80  # characters of a wrong value that a message repeats
REDACTED = "[redacted]"

# RFC 9110, sections 5.1 (a name is a token) and 5.5 (a value: visible ASCII, inside also spaces)
_HEADER_VALUE = r"[!-~]+(?: +[!-~]+)*"
_HEADER = re.compile(rf"[!#$%&'*+.^_`|~0-9A-Za-z-]+: *(?:{_HEADER_VALUE})?")
_SERVER = re.compile(r"\[(?P<v6>[^\]]+)\](?::(?P<port6>\d{1,5}))?|(?P<v4>[^:]+)(?::(?P<port4>\d{1,5}))?|(?P<bare>.+)")


def parse(setting: Setting, raw: object, origin: str) -> Value:
    """The value that ``raw`` (text, or what TOML read) means for ``setting``.

    Raises SettingsError: one line with the setting, the value, what is accepted, and ``origin``, where it was written.
    """
    value = _fitting(setting, raw)
    if value is None:
        culprit = REDACTED if setting.secret else _culprit(setting, raw)
        shown = culprit if len(culprit) <= _SHOWN else culprit[:_SHOWN] + "…"
        raise SettingsError(f"{setting.name} can't be {shown!r} ({origin})", hint=f"it must be {accepts(setting)}")
    return value


def accepts(setting: Setting) -> str:
    """What a setting takes, in words: completes "it must be"."""
    if setting.choices:
        return f"one of {', '.join(setting.choices[:-1])} or {setting.choices[-1]}"
    return _WORDS[setting.form or setting.kind] + _range_text(setting)


def write(setting: Setting, value: object) -> int | float | bool | str | list[str]:
    """A value as TOML takes it, in the largest unit that says it exactly: ``'64M'``, ``'1d'``, ``'1.5s'``."""
    if isinstance(value, tuple):
        return list(value)
    if setting.kind == "size" and isinstance(value, int):
        return _with_unit(value, _WRITTEN_BYTES)
    if setting.kind == "duration" and isinstance(value, int | float):
        return _with_unit(value, _WRITTEN_SECONDS)
    if isinstance(value, int | float | str):
        return value
    raise TypeError(f"{setting.name} has a value of type {type(value).__name__}")


def show(setting: Setting, value: object) -> str:
    """A value as a person reads it; what is unset is empty."""
    if value is None:
        return ""
    if setting.secret and value:
        return REDACTED
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else str(write(setting, value))


def dns_server(text: str) -> tuple[str, int]:
    """The IP address and port of ``ADDR``, ``ADDR:PORT`` or ``[ADDR]:PORT``. Raises ValueError."""
    match = _SERVER.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    address = ipaddress.ip_address(match["v6"] or match["v4"] or match["bare"])
    port = int(match["port6"] or match["port4"] or 53)
    if not 0 < port < 65536:
        raise ValueError(text)
    return str(address), port


def _fitting(setting: Setting, raw: object) -> Value | None:
    try:
        value = _PARSERS[setting.kind](raw)
        _check(setting, value)
    except (ValueError, OverflowError):
        return None
    return value


def _culprit(setting: Setting, raw: object) -> str:
    """What is wrong: of a list the first part that is."""
    parts = raw if isinstance(raw, list | tuple) else ()
    return str(next((part for part in parts if _fitting(setting, [part]) is None), raw))


def _text(raw: object) -> str:
    if not isinstance(raw, str):
        raise ValueError(raw)
    return raw.strip()


def _match(pattern: re.Pattern[str], raw: object) -> re.Match[str]:
    match = pattern.fullmatch(_text(raw))
    if match is None:
        raise ValueError(raw)
    return match


def _is_number(raw: object) -> bool:
    return isinstance(raw, int | float) and not isinstance(raw, bool)


def _duration(raw: object) -> float:
    if isinstance(raw, int | float) and _is_number(raw):
        return round(float(raw), 6) + 0.0  # -0.0 becomes 0.0
    match = _match(_DURATION, raw)
    return round(float(match[1]) * _SECONDS[match[2] or "s"], 6)


def _size(raw: object) -> int:
    if isinstance(raw, int) and _is_number(raw):
        return raw
    match = _match(_SIZE, raw)
    size = float(match[1]) if "." in match[1] else int(match[1])
    whole = int(size * _BYTES[match[2].lower()])
    if size and not whole:  # 0 means that there is no limit: half a byte does not
        raise ValueError(raw)
    return whole


def _whole(raw: object) -> int:
    if isinstance(raw, int) and _is_number(raw):
        return raw
    return int(_match(_WHOLE, raw)[0])


def _number(raw: object) -> float:
    if isinstance(raw, int | float) and _is_number(raw):
        return float(raw) + 0.0  # -0.0 becomes 0.0
    return float(_match(_NUMBER, raw)[0])


def _switch(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    value = _SWITCH.get(_text(raw).lower())
    if value is None:
        raise ValueError(raw)
    return value


def _list(raw: object) -> tuple[str, ...]:
    """A list of texts; in one text, as in the environment, there is one value a line."""
    parts = raw if isinstance(raw, list | tuple) else _text(raw).splitlines()
    return tuple(text for part in parts if (text := _text(part)))


_PARSERS: dict[str, Callable[[object], Value]] = {
    "duration": _duration,
    "size": _size,
    "whole number": _whole,
    "number": _number,
    "switch": _switch,
    "text": _text,
    "list": _list,
}

_WORDS = {
    "duration": "a duration such as 10, 1.5s, 5m, 2h or 1d",
    "size": "a size such as 100, 10k, 64M or 2G",
    "whole number": "a whole number",
    "number": "a number",
    "switch": "true or false",
    "text": "text without control characters",
    "list": "a list of texts without control characters",
    "header value": "visible ASCII characters and spaces",
    "header": "headers such as 'Accept-Language: de'",
    "server": "addresses such as 9.9.9.9, 127.0.0.1:5353 or [2620:fe::fe]:53",
    "file": "the name of a file",
    "credential": "such as 'https://example.org basic user:password', or 'https://example.org bearer token'",
    "certificate": "such as 'https://example.org our.pem', or with a file of the key after it",
    "proxy": "such as http://127.0.0.1:8080 or socks5://user:password@example.org:1080",
}


_READERS: dict[str, Callable[[str], object]] = {
    "server": dns_server,
    "credential": credential,
    "certificate": certificate,
    "proxy": proxy,
}


def _check(setting: Setting, value: Value) -> None:
    if setting.choices and value not in setting.choices:
        raise ValueError(value)
    if isinstance(value, int | float):
        _check_range(setting, value)
    for text in value if isinstance(value, tuple) else (value,):
        if isinstance(text, str) and text:
            _check_text(setting.form, text)


def _check_range(setting: Setting, value: float) -> None:
    low = 0 if setting.low is None else setting.low
    high = _MOST if setting.high is None else setting.high
    if not low <= value <= high:  # also what is no number (NaN)
        raise ValueError(value)


def _check_text(form: str, text: str) -> None:
    """No control character ever reaches a header, a log line or a terminal by way of a setting."""
    if not text.isprintable():
        raise ValueError(text)
    if form == "header" and not _HEADER.fullmatch(text):
        raise ValueError(text)
    if form == "header value" and not re.fullmatch(_HEADER_VALUE, text):
        raise ValueError(text)
    if form in _READERS:
        _READERS[form](text)


def _range_text(setting: Setting) -> str:
    low, high = (None if bound is None else show(setting, bound) for bound in (setting.low, setting.high))
    if low is not None and high is not None:
        return f", from {low} to {high}"
    return "" if low is None else f", at least {low}"


def _with_unit(value: float, units: dict[str, int]) -> str | int:
    """The number with the largest unit that it is a whole multiple of, else (0, fractions) with the smallest."""
    fitting = [name for name, size in units.items() if value and value % size == 0]
    name = max(fitting, key=lambda name: units[name]) if fitting else min(units, key=lambda name: units[name])
    number = f"{value / units[name]:.6f}".rstrip("0").rstrip(".")
    return number + name if name else int(number)
