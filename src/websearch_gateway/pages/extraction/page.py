"""Parses a page into a DOM with only readable content; its title, and what it declares itself to be."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from itertools import islice
from typing import Any
from urllib.parse import urljoin, urlsplit

from websearch_gateway.foreign_json import MALFORMED, parse_json

# Never text of the page, or never visible: scripts, pictures, and the options of a form.
_UNREAD = [
    *(
        "script",
        "style",
        "template",
        "svg",
        "canvas",
        "iframe",
        "object",
        "embed",
        "audio",
        "video",
        "map",
    ),
    *(
        "select",
        "datalist",
        "textarea",
        "input",
        "link",
        "meta",
        "base",
        "head",
        "title",
        "noframes",
        "param",
    ),
    *("source", "track", "frame", "frameset", "progress", "meter", "area"),
]
# The elements that may be in a `<head>` (https://html.spec.whatwg.org/#metadata-content); any other begins the body.
_METADATA = frozenset(
    {
        "base",
        "basefont",
        "bgsound",
        "link",
        "meta",
        "noscript",
        "script",
        "style",
        "template",
        "title",
    }
)
# libxml2 takes quadratic time over the attributes of one element.
_LARGE_TAG = 20_000
_OVERLOADED_TAG = re.compile(rf"<([A-Za-z][\w:-]*)\s[^<>]{{{_LARGE_TAG},}}>")
_MANY_ATTRIBUTES = 500
# The marks of a page builder that no longer runs: `[vc_row][vc_column width="1/2"]Text[/vc_column][/vc_row]`.
_CLOSING_SHORTCODE = re.compile(r"\[/([a-z]{1,20})_[a-z]\w{0,40}\]")
_MOST_BUILDERS = 20
# A topic of Discourse: `/t/SLUG/ID`, `/t/ID`, with the number of a post or without.
_TOPIC = re.compile(r"/t/(?:[^/]*[^/\d][^/]*/)?(\d+)(?:/|$)")
_MOST_POSTS = 200
POST, AROUND_A_POST = "userContent", "ItemComment"
"""Vanilla's classes of the text of a post and of what is around it; `unfold_topic` gives them to posts of Discourse."""
_POST = f'<div class="{AROUND_A_POST}"><div class="{POST}"><p>{{author}}</p><div>{{markup}}</div></div></div>'

FROM_DATA = "The posts come from data that the page holds for its scripts; nobody sees them without scripts."
TOO_MANY_POSTS = "The first {} of {} posts are read."


def parse(text: str, *, plain: bool = False) -> Any | None:
    """The root element of a page; None for an empty page. A fragment gets an `<html>` around it.

    Args:
        plain: elements without the methods of `lxml.html`, which only trafilatura and htmldate need. They are a tenth
            faster to walk.
    """
    from lxml import etree, html

    if (root := _as_xhtml(text, plain=plain)) is not None:
        return root
    safe, part = text.replace("\0", ""), _LARGE_TAG // 2
    # There may be a large tag.
    if any(safe.find(">", at, at + part) < 0 for at in range(0, len(safe) - part, part)):
        safe = _OVERLOADED_TAG.sub(
            lambda tag: f"<{tag[1]}>" if tag[0].count("=") > _MANY_ATTRIBUTES else tag[0], safe
        )
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    if not plain:
        # One class for all: `lxml.html` calls a Python function for each element to choose among its classes.
        parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=html.HtmlElement))
    try:
        root = etree.fromstring(safe.encode("utf-8", "replace"), parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    if root is None or not isinstance(root.tag, str):
        return None
    _free_body(root)
    return root


_XHTML = "http://www.w3.org/1999/xhtml"
_IS_XHTML = re.compile(
    r"\s*<\?xml\b[^>]{0,200}>(?:\s|<!--(?:(?!-->).){0,2000}-->|<![^>\[]{0,300}>){0,20}<(?:\w{1,20}:)?html\b",
    re.DOTALL,
)
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z]\w{1,30};)")
_MOST_XML = 5_000_000


