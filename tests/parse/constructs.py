"""A site with every construct that holds a URL, and many that look like one.

Each element has an id; `REPORT` is a script that tells what a browser makes of each, so that a copy of the site can be held
against the site itself: the same elements must mean the same files.
"""

import re
from itertools import count

Site = dict[str, tuple[str, bytes]]
"""Content-Type and body by path and query."""

HTML = "text/html; charset=utf-8"

REPORT = """<script>
addEventListener('load', () => {
  const seen = [], names = {A: ['href'], AREA: ['href'], LINK: ['href'], IMG: ['src', 'currentSrc', 'longDesc'],
    SOURCE: ['src'], VIDEO: ['src', 'poster'], AUDIO: ['src'], TRACK: ['src'], EMBED: ['src'], OBJECT: ['data'],
    IFRAME: ['src'], FRAME: ['src'], FORM: ['action'], BUTTON: ['formAction'], SCRIPT: ['src']};
  const styles = ['backgroundImage', 'listStyleImage', 'borderImageSource', 'cursor', 'fill', 'maskImage', 'content'];
  const look = (root, inside) => {
    const view = root.defaultView;
    for (const element of root.querySelectorAll('[id]')) {
      const id = inside + element.id, tell = (what, value) => seen.push([id, what, value]);
      const tag = element.tagName.toUpperCase();
      for (const name of names[tag] || []) {
        const isLink = tag === 'A' || element.getAttribute(name.toLowerCase()) !== '';
        if (isLink && typeof element[name] === 'string') tell(name, element[name]);
      }
      if (tag === 'INPUT' && element.type === 'image') { tell('src', element.src); tell('action', element.formAction); }
      if (element.namespaceURI.endsWith('svg')) {
        for (const attribute of element.attributes) {
          const isOther = element.tagName === 'a' || attribute.value[0] !== '#';
          if (attribute.localName === 'href' && isOther) tell('href', new URL(attribute.value, root.baseURI).href);
        }
      }
      for (const pseudo of ['', '::before']) {
        const computed = view.getComputedStyle(element, pseudo || null);
        for (const name of styles) if (/url\\(/.test(computed[name])) tell(pseudo + name, computed[name]);
      }
      if (element.hasAttribute('srcdoc') && element.contentDocument) look(element.contentDocument, id + '/');
    }
  };
  look(document, '');
  const report = document.createElement('pre');
  report.textContent = '@@@' + encodeURIComponent(JSON.stringify(seen)) + '@@@';
  document.documentElement.appendChild(report);
});
</script>"""

_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cfc0000003010100c9fe92ef"
    "0000000049454e44ae426082"
)

