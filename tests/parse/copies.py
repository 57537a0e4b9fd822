"""What the tests of the rewriting share: a small site of which some URLs are saved, and one document of it."""

from urllib.parse import quote, unquote

from gossamer.parse.rewrite import Rewritten, rewrite

SITE = "http://h.example"
NOTHING = f"about:invalid#{SITE}"  # what is needed and not saved
URL = f"{SITE}/dir/page.html"
PLACE = "h.example/dir/page.html"
META = '<meta charset="utf-8">'
STYLE = (
    '<style data-gossamer="style">a[data-gossamer=live]{text-decoration:underline dotted!important}'
    "img[data-gossamer=live]{outline:1px dotted}</style>"
)

_SAVED = {
    "/": "index.html",
    "/a.html": "a.html",
    "/a.js": "a.js",
    "/a.js?v=1": "a.q-11111111.js",
    "/a.css": "a.css",
    "/a.css?v=1": "a.q-22222222.css",
    "/a.png": "a.png",
    "/a.svg": "a.svg",
    "/com,ma.png": "com,ma.png",
    "/dir/": "dir/index.html",
    "/dir/b.html": "dir/b.html",
    "/dir/b.js": "dir/b.js",
    "/dir/b.css": "dir/b.css",
    "/dir/b.png": "dir/b.png",
    "/dir/c.png": "dir/c.png",
    "/dir/c:d.html": "dir/c_d-33333333.html",
    "/dir/page.html": "dir/page.html",
    "/dir/page.html?x=1": "dir/page.html",
    "/dir/sub/": "dir/sub/index.html",
    "/odd%20name%23%3F%25.png": "odd name#?%.png",
    "/par(en).png": "par(en).png",
    "/q?x=1&copy=2": "q.q-44444444.html",
    "/q?n=%E9": "q.q-55555555.html",
    "/q?n=%C3%A9": "q.q-66666666.html",
    "/quo'te.png": "quo'te.png",
    "/%E5%9B%BE.png": "图.png",
    "/moved": "dir/page.html",
    "/v.mp4": "v.mp4",
}
SAVED = {SITE + path: f"h.example/{place}" for path, place in _SAVED.items()} | {
    "http://cdn.example:8080/x.js": "cdn.example_8080/x.js"
}


def rewritten(
    body: str | bytes, content_type: str = "text/html", *, charset: str = "utf-8", url: str = URL, place: str = PLACE
) -> Rewritten:
    """The file of the copy that ``body`` becomes."""
    return rewrite(
        body.encode() if isinstance(body, str) else body,
        content_type=content_type,
        charset=charset,
        url=url,
        place=place,
        lookup=SAVED.get,
    )


def html(source: str) -> str:
    """The same of a fragment of HTML, without what is added at its beginning."""
    text = rewritten(META + source).body.decode()
    return text.removeprefix(STYLE).removeprefix(META)


def other(body: str, content_type: str, **options: str) -> str:
    """The same of a file of another type."""
    return rewritten(body, content_type, **options).body.decode()


def mirrored(body: bytes, content_type: str) -> bytes:
    """The same in a copy that has every file of the site under its own name: done once, there is nothing left to do."""
    return rewrite(body, content_type=content_type, charset="utf-8", url=URL, place=PLACE, lookup=_under_its_name).body


def _under_its_name(url: str) -> str | None:
    name = unquote(url.removeprefix("http://"))
    is_file = url.startswith(SITE + "/") and "?" not in url and not url.endswith("/")
    return name if is_file and quote(name, safe="/") == url.removeprefix("http://") else None
