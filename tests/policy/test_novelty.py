"""The accounts of templates."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.novelty import PROVEN, Budget, News

START = 6


def after(*news: News, budget: Budget | None = None) -> Budget:
    budget = budget or Budget(float(START))
    for each in news:
        budget = budget.after(each, START)
    return budget


def test_a_trap_has_so_many_pages_and_no_more() -> None:
    assert not after(*[News.NONE] * (START - 1)).is_closed
    assert after(*[News.NONE] * START).is_closed
    assert after(*[News.NONE] * START, *[News.SOME] * 9).is_closed, "for good"


def test_what_brings_news_with_every_second_page_goes_on() -> None:
    assert not after(*[News.SOME, News.NONE] * 1000).is_closed
    assert after(*[News.SOME, *[News.NONE] * 3] * 40).is_closed


def test_a_long_run_without_news_ends_what_was_good() -> None:
    good = after(*[News.SOME] * 300)
    assert good.is_proven
    assert good.under_way(START) is None
    assert not after(*[News.NONE] * 2 * START, budget=good).is_closed
    assert after(*[News.NONE] * 30, budget=good).is_closed


def test_a_redirect_that_grows_costs_twice() -> None:
    assert after(*[News.GROWS] * (START // 2)).is_closed
    assert after(News.GROWS, News.NONE, News.COPY, News.LEAF).barren == 2


def test_who_leads_to_news_is_repaid() -> None:
    budget = after(*[News.NONE] * 3)
    assert budget.repaid(START).credit == budget.credit + 1
    assert after(News.AWAY, News.AWAY).repaid(START, has_news=False) == Budget(START - 1, judged=2)
    assert after(News.NONE).charged(News.NONE).credit == START - 2
    assert budget.repaid(START).is_earning is False
    assert budget.repaid(START).repaid(START).is_earning
    assert not after(*[News.NONE] * START).repaid(START).is_closed, "what was closed too early"
    full = after(*[News.SOME] * 300)
    assert full.repaid(START).credit == full.credit, "nothing is saved up"


def test_leaves_cost_nothing_and_copies_little() -> None:
    assert after(*[News.LEAF] * 10_000).credit == START
    assert not after(*[News.COPY] * 20).is_closed
    assert after(*[News.COPY] * 21).is_closed
    assert not after(*[News.OTHER] * 300).is_closed


@given(st.lists(st.sampled_from(list(News)), max_size=200))
def test_no_more_is_under_way_than_can_be_paid(news: list[News]) -> None:
    """Until it is proven: unless all were harmless, and then some more with each eight of these."""
    budget = after(*news)
    limit = budget.under_way(START)
    assert (limit is None) == (budget.novel >= PROVEN and not budget.is_closed)
    if limit is not None:
        assert 1 <= limit <= max(1.0, budget.credit) + budget.judged // 8
        assert budget.credit >= START or limit <= max(1.0, budget.credit)