# "ID" becomes an id, HOST the site's host and port.
_LINKS = r"""
<a ID href="p1.html">x</a><a ID href=p1.html>x</a><a ID HREF = 'p2.html'>x</a><A ID hReF=p1.html CLASS=x>x</A>
<a ID href="dir\p3.html">x</a><a ID href="/dir/../p1.html">x</a><a ID href="./dir/./p3.html#frag">x</a>
<a ID href="?x=1">x</a><a ID href="#frag">x</a><a ID href="">x</a><a ID>x</a><a ID href="index.html#x">x</a>
<a ID href="p?x=1&y=2">x</a><a ID href="p?x=1&amp;y=2">x</a><a ID href="p?x=1&copy=2">x</a><a ID href="p?x=1&amp;copy=2">x</a>
<a ID href="p?y=2&x=1">x</a><a ID href="p1.html#a b">x</a><a ID href="p1.html#ü">x</a><a ID href="p1.html?">x</a>
<a ID href="//HOST/p1.html">x</a><a ID href="http://HOST/p1.html#z">x</a><a ID href="HTTP://HOST/p2.html">x</a>
<a ID href="http:p1.html">x</a><a ID href="no.html?q=1#f">x</a><a ID href="http://other.example/x">x</a>
<a ID href="//other.example/x">x</a><a ID href="mailto:a@b">x</a><a ID href="javascript:void(0)">x</a>
<a ID href="JaVaScRiPt:void(0)">x</a><a ID href="data:text/html,<a href=p1.html>">x</a><a ID href="tel:123">x</a>
<a ID href="p1.html" href="p2.html">x</a><a ID href="p&#49;.html">x</a><a ID href="p&#x31;.htm&#108;">x</a>
<a ID href="dir&sol;p3.html">x</a><a ID href="dir/a:b.html">x</a><a ID href="http://[bad">x</a><a ID href="%70%31.html">x</a>
<a ID/href="p1.html"/>x</a><a ID title="a>b" href="p2.html">x</a><a ID title='<a href="p1.html">' href=p2.html>x</a>
<a ID ping="/ping?1 p1.html" href="no.html">x</a><a ID href="dir">x</a><a ID href="dir/">x</a><a ID href="/">x</a>
<a ID href="..">x</a><a ID href="../../../p1.html">x</a><a ID data-href="p2.html" href="p1.html" xmlns="p1.html">x</a>
<a ID href="q?n=é">x</a><a ID href="p1.html&nbsp">x</a><a ID href="moved">x</a><map name=map>
<area ID href="p1.html"></map><math><mi><a ID href="p1.html">x</a></mi></math>
"""
_IMAGES = r"""
<img ID src="i/a.png"><img ID src=i/b.png alt=x><image ID src="i/c.png"><img ID src="i/sp ace.png"><img ID src="i/sp%20ace.png">
<img ID src="i/ha%23sh.png"><img ID src="i/qu%3Fest.png"><img ID src="i/per%25cent.png"><img ID src="i/com,ma.png">
<img ID src="i/par(en).png"><img ID src="i/quo'te.png"><img ID src="i/a:b.png"><img ID src="i/%E5%9B%BE.png">
<img ID src="data:image/png;base64,AAAA"><img ID src=""><img ID src="i/no.png"><img ID src="i/a.png?v=1">
<img ID srcset="i/d.png"><img ID srcset="i/d.png 1x, i/e.png 2x" src=i/f.png><img ID srcset="i/com,ma.png 1x">
<img ID srcset="data:,a 2x,i/g.png 1x"><img ID srcset="i/h.png,, i/i.png 2x"><img ID srcset='i/j.png 10w, i/k.png 400w' sizes=10px>
<img ID srcset=i/l.png><img ID srcset="&#105;/m.png 1x"><img ID data-src="i/a.png" src="i/u.png" longdesc=p1.html>
<picture><source srcset="i/p.png"><img ID src="i/q.png" crossorigin></picture><img ID src="i/r.png" crossorigin=anonymous>
<video ID src="v.mp4" poster="i/a.png"></video><video ID poster=i/b.png><source ID src="v.mp4"><track ID src="t.vtt"></video>
<audio ID src="/v.mp4"></audio><embed ID src="i/a.png"><object ID data="i/b.png"></object>
<input ID type=image src="i/c.png"><input ID type=IMAGE src="i/d.png" formaction="p1.html"><input type=text src="i/e.png">
<table ID background="i/e.png"><tr ID background="i/f.png"><td ID background="i/g.png">x<th ID background=i/h.png></table>
"""
_FRAMES = r"""
<iframe ID src="p1.html#frag"></iframe><iframe ID src="p?x=1&amp;y=2"></iframe><iframe ID src=""></iframe>
<iframe ID srcdoc="&lt;a id=a href=&quot;p?x=1&amp;amp;y=2&quot;&gt;x&lt;/a&gt;<img id=b src='i/a.png'>
<div id=c style=&quot;background-image:url(&amp;quot;i/b.png&amp;quot;)&quot;>x</div>"></iframe>
<iframe ID srcdoc='<base href="dir/"><a id=a href=p3.html>x</a><a id=b href=#frag>y</a>'></iframe>
<form ID action="p1.html"><button ID formaction="p2.html">x</button></form><form ID action="search"></form>
"""
_STYLES = r"""
<p ID style="background-image:url(i/i.png)">x<p ID style="background-image:url(&quot;i/j.png&quot;)">x
<p ID style='background-image:url("i/k.png")'>x<p ID style="background-image:url( i/l.png )">x
<p ID style=background-image:url(i/m.png)>x<p ID style="background-image:url(i/par\(en\).png)">x
<p ID style="background-image:url('i/quo\'te.png')">x<p ID style="background-image:\75 rl(i/n.png)">x
<p ID style="background-image:u\000072l(i/o.png)">x<p ID style="background-image:url(i/\70.png)">x
<p ID style="background-image:image-set('i/q.png' 1x, 'i/r.png' 2x)">x<p ID style="background-image:-webkit-image-set(url(i/s.png) 1x)">x
<p ID style="content:'url(i/a.png)';background-image:url(i/t.png)">x<p ID style="/*url(i/a.png)*/background-image:url(i/u.png)">x
<p ID style="background-image:url(data:image/png;base64,AA)">x<p ID style="background-image:url(no.png)">x
<p ID style="background-image:url(i/sp\ ace.png),url('i/com,ma.png')">x<p ID STYLE="BACKGROUND-IMAGE:URL(i/v.png)">x
<p ID style="cursor:url(i/w.png),auto">x<ul><li ID style="list-style-image:url(i/x.png)">x</ul><p ID style="background-image:url('i/z.png">x
<style>@import "s/x.css"; @import url(s/y.css);#s1{background-image:url(i/a.png)}#s2{background-image:url("i/b.png")}
#s3::before{content:url(i/c.png)}</style><link ID rel=stylesheet href="s/sheet.css" crossorigin>
<p id=s1>x<p id=s2>x<p id=s3>x<p id=s4>x<p id=s5>x<p id=s6>x<p id=s7>x<p id=s8>x
<svg><image ID href="i/a.png"/><image ID xlink:href="i/b.png"/><a ID href="p1.html"><text>x</text></a><a ID xlink:href="p2.html#frag"></a>
<use ID href="sprite.svg#x"/><use ID href="#x"/><rect ID fill="url(#g)"/><rect ID fill="url(sprite.svg#g)"/>
<style>#v1{background-image:url(i/c.png)}</style><style><![CDATA[#v2{background-image:url("i/d.png")}]]></style>
<style>#v3{background-image:url(&quot;i/e.png&quot;)}</style><foreignObject><img ID src="i/f.png"><a ID href="p1.html">x</a></foreignObject>
<title><b ID></b></title><![CDATA[<a id=no href="p1.html">]]></svg><p id=v1>x<p id=v2>x<p id=v3>x
"""
_OTHERS = r"""
<noscript><img id=o1 src="i/g.png"></noscript><template><img id=o2 src="i/h.png"></template><!-- <a id=o3 href="p1.html"> -->
<textarea><a id=o4 href="p1.html"></textarea><xmp><a id=o5 href="p1.html"></xmp><noembed><a id=o6 href=p1.html></noembed>
<script>var x = "<a id=o7 href=p1.html>"</script><script ID src="js/a.js?v=1"></script><script ID src="js/b.js" crossorigin></script>
<link ID rel=canonical href="/p1.html"><link ID rel="icon" href=i/a.png><link ID rel=manifest href=m.webmanifest>
<link ID rel=preload as=image imagesrcset="i/a.png 1x, i/b.png 2x" href=i/c.png><link ID rel=alternate hreflang=x href=dir/>
"""
_XHTML = """<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE html [<!ENTITY a "b">]>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:l="http://www.w3.org/1999/xlink"><head><title>é</title>
<style>#x1{background-image:url(i/a.png)}</style><style><![CDATA[#x2{background-image:url("i/b.png")}]]></style>
<style>#x3{background-image:url(&quot;i/c.png&quot;)}</style></head><body><a id="r1" href="p1.html"/>
<a id="r2" href="p?x=1&amp;y=2">x</a><img id="r3" src='i/a.png'/><textarea><a id="r4" href="p1.html">x</a></textarea>
<p id="x1">x</p><p id="x2">x</p><p id="x3">x</p><script id="r5" src="js/b.js"/><![CDATA[<a id="no" href="p1.html">]]>
<svg xmlns="http://www.w3.org/2000/svg"><image id="r6" l:href="i/d.png"/></svg>
"""