def _as_xhtml(text: str, *, plain: bool) -> Any | None:
    """The root element of a page that is well-formed XHTML and says so, without its prefixes; else None."""
    from lxml import etree, html

    if len(text) > _MOST_XML or not _IS_XHTML.match(text):
        return None
    written = _ENTITY.sub(
        lambda entity: unescape(entity[0]).replace("<", "&lt;").replace("&", "&amp;"), text
    )
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    if not plain:
        parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=html.HtmlElement))
    try:
        root = etree.fromstring(
            re.sub(r"^\s*<\?xml[^>]*>", "", written).encode("utf-8", "replace"), parser
        )
    except (etree.XMLSyntaxError, ValueError):
        return None
    for element in root.iter():
        if not isinstance(element.tag, str):  # an entity of its own
            return None
        namespace, _, name = element.tag.rpartition("}")
        if namespace in (
            "",
            f"{{{_XHTML}",
            "{http://www.w3.org/1998/Math/MathML",
            "{http://www.w3.org/2000/svg",
        ):
            element.tag = name.lower()
    return root if root.tag == "html" else None


def _free_body(root: Any) -> None:
    """Move body elements out of the head: libxml2 does not know that elements such as `<main>` end the head."""
    from lxml import etree

    head = root.find("head")
    children = [] if head is None else list(head)
    first = next(
        (place for place, child in enumerate(children) if child.tag not in _METADATA), None
    )
    if first is None:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    children[-1].tail = (children[-1].tail or "") + (body.text or "")
    body.text = None
    body[:0] = children[first:]


def unfold_topic(root: Any, url: str) -> tuple[str, ...]:
    """Write, in place, the posts of a Discourse topic that the page holds as JSON alone, for its scripts to show.

    Returns warnings for the reader, since nobody sees these posts without scripts.
    """
    topic = _TOPIC.search(urlsplit(url).path)
    if topic is None:
        return ()
    holder = next(iter(root.xpath("//*[@id = 'data-preloaded' and @data-preloaded]")), None)
    body = root.find("body")
    is_discourse = root.xpath(
        "boolean(//meta[@name = 'generator' and starts-with(@content, 'Discourse')])"
    )
    if holder is None or body is None or not is_discourse:
        return ()
    try:
        posts = parse_json(parse_json(holder.get("data-preloaded"))[f"topic_{topic[1]}"])[
            "post_stream"
        ]["posts"]
        pairs = [
            (post.get("username"), post.get("cooked")) for post in posts if isinstance(post, dict)
        ]
    except MALFORMED:
        return ()
    authored = [
        (author, markup)
        for author, markup in pairs
        if isinstance(author, str) and isinstance(markup, str)
    ]
    parsed = (
        parse(_POST.format(author=escape(author), markup=markup))
        for author, markup in authored[:_MOST_POSTS]
    )
    posts = [
        post for document in parsed if document is not None for post in document.findall("body/*")
    ]
    markups = [
        markup
        for post in posts
        for markup in post.xpath("self::*[div/@class = $post]/div/div", post=POST)
    ]
    texts = list(filter(None, map(_flat, markups)))
    if not texts or texts[0] in _flat(body):
        return ()
    body.extend(posts)
    return (
        FROM_DATA,
        *(
            [TOO_MANY_POSTS.format(_MOST_POSTS, len(authored))]
            if len(authored) > _MOST_POSTS
            else []
        ),
    )


def _flat(element: Any) -> str:
    return _clean("".join(element.itertext()))


def cut_elements(root: Any, most: int) -> bool:
    """Remove, in place, everything after the first `most` elements. Returns whether there was anything to remove.

    Style sheets stay: they say which of the first elements a reader does not see.
    """
    first = next(islice(root.iter(), most, None), None)
    if first is None:
        return False
    sheets = [
        sheet
        for sheet in root.iter("style", "link")
        if next(sheet.iterancestors("noscript", "template"), None) is None
    ]
    open_element = first.getparent()
    del open_element[open_element.index(first) :]
    while (parent := open_element.getparent()) is not None:
        open_element.tail = None
        del parent[parent.index(open_element) + 1 :]
        open_element = parent
    for sheet in sheets:
        if next(sheet.iterancestors(root.tag), None) is not root:
            sheet.tail = None
            root.append(sheet)
    return True


def base_of(root: Any, url: str) -> str:
    """The base URL of the page's links: its `<base>`, else its URL."""
    declared: str = next(
        (element.get("href") for element in root.iter("base") if element.get("href")), ""
    )
    try:
        return str(urljoin(url, declared.strip()))
    except ValueError:
        return url


def strip_unread(root: Any) -> None:
    """Remove, in place, the elements that never contain text of the page."""
    from lxml import etree

    etree.strip_elements(root, *_UNREAD, with_tail=False)


