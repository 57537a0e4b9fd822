"""Who we are to each server: its cookies, and the credentials and certificates that were given for its origin.

Nothing of it ever goes to another origin, into the archive, a log or the database: requests are told what to carry just
before they are sent, and forget it. What is sent in headers stands as ``[redacted]`` in the archive.
"""

import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gossamer import url as urls
from gossamer.clock import Clock
from gossamer.fetch.cookie_file import is_open_to_others, read_cookies
from gossamer.fetch.cookies import CookieJar
from gossamer.fetch.credentials import UNAUTHORIZED, Credentials
from gossamer.fetch.set_cookie import Cookie
from gossamer.fetch.trust import check_certificates
from gossamer.records import Exchange, Headers
from gossamer.settings import Settings
from gossamer.settings_secrets import Certificate, certificate, credential

log = logging.getLogger("gossamer.identity")

_REMEMBERED = 100_000  # answers that might be others now; 16 bytes each


@dataclass(frozen=True, slots=True)
class Presented:
    """What a request tells of us."""

    cookie: str = field(default="", repr=False)
    authorization: str = field(default="", repr=False)
    challenge: str = ""  # that the authorization answers

    def beside(self, headers: Headers) -> Headers:
        """The headers of a request with ours. An Authorization that a person wrote counts; cookies are joined."""
        names = {name.lower() for name, _ in headers}
        if self.authorization and "authorization" not in names:
            headers = (*headers, ("Authorization", self.authorization))
        if not self.cookie:
            return headers
        written = [value for name, value in headers if name.lower() == "cookie"]
        others = tuple(header for header in headers if header[0].lower() != "cookie")
        return (*others, ("Cookie", "; ".join([*written, self.cookie])))


_NOTHING = Presented()
_NEVER = object()


class Identity:
    """What is known of us to whom. ``jar``: None where cookies are neither kept nor sent."""

    def __init__(
        self,
        clock: Clock,
        jar: CookieJar | None = None,
        credentials: Credentials | None = None,
        certificates: Iterable[Certificate] = (),
    ) -> None:
        self._clock = clock
        self._jar = jar
        self._credentials = credentials or Credentials()
        self._certificates: Mapping[urls.Origin, Certificate] = {each.origin: each for each in certificates}
        # By hash of a URL: what it was asked with when it redirected or refused us; None: it was asked again for that.
        self._turned_away: OrderedDict[int, int | None] = OrderedDict()

    def present(self, url: str) -> Presented:
        """What a request for ``url`` is to tell."""
        if not self._jar and not self._credentials:
            return _NOTHING
        return Presented(self._cookie(url), self._credentials.authorization(url), self._credentials.challenge(url))

    def certificate(self, url: str) -> tuple[str, str] | None:
        """The files of our certificate and its key, where the origin of ``url`` is to see one."""
        if not self._certificates:
            return None
        found = self._certificates.get(urls.origin(url))
        return (found.file, found.key) if found else None

    def learn(self, answer: Exchange, presented: Presented) -> None:
        """Take what an answer says of us: cookies, and challenges."""
        if self._jar is not None:
            self._jar.take(answer.url, answer.headers, self._clock.now())
        if self._credentials:
            self._credentials.learn(answer, was_told=bool(presented.authorization))
        if 300 <= answer.status < 400 or answer.status == UNAUTHORIZED:
            self._remember(answer.url, presented)

    def _remember(self, url: str, presented: Presented) -> None:
        key = hash(url)
        if self._turned_away.setdefault(key, 0) is not None:
            self._turned_away[key] = hash((presented.cookie, presented.challenge))
        if len(self._turned_away) > _REMEMBERED:
            self._turned_away.popitem(last=False)

    def would_change(self, url: str) -> bool:
        """Whether ``url``, which redirected or refused us, would be asked with other cookies or credentials now.

        True only once for each URL, so that a server that sets a new cookie each time leads nowhere. One that was asked
        in an earlier run counts as asked with nothing: cookies do not outlive a run.
        """
        key = hash(url)
        now = self._cookie(url), self._credentials.challenge(url)
        before = self._turned_away.get(key, _NEVER)
        if before is _NEVER:
            return any(now)
        if before is None or before == hash(now):
            return False
        self._turned_away[key] = None
        return True

    @property
    def changes(self) -> int:
        """Counts up with every cookie that is taken or dropped."""
        return self._jar.changes if self._jar is not None else 0

    def cookies(self) -> tuple[Cookie, ...]:
        """All cookies, to be kept where a person wants them."""
        return tuple(self._jar) if self._jar is not None else ()

    def _cookie(self, url: str) -> str:
        return self._jar.header(url, self._clock.now()) if self._jar else ""


def identity_of(settings: Settings, clock: Clock) -> Identity:
    """Who we are as the settings say. UsageError for a file that can't be used."""
    certificates = [certificate(text) for text in settings.client_cert]
    check_certificates(certificates)
    credentials = Credentials(credential(text) for text in settings.credential)
    return Identity(clock, _jar(settings, clock.now()), credentials, certificates)


def _jar(settings: Settings, now: float) -> CookieJar | None:
    files = [Path(settings.cookies)] if settings.cookies else []
    if settings.cookie_jar and Path(settings.cookie_jar).exists():
        files.append(Path(settings.cookie_jar))
    cookies = [cookie for file in files for cookie in read_cookies(file, now)]
    for file in files:
        if is_open_to_others(file):
            log.warning("%s may be read by others on this machine: chmod 600 keeps its cookies yours", file)
    if not (settings.accept_cookies or cookies):
        return None
    return CookieJar(cookies, takes=settings.accept_cookies)
