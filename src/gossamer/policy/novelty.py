"""How many pages a template may still have: it pays for those that bring no news, and earns with those that do. Pure.

A template starts with a budget. While it is on trial, no more of its URLs are under way at once than it could pay for
if none brought news: so the bound holds however many are found at once, and however long it takes to know what a page
says. One that has proved itself is held back no longer, until a long run of its pages brings nothing.
"""

from enum import IntEnum
from typing import NamedTuple

PROVEN = 32
"""Pages with news after which a template is held back no longer."""

_EARNED = 2.0  # by a page with news: a template goes on for ever when more than a third of its pages bring some
_LASTING = 32  # pages with news for each further page of credit that may be saved up


class News(IntEnum):
    """What a page of a template brought, by what it costs."""

    SOME = 0  # new text
    OTHER = 1  # no text, but pictures or links to pages of another kind
    LEAF = 2  # nothing, but it leads nowhere either: there can't be endlessly many
    COPY = 3  # a leaf with the very text of another page, or a redirect to more of the same: few come in a row
    AWAY = 4  # a redirect to what may turn out to be the same for ever
    NONE = 5  # nothing, and more of the same
    GROWS = 6  # a redirect to more of the same under a longer URL


_COSTS = {News.OTHER: 1 / 64, News.LEAF: 0.0, News.COPY: 0.25, News.AWAY: 1.0, News.NONE: 1.0, News.GROWS: 2.0}


class Budget(NamedTuple):
    """The account of one template."""

    credit: float
    judged: int = 0
    novel: int = 0  # pages that brought news, or led to some
    barren: int = 0  # pages at full cost

    @property
    def is_closed(self) -> bool:
        """Whether it can't pay for another page."""
        return self.credit < 1

    @property
    def is_proven(self) -> bool:
        """Whether its URLs need not wait for news of the others."""
        return self.novel >= PROVEN and not self.is_closed

    @property
    def is_earning(self) -> bool:
        """Whether it brings news often enough to go on for ever."""
        return self.novel * (1 + _EARNED) > self.judged

    def under_way(self, start: int) -> int | None:
        """How many of its URLs may be asked for before it is known what they brought; None: any number.

        More and more where all of them were harmless; ``start`` is what a template starts with.
        """
        if self.is_proven:
            return None
        harmless = self.judged // 8 if self.credit >= start and not self.barren else 0
        return max(1, int(self.credit)) + harmless

    def reopened(self, credit: float) -> "Budget":
        """The account of a template that may go on after all."""
        return self._replace(credit=credit)

    def charged(self, news: News) -> "Budget":
        """The account after a page of another's that it has to pay for as well."""
        return self._replace(credit=self.credit - _COSTS[news])

    def repaid(self, start: int, *, has_news: bool = True) -> "Budget":
        """The account after what one of its pages led to has brought news, or no harm. ``start``: see `after`."""
        credit = max(self.credit, min((1 + has_news) * start, self.credit + 1))
        return self._replace(credit=credit, novel=self.novel + has_news)

    def after(self, news: News, start: int) -> "Budget":
        """The account after one more page; one that is closed stays so. ``start`` is what a template starts with."""
        credit, novel = self.credit, self.novel
        if not self.is_closed and news is News.SOME:
            credit, novel = min(2 * start + novel / _LASTING, credit + _EARNED), novel + 1
        elif not self.is_closed:
            credit -= _COSTS[news]
        return Budget(credit, self.judged + 1, novel, self.barren + (news >= News.NONE))