_PRICE = re.compile(r"[$€£¥₹₽₩]\s?\d|\d\s?(?:[$€£¥₹₽₩]|(?:EUR|USD|GBP|CHF|zł|kr)\b)")
_MOST_OPTIONS = 50


def unfold_prices(root: Any) -> None:
    """Write, in place, a choice of variants with their prices as a list: other choices are forms."""
    for choice in list(root.iter("select")):
        texts = [
            _clean("".join(option.itertext()))
            for option in islice(choice.iter("option"), _MOST_OPTIONS)
        ]
        priced = [text for text in texts if _PRICE.search(text)]
        if len(priced) < 2 or 2 * len(priced) < len(texts):
            continue
        tail = choice.tail
        choice.clear()
        choice.tag, choice.tail = "ul", tail
        for text in priced:
            item = choice.makeelement("li")
            item.text = text
            choice.append(item)


def strip_shortcodes(root: Any) -> None:
    """Remove, in place, the shortcodes of page builders from the text, but not from code."""
    from lxml import etree

    text = root.xpath("string()", smart_strings=False)
    builders = (
        sorted({mark[1] for mark in _CLOSING_SHORTCODE.finditer(text)})[:_MOST_BUILDERS]
        if "[/" in text
        else ()
    )
    if not builders:
        return
    shortcode = re.compile(rf"\[/?(?:{'|'.join(builders)})_\w[^\[\]]*\]")
    code = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        slot, step = ("text", 1) if event == "start" else ("tail", -1)
        code += step * (element.tag in ("pre", "code"))
        text = getattr(element, slot)
        if not code and text and "]" in text:
            setattr(element, slot, shortcode.sub(" ", text))


_SEPARATOR = re.compile(
    r"\s+(?:[-–—|·•:»]|::)\s+|\s*[|｜]\s*|(?<=[^\x00-\x7f])[_＿－—-](?=[^\x00-\x7f])"
)
_MANUAL = re.compile(r"(?:.*\s)?(?:documentation|docs)(?:\s+v?\d[\w.]*)?", re.IGNORECASE)
"""The last part of a title that names the whole manual: `CMake 3.25.1 Documentation`."""
_PERMALINK = " \t¶#§🔗\u200b\uf0c1"
_BANNERS = frozenset(("header", "nav", "footer"))
_CONTENT = frozenset(("main", "article"))
_SHORTEST = 4
_MOST_HEADINGS = 100
_MOST_PIECES = 200
"""The most pieces of text of a heading or button: a page may nest thousands of them."""


def title_of(root: Any) -> str:
    """The page's own title: `og:title`, `<title>`, or its only `<h1>`, without the name of the site."""
    metas = {
        meta.get("property") or meta.get("name"): meta.get("content", "")
        for meta in root.iter("meta")
    }
    site = _clean(metas.get("og:site_name", ""))
    first = islice(root.iter("h1"), _MOST_HEADINGS)
    headings = [
        text for heading in first if (text := _heading(heading)) and not _is_banner(heading)
    ]
    if not headings:  # the own heading of mdBook's and Node's pages is the first below the banner
        headings = [text for heading in islice(root.iter("h2"), 1) if (text := _heading(heading))]
    own, whole = _clean(metas.get("og:title", "")), _clean(root.findtext(".//title") or "")
    if _is_site(own, whole, site):
        own, site = "", own
    for title in (own, whole):
        if title:
            return _without_site(title, site, headings)
    return headings[0] if len(headings) == 1 else ""


def _is_site(title: str, whole: str, site: str) -> bool:
    """Whether what Open Graph calls a title is the name of the site, which ends the title of the window."""
    if not title or title.casefold() == whole.casefold():
        return False
    *before, last = _SEPARATOR.split(whole)
    return (
        bool(before)
        and last.casefold() == title.casefold()
        and (not site or site.casefold() == title.casefold())
    )


def _heading(element: Any) -> str:
    return _clean("".join(islice(element.itertext(), _MOST_PIECES))).strip(_PERMALINK)


def _clean(text: str) -> str:
    return " ".join(text.split())


def _is_banner(heading: Any) -> bool:
    """Whether a heading names the site: it stands in a header, or links to another page, outside of the main text."""
    around = [(ancestor.tag, ancestor.get("role")) for ancestor in heading.iterancestors()]
    if any(tag in _CONTENT or role == "main" for tag, role in around):
        return False
    if any(
        tag in _BANNERS or role == "banner" for tag, role in around
    ) or "menu-title" in heading.get("class", ""):
        return True
    link = heading.find("a") if not (heading.text or "").strip() else None
    return (
        link is not None
        and not link.get("href", "#").startswith("#")
        and bool("".join(link.itertext()).strip())
    )


