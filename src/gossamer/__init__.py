"""Gossamer: a web crawler people can trust with a site.

    import gossamer

    with gossamer.open("example.org", create=True) as collection:
        for page in collection.crawling("https://example.org/", max_urls=50):
            print(page.url, page.title)

Described in docs/python.md; what the names are, for editors and type checkers, stands in ``__init__.pyi``.
"""

from importlib import import_module

__version__ = "0.1.0"

_PLACES = {
    "open": "gossamer.api.collection:open_collection",
    **{name: f"gossamer.api.collection:{name}" for name in ("Collection",)},
    **{name: f"gossamer.api.crawling:{name}" for name in ("Crawling",)},
    **{name: f"gossamer.api.inout:{name}" for name in ("Imported",)},
    **{name: f"gossamer.api.page:{name}" for name in ("Page", "Response")},
    **{name: f"gossamer.archive.catalogue:{name}" for name in ("Entry",)},
    **{name: f"gossamer.archive.history:{name}" for name in ("History",)},
    **{name: f"gossamer.archive.search:{name}" for name in ("Hit",)},
    **{name: f"gossamer.archive.status:{name}" for name in ("Status",)},
    **{name: f"gossamer.crawl.hooks:{name}" for name in ("Skip",)},
    **{name: f"gossamer.crawl.report:{name}" for name in ("Ending", "Progress", "Report")},
    **{name: f"gossamer.parse.own:{name}" for name in ("ParsedPage",)},
    **{name: f"gossamer.records:{name}" for name in ("Candidate", "Link")},
    **{
        name: f"gossamer.errors:{name}"
        for name in (
            *("ArchiveError", "CollectionError", "CollectionLocked", "FetchError", "GossamerError", "Interrupted"),
            *("SettingsError", "UsageError"),
        )
    },
}
"""Where the public names are defined."""

__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> object:
    """A public name, imported when it is first used (PEP 562).

    Every module of ours and every parser worker imports this package before anything else, and must not load a crawler,
    a database and libcurl by that.
    """
    if name not in _PLACES:
        raise AttributeError(f"module 'gossamer' has no attribute {name!r}", name=name)
    module, _, attribute = _PLACES[name].partition(":")
    value = globals()[name] = getattr(import_module(module), attribute)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
