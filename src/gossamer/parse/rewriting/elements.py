"""Which attributes of which elements hold URLs: a closed list (HTML, "Attributes"; SVG 2, 16.1.3)."""

from gossamer.parse.rewriting.contract import Kind

MARK = "data-gossamer"
"""The attribute of what points to the live web, because it is not saved, and of what was added."""

PAGE, REQUISITE, OTHER = Kind.PAGE, Kind.REQUISITE, Kind.OTHER

LINKS: dict[str, tuple[tuple[str, Kind], ...]] = {
    "a": (("href", PAGE),),
    "area": (("href", PAGE),),
    "audio": (("src", REQUISITE),),
    "body": (("background", REQUISITE),),
    "embed": (("src", REQUISITE),),
    "frame": (("longdesc", OTHER),),
    "iframe": (("longdesc", OTHER),),
    "img": (("src", REQUISITE), ("longdesc", OTHER)),
    "object": (("data", REQUISITE),),
    "script": (("src", REQUISITE),),
    "source": (("src", REQUISITE),),
    "table": (("background", REQUISITE),),
    "tbody": (("background", REQUISITE),),
    "td": (("background", REQUISITE),),
    "tfoot": (("background", REQUISITE),),
    "th": (("background", REQUISITE),),
    "thead": (("background", REQUISITE),),
    "tr": (("background", REQUISITE),),
    "track": (("src", REQUISITE),),
    "video": (("src", REQUISITE), ("poster", REQUISITE)),
}
"""Attributes with one URL; what frames show, and those of link, input, button and form, stand with these elements."""

SRCSETS = {"img": "srcset", "source": "srcset", "link": "imagesrcset"}

HINTS = frozenset({"dns-prefetch", "preconnect", "prerender"})
"""Links that only make a browser talk to a host early, which nobody means who opens a copy."""

EARLY = frozenset({"manifest", "modulepreload", "prefetch", "preload", "search"})
"""Links to what is loaded for later, or for other uses than to show the page: in a file that holds all it would be twice."""

PLUGINS = {"embed": "src", "object": "data"}
"""Attributes without which an element shows what stands in it, as it does online where its file can't be had."""

RUNS = frozenset({"a", "area", "embed", "frame", "iframe", "object", "script"})
"""Elements by which a file is opened in which scripts run, and may read the query it was opened with."""

PAINTS = frozenset(
    {
        *("clip-path", "cursor", "fill", "filter", "marker", "marker-end", "marker-mid", "marker-start", "mask"),
        "stroke",
    }
)
"""Attributes of SVG that are CSS (SVG 2, 6.6, "Presentation attributes") and may hold ``url()``."""

ASIDE = frozenset({"longdesc", "poster"})
"""Attributes that are nothing to what these speak of:"""

FROM_LOCAL = frozenset({"integrity", "crossorigin", "nonce", "csp"})
"""What a browser holds against the answer of a server, and a file has nothing to say to."""