def _without_site(title: str, site: str, headings: list[str]) -> str:
    """The heading that the title begins or ends with, else the title without the name of the site or the manual."""
    for heading in headings:
        if (
            len(heading) >= 2
            and heading.casefold() != title.casefold()
            and _is_part(heading, title)
        ):
            return heading
    name = re.escape(site)
    for pattern in (rf"\s*[-–—|·•:»]\s*{name}$", rf"^{name}\s*[-–—|·•:»]\s*") if site else ():
        shorter = re.sub(pattern, "", title, flags=re.IGNORECASE)
        title = shorter if len(shorter) >= _SHORTEST else title
    *_, last = [None, *_SEPARATOR.finditer(title)]
    if headings and (last is None or not last.start()) and _MANUAL.fullmatch(title):
        return headings[0]
    return (
        title[: last.start()]
        if last and last.start() and _MANUAL.fullmatch(title[last.end() :])
        else title
    )


def _is_part(heading: str, title: str) -> bool:
    """Whether a title is the heading and, before or after a separator, something else."""
    folded, whole = heading.casefold(), title.casefold()
    return (
        folded in (part.casefold() for part in _SEPARATOR.split(title))
        or (whole.startswith(folded) and _SEPARATOR.match(title, len(heading)) is not None)
        # JSDoc: "Class: Table".
        or (whole.endswith(folded) and title[: -len(heading)].rstrip().endswith(":"))
    )


_ARTICLES = frozenset(
    (
        *(
            "Article",
            "NewsArticle",
            "AnalysisNewsArticle",
            "BackgroundNewsArticle",
            "OpinionNewsArticle",
        ),
        *(
            "ReportageNewsArticle",
            "ReviewNewsArticle",
            "Report",
            "BlogPosting",
            "TechArticle",
            "ScholarlyArticle",
        ),
        "MedicalScholarlyArticle",
    )
)
"""Subtypes of https://schema.org/Article whose text is prose by its author."""

_THREADS = frozenset(("DiscussionForumPosting", "SocialMediaPosting", "QAPage"))
"""The types of forums, which often also have `og:type` article."""

_TYPE = re.compile(r'"@type"\s{0,20}:\s{0,20}(\[[^\]]{0,200}|"\w{1,60}")')
_NAME = re.compile(r"\w+")
_MOST_SCRIPT = 200_000

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_CHINESE_DAY = re.compile(
    r"(?<!\d)((?:19|20)\d\d)\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]"
)
_DATED = "//time | //*[@class][contains(@class, 'date') or contains(@class, 'time') or contains(@class, 'pub')]"
_MOST_DATED = 200


def declared_date(root: Any) -> str | None:
    """The day on which the article of a page appeared, as its JSON-LD has it; None without one.

    Only articles count among several objects: the day of a site or a company is another one.
    """
    for script in root.iter("script"):
        content = script.text or ""
        if (
            "ld+json" not in script.get("type", "")
            or "datePublished" not in content
            or len(content) > _MOST_SCRIPT
        ):
            continue
        try:
            open_values = [parse_json(content)]
        except MALFORMED:
            continue
        while open_values:
            value = open_values.pop()
            if isinstance(value, list):
                open_values += reversed(value)
            elif isinstance(value, dict):
                open_values += [
                    child for child in reversed(value.values()) if isinstance(child, dict | list)
                ]
                types = value.get("@type")
                names = set(types) if isinstance(types, list) else {types}
                day = _DAY.match(str(value.get("datePublished") or ""))
                if day and any(name in _ARTICLES for name in names if isinstance(name, str)):
                    return day[0]
    return None


def written_date(root: Any) -> str | None:
    """The day that stands near the title as `2024年3月5日`; None without one."""
    for element in islice(root.xpath(_DATED), _MOST_DATED):
        if day := _CHINESE_DAY.search("".join(islice(element.itertext(), _MOST_PIECES))):
            year, month, number = map(int, day.groups())
            if 1 <= month <= 12 and 1 <= number <= 31:
                return f"{year}-{month:02}-{number:02}"
    return None


_DOCUMENTATION = frozenset(("doc", "docs", "documentation", "manual", "readthedocs"))
"""The parts of a host name or path that say that a page is documentation."""

