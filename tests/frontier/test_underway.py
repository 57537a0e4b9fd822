"""How many URLs of a template are under way."""

from gossamer.frontier.underway import UnderWay
from gossamer.records import Claim


def claim(number: int, template: int = 5, host: int = 1) -> Claim:
    return Claim(number, f"http://a.test/{number}", host, "http://a.test", template=template)


def test_no_more_than_the_limit() -> None:
    ways = UnderWay()
    ways.limit([(5, 2)])
    for number in (1, 2):
        assert not ways.must_wait(claim(number), 1)
        ways.leave(claim(number))
    assert ways.must_wait(claim(3), 1)
    assert ways.must_wait(claim(4, host=2), 2)
    assert not ways.must_wait(claim(5, template=6), 1)
    assert not ways.must_wait(claim(6, template=0), 1)
    assert not ways.must_wait(None, 1)
    assert ways.land(claim(1)) == {1, 2}
    assert not ways.must_wait(claim(3), 1)
    assert ways.land(claim(2)) == set()


def test_one_at_a_time_of_what_nothing_is_known() -> None:
    ways = UnderWay()
    assert not ways.must_wait(claim(1), 1)
    ways.leave(claim(1))
    assert ways.must_wait(claim(2), 1)
    ways.limit([(5, None)])
    assert not ways.must_wait(claim(2), 1)
