"""A small archive and copies of it, made within the test: workers that are no processes."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from unittest.mock import patch

from gossamer import saving
from gossamer.offline.check import Checked, Unresolved
from gossamer.offline.choice import Choice
from gossamer.offline.plan import Plan
from gossamer.offline.save import Saved
from gossamer.parse.browse import browse
from gossamer.parse.html import read
from gossamer.parse.job import DEFAULT_LIMITS, Derived, ParseJob, RewriteJob
from gossamer.parse.rewrite import rewrite
from gossamer.parse.rewriting.contract import Rewritten
from gossamer.parse.rewriting.places import PlaceTable
from gossamer.records import Facts, Failure, FailureKind, Settlement, State, Via
from gossamer.saving import SaveOrder
from gossamer.settings import Settings
from small import Small

A = "http://a.test/"
ROOT = "a.test_80"
HTML = "text/html"
OURS = ("index.html", "search.html")


class Workers:
    """Does what parser workers do."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    async def parse(self, job: ParseJob) -> Facts:
        return browse(job) if job.derive is Derived.BROWSED else read(job, b"key", DEFAULT_LIMITS)

    async def rewrite(self, job: RewriteJob) -> Rewritten:
        with PlaceTable(job.table) as table:
            return rewrite(
                job.body,
                content_type=job.content_type,
                charset=job.charset,
                url=job.url,
                place=job.place,
                lookup=table,
                embed=job.embed,
            )


@dataclass
class Web:
    """An archive that is filled answer by answer, and the copy of it."""

    small: Small
    out: Path
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def create(cls, folder: Path) -> "Web":
        return cls(Small.create(folder / "c"), folder / "out")

    def put(self, path: str, body: str | bytes = "", content_type: str = HTML, **headers: str) -> None:
        """A whole answer to a URL; a path is one of the site's."""
        url = _url(path)
        data = body.encode() if isinstance(body, str) else body
        given = (("content-type", content_type), *((name.replace("_", "-"), value) for name, value in headers.items()))
        facts = read(ParseJob(url, given, data), self.small.secret, DEFAULT_LIMITS)
        failure = facts.failure
        settlement = Settlement(State.FAILED, str(failure), failure=failure) if failure else None
        self.small.answer(url, data, facts=facts, headers=given, settlement=settlement)

    def page(self, path: str, *links: str, title: str = "") -> None:
        """A page with links."""
        anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
        self.put(path, f"<!doctype html><title>{title or path}</title><p>{anchors}")

    def error(self, path: str, status: int, body: bytes = b"<title>Error</title>no") -> None:
        kind = FailureKind.HTTP_SERVER if status >= 500 else FailureKind.HTTP_CLIENT
        failure = Failure(kind, str(status))
        settlement = Settlement(State.FAILED, str(failure), failure=failure)
        self.small.answer(_url(path), body, status=status, settlement=settlement)

    def cut(self, path: str, body: bytes) -> None:
        """An answer of which the end is missing."""
        failure = Failure(FailureKind.BODY_TRUNCATED, f"{len(body)} bytes came")
        settlement = Settlement(State.FAILED, str(failure), failure=failure)
        self.small.answer(_url(path), body, truncated="disconnect", settlement=settlement)

    def too_large(self, path: str, body: str) -> None:
        """The beginning of an answer that is larger than what the crawl takes."""
        data, given = body.encode(), (("content-type", HTML),)
        facts = read(ParseJob(_url(path), given, data, "length"), self.small.secret, DEFAULT_LIMITS)
        self.small.answer(_url(path), data, facts=facts, headers=given, truncated="length")

    def fail(self, path: str) -> None:
        """A try that brings no answer at all."""
        self.small.fail(_url(path), Failure(FailureKind.CONNECT_REFUSED))

    def redirect(self, path: str, target: str, location: str = "") -> None:
        """``location``: as the server says it, where that is not the URL alone."""
        headers = (("location", location or _url(target)),)
        self.small.answer(_url(path), status=302, redirect=_url(target), headers=headers)

    def known(self, path: str) -> int:
        """A URL that is only known; its id."""
        return self.small.claim(_url(path)).url_id

    def order(self, choice: Choice | None = None, **options: Any) -> SaveOrder:
        self.small.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._sync()
        return SaveOrder(self.small.folder, self.out, choice or Choice(), Settings(), **options)

    def save(self, choice: Choice | None = None, **options: Any) -> Saved:
        with patch.object(saving, "parser_pool", lambda *_: Workers()):
            return asyncio.run(saving.make_copy(self.order(choice, **options)))

    def plan(self, choice: Choice | None = None) -> Plan:
        with patch.object(saving, "parser_pool", lambda *_: Workers()):
            return asyncio.run(saving.plan_copy(self.order(choice)))

    def check(self) -> Checked:
        return check(self.out)

    def _sync(self) -> None:
        for segment in self.small.segments.sync():
            del segment  # their rows were written by the commits

    def read(self, path: str) -> str:
        """The text of a file in the copy."""
        return (self.out / path).read_text(encoding="utf-8")

    def tree(self) -> dict[str, bytes]:
        """Every file of the copy."""
        return {
            path.relative_to(self.out).as_posix(): path.read_bytes() for path in self.out.rglob("*") if path.is_file()
        }

    def site(self) -> set[str]:
        """The files that are of the web."""
        return {path for path in self.tree() if not path.startswith("_gossamer/") and path not in OURS}


def check(out: Path) -> Checked:
    with patch.object(saving, "parser_pool", lambda *_: Workers()):
        return asyncio.run(saving.check_copy(out, Settings()))


def reasons(found: tuple[Unresolved, ...]) -> Mapping[str, str]:
    """What does not resolve, with why."""
    return {each.reference: each.reason for each in found}


def _url(path: str) -> str:
    return path if "://" in path else A + path.lstrip("/")


__all__ = ["HTML", "ROOT", "A", "Via", "Web", "Workers", "check", "reasons"]