_GENERATORS = (
    "antora",
    "docfx",
    "docusaurus",
    "gitbook",
    "mintlify",
    "mkdocs",
    "sphinx",
    "starlight",
    "vitepress",
)


def declared_kind(root: Any) -> str:
    """What the markup says that a page is: "article", "product", "thread" or "".

    Call it before scripts and metadata are removed from `root`.
    """
    types = {name.strip().rstrip("/").rpartition("/")[2] for name in root.xpath("//@itemtype")}
    for script in root.iter("script"):
        if "ld+json" in script.get("type", ""):
            types.update(_NAME.findall(" ".join(_TYPE.findall((script.text or "")[:_MOST_SCRIPT]))))
    named = (
        (meta.get("property") or meta.get("name") or "", meta.get("content", ""))
        for meta in root.iter("meta")
    )
    graph = {content.strip().lower() for name, content in named if name.lower() == "og:type"}
    if types & _THREADS:
        return "thread"
    if "article" not in graph and (
        "Product" in types or any(kind.startswith("product") for kind in graph)
    ):
        return "product"
    return "article" if types & _ARTICLES or "article" in graph else ""


def is_documentation(root: Any, url: str) -> bool:
    """Whether the address of a page or the program that wrote it says that it is documentation."""
    parts = urlsplit(url.lower())
    named = {*(parts.hostname or "").split("."), *parts.path.split("/")}
    written = root.xpath("//meta[@name='generator']/@content")
    return bool(named & _DOCUMENTATION) or any(
        name.lower().startswith(_GENERATORS) for name in written
    )


_KINDS = {
    name: kind
    for kind, names in {
        "furniture": "test-arrow copybtn copy-button copy-btn snippet-copy md-clipboard method-click-advice"
        " sl-anchor-link theme-doc-version-badge tabbed-labels viewcode-link view-source-button rightside"
        " notable-traits hideme tag-source",
        "table": "lntable rouge-table linenotable hljs-ln listing_frame",
        "numbers": "lineno linenodiv ln lnt lntd lines gl blob-num listing_lines src-line-numbers",
    }.items()
    for name in names.split()
}
"""What has a class, by its name."""
_KINDS_LIKE = re.compile(
    r"(?P<furniture>theme-doc-toc-\S+)|(?P<table>\S*highlighttable)"
    r"|(?P<numbers>lineno[s-]\S*|line-?num(?:ber)?s?\S*|(?:\S+-)?gutter|hljs-ln-\S+|codeLineNumber\S*)"
)
_NAMES = {"fragment": "lines", "tabs": "labels", "lang": "language", "src": "source"}
_NAMES |= {"structfield section-header": "block"}  # of rustdoc
# Of AsciiDoc: a number in code that a list below explains.
_NAMES |= {
    "conum": "callout",
    "ulist tablist": "furniture",
}
# Of TypeDoc.
_NAMES |= {
    "tsd-tag": "flag",
    **dict.fromkeys(("tsd-breadcrumb", "page-menu"), "furniture"),
}
# Of GitBook and HonKit.
_NAMES |= dict.fromkeys(("book-header", "search-results-title"), "furniture")
"""What has no other class than this one."""
_UNSELECTABLE = re.compile(r"user-select:\s?none")
_ACTIONS = frozenset(
    (
        *("", "copy", "copy code", "copied!", "copy to clipboard", "copy item path"),
        *("toggle private api", "run", "edit", "expand", "collapse", "wrap"),
    )
)
_NUMBERED = re.compile(r"(?:\(\d{1,3}\))?")
_MOST_CHOSEN = 30
"""The most names of classes that a search names. With more it looks at every class, which takes longer, and finds the
same."""
_MOST_OF_A_CARD = 300


