"""Frontiers that live as long as a test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from frontier.desk import SETTINGS, Desk, SqliteDesk
from gossamer.settings import Settings

OpenDesk = Callable[..., Desk]

BACKENDS = {"sqlite": SqliteDesk}


@pytest.fixture(params=list(BACKENDS.values()), ids=list(BACKENDS))
def open_desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenDesk]:
    """``open_desk(settings, seeds)`` opens a new frontier of each backend."""
    desks: list[Desk] = []

    def start(settings: Settings = SETTINGS, *seeds: str) -> Desk:
        desk: Desk = request.param(tmp_path / f"collection{len(desks)}", settings)
        desk.open(seeds)
        desks.append(desk)
        return desk

    yield start
    for desk in desks:
        desk.close()
        desk.finish()


@pytest.fixture
def desk(open_desk: OpenDesk) -> Desk:
    return open_desk()
