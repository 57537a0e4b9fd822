"""A little of it with each run of the suite, and everything that was ever found."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.corpus import EXAMPLES, WORDS
from fuzz.findings import FINDINGS
from fuzz.targets import TARGETS, check

EXECUTIONS = 60


def inputs(name: str) -> st.SearchStrategy[bytes]:
    """Bytes in which the words of a language stand in any order, and examples with something put in or taken out."""
    words = st.lists(st.one_of(st.sampled_from(WORDS[name]), st.binary(max_size=6)), max_size=30).map(b"".join)
    return st.one_of(
        words, st.builds(_spliced, st.sampled_from(EXAMPLES[name]), words, st.integers(0), st.integers(0, 40))
    )


def _spliced(example: bytes, words: bytes, place: int, gone: int) -> bytes:
    place %= len(example) + 1
    return example[:place] + words + example[place + gone :]


@pytest.mark.parametrize("name", TARGETS)
def test_any_bytes(name: str) -> None:
    @settings(max_examples=EXECUTIONS)
    @given(inputs(name))
    def feed(data: bytes) -> None:
        check(name, data)

    feed()


CASES = [*((name, data) for name, examples in EXAMPLES.items() for data in (*examples, b"")), *FINDINGS]


@pytest.mark.parametrize(("name", "data"), CASES)
def test_examples_and_findings(name: str, data: bytes) -> None:
    check(name, data)
