"""What is left of a URL when its numbers, dates and ids are taken out: the URLs that share it are one template.

Also, what a URL is a variant of: the one without its session id, or without its query. And the family of a URL, a larger
part of its host.
"""

import re
from functools import lru_cache
from urllib.parse import unquote_plus

_WORTH_A_LOOK = re.compile(r"[0-9?;]")
_DIGIT = re.compile(r"[0-9]")

# Not within a percent-escape: the digits of %E3%82%AC are letters of a title.
_NO_ESCAPE = r"(?<!%)(?<!%[0-9A-Fa-f])"
_UUID = re.compile(_NO_ESCAPE + r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_HASH = re.compile(
    r"(?<![0-9A-Za-z%])[A-Za-z]*+[0-9]++[A-Za-z]++[0-9][0-9A-Za-z]*+"
)  # digits, letters, digits: no word
_NUMBER = re.compile(_NO_ESCAPE + r"[0-9]+")
_MONTH = re.compile(
    r"(?<![^/._~+-])(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|januar|februar|m%C3%A4rz|maerz|mai|juni|juli|oktober|dezember|"
    r"janvier|f(?:%C3%A9|e)vrier|mars|avril|juin|juillet|ao(?:%C3%BB|u)t|septembre|octobre|novembre|d(?:%C3%A9|e)cembre|"
    r"enero|febrero|marzo|abril|mayo|junio|julio|agosto|sep?tiembre|octubre|noviembre|diciembre)(?![^/._~+-])",
    re.IGNORECASE,
)

_MONTH_NAMES = """
january february march april may june july august september october november december jan feb mar apr jun jul
aug sep sept oct nov dec januar februar m%c3%a4rz maerz mai juni juli oktober dezember janvier f%c3%a9vrier
fevrier mars avril juin juillet ao%c3%bbt aout septembre octobre novembre d%c3%a9cembre decembre enero febrero
marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
"""
_MONTHS = frozenset(_MONTH_NAMES.encode().split())
"""All that `_MONTH` finds: looking words up takes a tenth of the time, and nearly no segment has one."""

_WORDS = bytes.maketrans(b"._~+-", b"     ")

_SEPARATOR = re.compile(r"[&;]")
_MAX_NAMES = 12
"""Parameters that tell templates apart; a query that grows by one more each time is one template in the end."""

_IN_PATH = re.compile(r";[a-z]*sess(?:ion)?_?id=[^/?;]*|/\([a-z]\([0-9a-z]{24}\)\)", re.IGNORECASE)
"""Java's ;jsessionid=… and ASP.NET's /(S(…)): session ids for browsers that keep no cookies."""

_SESSION_NAME = re.compile(
    r"(?:[a-z]{0,8}[_-]?)?(?:sid|sess(?:ion)?[_-]?(?:id|key|token)?|sessid)|cfid|cftoken|zenid|aspsessionid[a-z]*|"
    r"viewstate|token|nonce",
    re.IGNORECASE,
)
_RANDOM = re.compile(r"(?=(?:[^0-9]*[0-9]){4})(?=[^A-Za-z]*[A-Za-z])[0-9A-Za-z]{16,128}")


def template(url: str) -> str | None:
    """The template of a canonical http(s) URL: host, path with # for numbers and ids, names of the query's parameters.

    A segment that comes back is left out, and "/…" at the end says so. None where nothing was taken out.
    """
    rest = url[url.index("://") + 3 :]
    start = rest.index("/")
    path, mark, query = rest[start:].partition("?")
    segments = path[1:].split("/")
    again = _has_repetition(segments)
    if not again and _WORTH_A_LOOK.search(rest, start) is None:
        return None
    if again:
        segments = list(dict.fromkeys(segments))
    text = "/".join(map(_segment_without_ids, segments))
    if not (again or mark) and text == path[1:]:  # its digits are letters in percent-escapes
        return None
    return f"{rest[:start]}/{text}{'/…' if again else ''}{mark}{names_of(query) if mark else ''}"


def _has_repetition(segments: list[str]) -> bool:
    """Whether a segment comes back; a number may, as in /2011/11/11/."""
    if len(segments) < 2 or len(set(segments)) == len(segments):
        return False
    words = [segment for segment in segments if segment and not segment.isdigit()]
    return len(set(words)) != len(words)


def _without_ids(text: str) -> str:
    return "/".join(map(_segment_without_ids, text.split("/")))


@lru_cache(maxsize=4096)
def _segment_without_ids(text: str) -> str:
    """Nothing that is taken out reaches over a slash, and folders come again and again."""
    if not _MONTHS.isdisjoint(text.encode("ascii", "replace").lower().translate(_WORDS).split()):
        text = _MONTH.sub("#", text)
    if _DIGIT.search(text) is None:
        return text
    if text.count("-") > 3:
        text = _UUID.sub("#", text)
    return _NUMBER.sub("#", _HASH.sub("#", text))


def names_of(query: str) -> str:
    """The names of a query's parameters, each once, in the order of the alphabet; numbers in them taken out."""
    names = {_without_ids(part.partition("=")[0]) for part in _SEPARATOR.split(query[:4096]) if part}
    ordered = sorted(names)
    return "&".join(ordered[:_MAX_NAMES]) + ("&…" if len(ordered) > _MAX_NAMES else "")


def without_session(url: str) -> tuple[str, str] | None:
    """A URL without what looks like a session id, and the names of what was taken out; None where nothing does.

    By the name of the parameter, or because its value is a long mix of letters and digits. That it really is one is
    for the pages to show.
    """
    path, mark, query = url.partition("?")
    if not mark and ";" not in path and "/(" not in path:
        return None
    bare = _IN_PATH.sub("", path)
    kept: list[str] = []
    taken = [] if bare == path else ["(path)"]
    for part in query.split("&") if mark else ():
        name, _, value = part.partition("=")
        (taken if _is_session(name, value) else kept).append(part)
    if not taken:
        return None
    names = names_of("&".join(taken))
    return bare + ("?" + "&".join(kept) if kept else ""), names


def _is_session(name: str, value: str) -> bool:
    return any(
        found is not None for found in (_SESSION_NAME.fullmatch(name), _RANDOM.fullmatch(value), _UUID.fullmatch(value))
    )


def echoed(url: str) -> str:
    """What a page may only repeat from its URL: the host's name, the path and the values of the query."""
    return unquote_plus(url.partition("://")[2][:4096])


def family(url: str) -> str:
    """The part of its host that a canonical http(s) URL belongs to: the first folder of the path, or the script.

    example.org/docs/*, example.org/list.php?*; example.org/* for what lies in the uppermost folder.
    """
    rest = url[url.index("://") + 3 :]
    start = rest.index("/")
    path, mark, _ = rest[start + 1 :].partition("?")
    folder, slash, _ = path.partition("/")
    folder = _without_ids(folder)
    return f"{rest[:start]}/{folder}{'/' if slash else '?'}*" if slash or mark else f"{rest[:start]}/*"


def without_query(url: str) -> tuple[str, str] | None:
    """A URL without its query, and the names of the query's parameters; None where it has none."""
    bare, mark, query = url.partition("?")
    return (bare, names_of(query)) if mark else None