def strip_furniture(root: Any) -> None:
    """Remove line numbers, buttons and labels around code; write tables and lines of code as `<pre>`."""
    classes = set(root.xpath("//@class", smart_strings=False))
    is_marked = not classes.isdisjoint(_NAMES) or any(
        map(_kind_of_class, set(" ".join(classes).split()))
    )
    kinds = {name: kind for name in classes if (kind := _kind(name))} if is_marked else {}
    chosen = (
        {f"k{number}": name for number, name in enumerate(kinds)}
        if len(kinds) <= _MOST_CHOSEN
        else {}
    )
    any_class = " or ".join(f"@class = ${name}" for name in chosen) or "@class"
    path = "//button | //@role[. = 'tablist']/.. | //@data-nosnippet/.. | //*[@style][contains(@style, 'user-select')]"
    for element in root.xpath(f"{path} | //*[{any_class}]" if kinds else path, **chosen):
        kind = kinds.get(element.get("class", ""), "")
        if _is_furniture(element, kind):
            _remove(element)
        elif kind == "table" and element.tag == "table":
            for part in element.iter("table", "thead", "tbody", "tr", "td", "th"):
                part.tag = "div"
        elif kind == "callout" and next(element.iterancestors("pre"), None) is not None:
            _remove_callout(element)
        elif kind == "lines" and element.tag == "div":
            _as_code(element)
        elif kind == "block":
            element.tag = "div"
        elif kind == "flag":  # stands before a name, apart from it by its style alone
            element.tail = f" {element.tail or ''}"
    articles = list(islice(root.iter("article"), 2))
    last = articles[0][-1] if len(articles) == 1 and len(articles[0]) > 1 else None
    if last is not None and last.tag == "div" and 0 < len(last) <= 2 and all(map(_is_card, last)):
        _remove(last)


@lru_cache(maxsize=2_000)
def _kind(name: str) -> str:
    """What the classes of an element say that it holds."""
    found = set(map(_kind_of_class, name.split()))
    return _NAMES.get(name) or next(
        (kind for kind in ("furniture", "table", "numbers") if kind in found), ""
    )


@lru_cache(maxsize=5_000)
def _kind_of_class(name: str) -> str:
    return _KINDS.get(name) or ((like := _KINDS_LIKE.fullmatch(name)) and like.lastgroup) or ""


def _is_furniture(element: Any, kind: str) -> bool:
    tag = element.tag
    if tag in ("html", "body", "main"):
        return False
    if tag == "button":
        return _short_text(element).casefold() in _ACTIONS
    if kind == "numbers" or element.get("data-nosnippet") is not None:
        return all(part.isdecimal() for text in element.itertext() for part in text.split())
    if _UNSELECTABLE.search(element.get("style", "")):
        return next(element.iterancestors("pre"), None) is not None
    if element.get("role") == "tablist" or (kind == "labels" and tag == "div"):
        return next(element.iter("pre", "p"), None) is None
    if kind == "language" and tag == "span":  # VitePress writes the language beside the code
        return element.getnext() is not None and element.getnext().tag == "pre"
    return kind == "furniture" or (
        kind == "source" and tag == "a" and _short_text(element) == "Source"
    )


def _is_card(element: Any) -> bool:
    """Whether an element is a link around short blocks: one or two at the end of an article lead to its neighbours."""
    if (
        element.tag != "a"
        or (element.tail or "").strip()
        or next(element.iter("p", "div"), None) is None
    ):
        return False
    return len("".join(element.itertext())) <= _MOST_OF_A_CARD


def _short_text(element: Any) -> str:
    return "".join(islice(element.itertext(), _MOST_PIECES)).strip()


def _remove(element: Any) -> None:
    """Remove an element without the text after it."""
    parent = element.getparent()
    if parent is None:
        return
    if tail := element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + tail
        else:
            before.tail = (before.tail or "") + tail
    parent.remove(element)


def _remove_callout(mark: Any) -> None:
    """Remove `<b class="conum">(1)</b>` or `<i class="conum"></i><b>(1)</b>`, with the blanks before it."""
    number = mark.getnext() if mark.tag == "i" else None
    for element in (mark, number):
        if element is not None and _NUMBERED.fullmatch("".join(element.itertext())):
            parent, before = element.getparent(), element.getprevious()
            if before is None:
                parent.text = (parent.text or "").rstrip(" ")
            else:
                before.tail = (before.tail or "").rstrip(" ")
            _remove(element)


def _as_code(fragment: Any) -> None:
    """Write the lines of doxygen, one `<div class="line">` each, as `<pre>`."""
    if all(line.get("class") != "line" for line in fragment.iter("div")):
        return
    fragment.text = None
    for part in list(fragment.iter("div")):
        if part.get("class") == "ttc":  # what a name's tooltip says
            _remove(part)
        elif part is not fragment:
            part.tail = "\n" if part.get("class") == "line" else None
            if part.get("class") != "line" or not "".join(part.itertext()).strip():
                part.clear(keep_tail=True)  # an empty line has a blank after its number
            part.tag = "span"
    fragment.tag = "pre"
