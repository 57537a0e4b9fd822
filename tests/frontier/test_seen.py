"""The set of fingerprints against a plain set, and what is loaded from files of every kind."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from numpy.typing import NDArray

from gossamer.frontier.seen import SeenSet

OWNER = bytes(range(32))

# small numbers share slots, large ones wrap around the end of the table; 0 marks an empty slot and counts as 1
KEYS = st.one_of(st.integers(0, 40), st.integers(2**64 - 40, 2**64 - 1), st.integers(0, 2**64 - 1))


def keys(*values: int) -> NDArray[np.uint64]:
    return np.array(values, dtype=np.uint64)


def known(values: set[int]) -> set[int]:
    return {value or 1 for value in values}


class Seen(RuleBasedStateMachine):
    """Nothing that was put in is missing, nothing else is found, whatever was saved and loaded in between."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = SeenSet()
        self.model: set[int] = set()

    @rule(values=st.lists(KEYS, max_size=60))
    def add(self, values: list[int]) -> None:
        self.seen.add(keys(*values))
        self.model |= known(set(values))

    @rule(start=KEYS, count=st.integers(1, 1500))
    def add_many(self, start: int, count: int) -> None:
        """Neighbours, so that long rows of full slots come about and the table grows."""
        values = {(start + number) % 2**64 for number in range(count)}
        self.seen.add(keys(*values))
        self.model |= known(values)

    @rule(values=st.lists(KEYS, min_size=1, max_size=60))
    def ask(self, values: list[int]) -> None:
        found = self.seen.contains(keys(*values)).tolist()
        assert found == [(value or 1) in self.model for value in values]

    @rule(table_of=st.integers(0, 20_000))
    def move_to_another_table(self, table_of: int) -> None:
        another = SeenSet(table_of)
        another.add(keys(*self.model))
        self.seen = another

    @invariant()
    def has_its_size(self) -> None:
        assert len(self.seen) == len(self.model)
        assert self.seen.nbytes >= 8 * len(self.seen)

    def teardown(self) -> None:
        assert self.seen.contains(keys(*self.model)).all()


TestSeen = Seen.TestCase
TestSeen.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)


@given(st.sets(st.integers(0, 2**64 - 1), max_size=300))
@settings(max_examples=30, deadline=None)
def test_what_is_saved_is_loaded(values: set[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seen.bin"
        seen = SeenSet()
        seen.add(keys(*values))
        seen.save(path, last_id=17, owner=OWNER)
        loaded = SeenSet.load(path, owner=OWNER)
        assert loaded is not None
        assert (len(loaded[0]), loaded[1]) == (len(seen), 17)
        assert loaded[0].contains(keys(*values)).all()
        assert SeenSet.load(path, owner=bytes(32)) is None  # another collection's


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "seen.bin"
    seen = SeenSet()
    seen.add(np.arange(1, 2000, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    seen.save(path, last_id=2000, owner=OWNER)
    return path


def test_there_is_none(tmp_path: Path) -> None:
    assert SeenSet.load(tmp_path / "seen.bin", owner=OWNER) is None
    assert SeenSet.load(tmp_path, owner=OWNER) is None


@pytest.mark.parametrize("size", [0, 1, 7, 8, 31, 32, 40, 1000, 32 + 8 * 2048, 32 + 8 * 4095, 32 + 8 * 4096 - 1])
def test_one_that_is_cut_is_not_trusted(saved: Path, size: int) -> None:
    saved.write_bytes(saved.read_bytes()[:size])
    assert SeenSet.load(saved, owner=OWNER) is None


@pytest.mark.parametrize("tail", [b"x", bytes(8), bytes(8 * 4096)])
def test_one_that_is_too_long_is_not_trusted(saved: Path, tail: bytes) -> None:
    data = saved.read_bytes()
    saved.write_bytes(data + tail)
    loaded = SeenSet.load(saved, owner=OWNER)
    assert loaded is None or len(loaded[0]) == 1999


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_noise_never_hangs_it(data: st.DataObject) -> None:
    """Whatever the file holds, what is loaded answers, grows, and never claims to know most of what is asked."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seen.bin"
        seen = SeenSet()
        seen.add(np.arange(1, 500, dtype=np.uint64))
        seen.save(path, last_id=1, owner=OWNER)
        content = bytearray(path.read_bytes())
        for at in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=30)):
            content[at] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        loaded = SeenSet.load(path, owner=OWNER)
        if loaded is not None:
            assert loaded[0].contains(np.arange(10_000, 20_000, dtype=np.uint64)).sum() < 40
            loaded[0].add(np.arange(1, 5000, dtype=np.uint64))
            assert loaded[0].contains(np.arange(1, 5000, dtype=np.uint64)).all()