def site(host: str) -> Site:
    """The site as it is served at ``host``; its pages to look at are `PAGES`."""
    number = count(1)
    source = "".join((_LINKS, _IMAGES, _FRAMES, _STYLES, _OTHERS)).replace("HOST", host)
    body = re.sub(r"\bID\b", lambda _: f"id=r{next(number)}", source)
    xhtml = (
        _XHTML + REPORT.replace("<script>", "<script><![CDATA[").replace("</script>", "]]></script>") + "</body></html>"
    )
    return _files() | {
        "/index.html": (HTML, f"<!doctype html><title>t</title><body id=b background=i/a.png>{body}{REPORT}".encode()),
        "/dir/base.html": (HTML, f"<base target=_self><base href=..><base href=/x/>{body}{REPORT}".encode()),
        "/dir/empty.html": (HTML, f"<base href=''><base href=/x/>{body}{REPORT}".encode()),
        "/latin": (
            "text/html; charset=iso-8859-1",
            f"<!doctype html><title>é</title>{body}{REPORT}".encode("latin-1"),
        ),
        "/x.xhtml": ("application/xhtml+xml", xhtml.encode("latin-1")),
    }


PAGES = ("/index.html", "/dir/base.html", "/dir/empty.html", "/latin", "/x.xhtml")


def _files() -> Site:
    images = [*map(chr, range(ord("a"), ord("z") + 1)), "sp%20ace", "ha%23sh", "qu%3Fest", "per%25cent", "com,ma"]
    files: Site = {f"/i/{name}.png": ("image/png", _PNG) for name in (*images, "par(en)", "quo'te", "a:b", "%E5%9B%BE")}
    pages = (
        "/",
        "/p1.html",
        "/p2.html",
        "/dir/",
        "/dir/p3.html",
        "/dir/a:b.html",
        "/p",
        "/p?x=1&y=2",
        "/p?y=2&x=1",
        "/p?x=1&copy=2",
    )
    files |= {
        path: (HTML, f"<!doctype html><p id=frag>{path}".encode()) for path in (*pages, "/q?n=%E9", "/q?n=%C3%A9")
    }
    sheets = {
        "sheet": '@charset "iso-8859-1";@import "deep/z.css";#s4{background-image:url(\'../i/d.png\')}#s5{background-image:URL(../i/e.png)}',
        "x": '#s6{background-image:url( "../i/f.png" )}',
        "y": r"#s7{background-image:u\72l(../i/\67.png)}",
        "deep/z": "/*é*/#s8{background-image:url(../../i/h.png)}",
    }
    files |= {f"/s/{name}.css": ("text/css", source.encode("latin-1")) for name, source in sheets.items()}
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><linearGradient id="g"/><g id="x"/></svg>'
    return files | {
        "/js/a.js?v=1": ("text/javascript", b"1"),
        "/js/b.js": ("text/javascript", b"1"),
        "/m.webmanifest": ("application/manifest+json", b"{}"),
        "/sprite.svg": ("image/svg+xml", svg.encode()),
    }
