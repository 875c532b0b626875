"""Parses a page into a DOM with only readable content; its title, and what it declares itself to be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape, unescape
from itertools import dropwhile, islice
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from websearch_gateway.base import word_set
from websearch_gateway.foreign_json import MALFORMED, parse_json

_UNREAD = word_set(
    "script style template svg canvas iframe object embed audio video map select datalist textarea input link meta base "
    "head title noframes param source track frame frameset progress meter area"
)
"""Never text of the page, or never visible: scripts, pictures, and the options of a form."""
_METADATA = word_set("base basefont bgsound link meta noscript script style template title")
"""The elements that may be in a `<head>` (https://html.spec.whatwg.org/#metadata-content); any other begins the body."""

_LARGE_TAG = 20_000
_MANY_ATTRIBUTES = 500
"""A tag longer than this (characters) with more attributes than this loses them: libxml2 takes quadratic time over the
attributes of one element."""
_OVERLOADED_TAG = re.compile(rf"<([A-Za-z][\w:-]*)\s[^<>]{{{_LARGE_TAG},}}>")


def parse(text: str, *, plain: bool = False) -> Any | None:
    """The root element of a page; None for an empty page. A fragment gets an `<html>` around it.

    Args:
        plain: elements without the methods of `lxml.html`, which only trafilatura and htmldate need. They are a tenth
            faster to walk.
    """
    from lxml import etree

    root = _as_xhtml(text, plain=plain)
    if root is not None:
        return root
    safe = text.replace("\0", "")
    if _may_have_large_tag(safe):
        safe = _OVERLOADED_TAG.sub(_without_attributes, safe)
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    if not plain:
        _make_elements_of_html(parser)
    try:
        root = etree.fromstring(safe.encode("utf-8", "replace"), parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    if root is None or not isinstance(root.tag, str):
        return None
    _free_body(root)
    return root


def _make_elements_of_html(parser: Any) -> None:
    """Give all elements one class: `lxml.html` calls a Python function for each to choose among its classes."""
    from lxml import etree, html

    parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=html.HtmlElement))


def _may_have_large_tag(text: str) -> bool:
    """Whether half the length of a large tag has no end of a tag: every large tag covers such a part whole."""
    part = _LARGE_TAG // 2
    return any(text.find(">", at, at + part) < 0 for at in range(0, len(text) - part, part))


def _without_attributes(tag: re.Match[str]) -> str:
    return f"<{tag[1]}>" if tag[0].count("=") > _MANY_ATTRIBUTES else tag[0]


_KNOWN_NAMESPACES = frozenset(
    (
        "",
        "{http://www.w3.org/1999/xhtml",
        "{http://www.w3.org/1998/Math/MathML",
        "{http://www.w3.org/2000/svg",
    )
)
"""As `rpartition("}")` cuts them from the names of elements."""
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")
_IS_XHTML = re.compile(
    r"\s*<\?xml\b[^>]{0,200}>(?:\s|<!--(?:(?!-->).){0,2000}-->|<![^>\[]{0,300}>){0,20}<(?:\w{1,20}:)?html\b",
    re.DOTALL,
)
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z]\w{1,30};)")
_MOST_XML = 5_000_000


def _as_xhtml(text: str, *, plain: bool) -> Any | None:
    """The root element of a page that is well-formed XHTML and says so, without its prefixes; else None."""
    from lxml import etree

    if len(text) > _MOST_XML or not _IS_XHTML.match(text):
        return None
    xml = _ENTITY.sub(_as_character, text)
    xml = _XML_DECLARATION.sub("", xml)  # it may name another charset than that of the bytes below
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    if not plain:
        _make_elements_of_html(parser)
    try:
        root = etree.fromstring(xml.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    for element in root.iter():
        if not isinstance(element.tag, str):  # an entity of its own
            return None
        namespace, _, name = element.tag.rpartition("}")
        if namespace in _KNOWN_NAMESPACES:
            element.tag = name.lower()
    return root if root.tag == "html" else None


def _as_character(entity: re.Match[str]) -> str:
    """What an entity of HTML stands for, as XML may have it."""
    return unescape(entity[0]).replace("<", "&lt;").replace("&", "&amp;")


def _free_body(root: Any) -> None:
    """Move body elements out of the head: libxml2 does not know that elements such as `<main>` end the head."""
    from lxml import etree

    head = root.find("head")
    if head is None:
        return
    of_body = list(dropwhile(_is_metadata, head))
    if not of_body:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    last = of_body[-1]
    last.tail = (last.tail or "") + (body.text or "")
    body.text = None
    body[:0] = of_body


def _is_metadata(element: Any) -> bool:
    return element.tag in _METADATA


_TOPIC = re.compile(r"/t/(?:[^/]*[^/\d][^/]*/)?(\d+)(?:/|$)")
"""A topic of Discourse: `/t/SLUG/ID`, `/t/ID`, with the number of a post or without."""
_MOST_POSTS = 200
POST, AROUND_A_POST = "userContent", "ItemComment"
"""Vanilla's classes of the text of a post and of what is around it; `unfold_topic` gives them to posts of Discourse."""
_POST = f'<div class="{AROUND_A_POST}"><div class="{POST}"><p>{{author}}</p><div>{{markup}}</div></div></div>'
_TEXT_OF_POST = "self::*[div/@class = $post]/div/div"

FROM_DATA = "The posts come from data that the page holds for its scripts; nobody sees them without scripts."
TOO_MANY_POSTS = "The first {} of {} posts are read."


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
    posts = _posts_in(holder.get("data-preloaded"), topic[1])
    elements: list[Any] = []
    for post in posts[:_MOST_POSTS]:
        page = parse(_POST.format(author=escape(post.author), markup=post.markup))
        if page is not None:
            elements += page.findall("body/*")
    texts: list[str] = []
    for element in elements:
        texts += map(_flat, element.xpath(_TEXT_OF_POST, post=POST))
    first_text = next(filter(None, texts), None)
    if first_text is None or first_text in _flat(body):  # scripts are not needed to see them
        return ()
    body.extend(elements)
    if len(posts) > _MOST_POSTS:
        return FROM_DATA, TOO_MANY_POSTS.format(_MOST_POSTS, len(posts))
    return (FROM_DATA,)


class _Post(NamedTuple):
    """A post of a topic: its author, and its text as HTML."""

    author: str
    markup: str


def _posts_in(preloaded: str, topic_id: str) -> list[_Post]:
    """The posts of a topic in Discourse's JSON, of which a part is JSON again; none if it has another shape."""
    try:
        topic = parse_json(parse_json(preloaded)[f"topic_{topic_id}"])
        posts = []
        for post in topic["post_stream"]["posts"]:
            if isinstance(post, dict):
                author, markup = post.get("username"), post.get("cooked")
                if isinstance(author, str) and isinstance(markup, str):
                    posts.append(_Post(author, markup))
    except MALFORMED:
        return []
    return posts


def _flat(element: Any) -> str:
    return _clean("".join(element.itertext()))


def cut_elements(root: Any, most: int) -> bool:
    """Remove, in place, everything after the first `most` elements. Returns whether there was anything to remove.

    Style sheets stay: they say which of the first elements a reader does not see.
    """
    first = next(islice(root.iter(), most, None), None)
    if first is None:
        return False
    sheets = [sheet for sheet in root.iter("style", "link") if _counts(sheet)]
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


def _counts(sheet: Any) -> bool:
    """Whether a browser that runs scripts heeds a style sheet."""
    return next(sheet.iterancestors("noscript", "template"), None) is None


def base_of(root: Any, url: str) -> str:
    """The base URL of the page's links: its `<base>`, else its URL."""
    hrefs = (element.get("href") for element in root.iter("base"))
    declared: str = next(filter(None, hrefs), "")
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


_CLOSING_SHORTCODE = re.compile(r"\[/([a-z]{1,20})_[a-z]\w{0,40}\]")
"""The marks of a page builder that no longer runs: `[vc_row][vc_column width="1/2"]Text[/vc_column][/vc_row]`."""
_MOST_BUILDERS = 20


def strip_shortcodes(root: Any) -> None:
    """Remove, in place, the shortcodes of page builders from the text, but not from code."""
    from lxml import etree

    text = root.xpath("string()", smart_strings=False)
    if "[/" not in text:
        return
    builders = sorted({mark[1] for mark in _CLOSING_SHORTCODE.finditer(text)})[:_MOST_BUILDERS]
    if not builders:
        return
    shortcode = re.compile(rf"\[/?(?:{'|'.join(builders)})_\w[^\[\]]*\]")
    code_depth = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        is_code = element.tag in ("pre", "code")
        if event == "start":
            code_depth += is_code
            slot = "text"
        else:
            code_depth -= is_code
            slot = "tail"
        text = getattr(element, slot)
        if not code_depth and text and "]" in text:
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
"""Characters of a title that is left when the name of the site is cut off: fewer are no title."""
_SHORTEST_HEADING = 2
"""Characters of a heading that may be the title: one letter heads a part of an index."""
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
    own, whole = _clean(metas.get("og:title", "")), _clean(root.findtext(".//title") or "")
    if _is_site(own, whole, site):
        own, site = "", own
    headings = _headings(root)
    title = own or whole
    if title:
        return _without_site(title, site, headings)
    return headings[0] if len(headings) == 1 else ""


def _headings(root: Any) -> list[str]:
    """The headings that may be the title: those of the first level, else the first one of the second."""
    headings = []
    for element in islice(root.iter("h1"), _MOST_HEADINGS):
        text = _heading(element)
        if text and not _is_banner(element):
            headings.append(text)
    if headings:
        return headings
    # The own heading of mdBook's and Node's pages is the first below the banner.
    return list(filter(None, map(_heading, islice(root.iter("h2"), 1))))


def _is_site(title: str, whole: str, site: str) -> bool:
    """Whether what Open Graph calls a title is the name of the site, which ends the title of the window."""
    folded = title.casefold()
    if not title or folded == whole.casefold():
        return False
    *before, last = _SEPARATOR.split(whole)
    ends_window_title = bool(before) and last.casefold() == folded
    return ends_window_title and site.casefold() in ("", folded)


def _heading(element: Any) -> str:
    return _clean("".join(islice(element.itertext(), _MOST_PIECES))).strip(_PERMALINK)


def _clean(text: str) -> str:
    return " ".join(text.split())


def _is_banner(heading: Any) -> bool:
    """Whether a heading names the site: it stands in a header, or links to another page, outside of the main text."""
    around = [(element.tag, element.get("role")) for element in heading.iterancestors()]
    if any(tag in _CONTENT or role == "main" for tag, role in around):
        return False
    if any(tag in _BANNERS or role == "banner" for tag, role in around):
        return True
    if "menu-title" in heading.get("class", ""):
        return True
    if (heading.text or "").strip():
        return False
    link = heading.find("a")
    if link is None or link.get("href", "#").startswith("#"):
        return False
    return bool("".join(link.itertext()).strip())


def _without_site(title: str, site: str, headings: list[str]) -> str:
    """The heading that the title begins or ends with, else the title without the name of the site or the manual."""
    for heading in headings:
        is_title_itself = heading.casefold() == title.casefold()
        if len(heading) >= _SHORTEST_HEADING and not is_title_itself and _is_part(heading, title):
            return heading
    if site:
        name = re.escape(site)
        for pattern in (rf"\s*[-–—|·•:»]\s*{name}$", rf"^{name}\s*[-–—|·•:»]\s*"):
            shorter = re.sub(pattern, "", title, flags=re.IGNORECASE)
            if len(shorter) >= _SHORTEST:
                title = shorter
    return _without_manual(title, headings)


def _without_manual(title: str, headings: list[str]) -> str:
    """The title without the name of the manual, which ends it; the first heading if the title is that name alone."""
    separators = list(_SEPARATOR.finditer(title))
    if not separators or not separators[-1].start():
        return headings[0] if headings and _MANUAL.fullmatch(title) else title
    last = separators[-1]
    return title[: last.start()] if _MANUAL.fullmatch(title, last.end()) else title


def _is_part(heading: str, title: str) -> bool:
    """Whether a title is the heading and, before or after a separator, something else."""
    folded, whole = heading.casefold(), title.casefold()
    if folded in (part.casefold() for part in _SEPARATOR.split(title)):
        return True
    if whole.startswith(folded) and _SEPARATOR.match(title, len(heading)):
        return True
    # JSDoc: "Class: Table".
    return whole.endswith(folded) and title[: -len(heading)].rstrip().endswith(":")


_ARTICLES = word_set(
    "Article NewsArticle AnalysisNewsArticle BackgroundNewsArticle OpinionNewsArticle ReportageNewsArticle "
    "ReviewNewsArticle Report BlogPosting TechArticle ScholarlyArticle MedicalScholarlyArticle"
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
        is_json = "ld+json" in script.get("type", "")
        if not is_json or "datePublished" not in content or len(content) > _MOST_SCRIPT:
            continue
        try:
            value = parse_json(content)
        except MALFORMED:
            continue
        for thing in _objects_in(value):
            day = _DAY.match(str(thing.get("datePublished") or ""))
            if day and _is_article(thing):
                return day[0]
    return None


def _objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a value of JSON: each before those in it, all in the order in which they are written."""
    open_values = [value]
    while open_values:
        value = open_values.pop()
        if isinstance(value, list):
            open_values += reversed(value)
        elif isinstance(value, dict):
            yield value
            open_values += reversed(value.values())


def _is_article(thing: dict[str, Any]) -> bool:
    types = thing.get("@type")
    names = types if isinstance(types, list) else [types]
    return any(isinstance(name, str) and name in _ARTICLES for name in names)


def written_date(root: Any) -> str | None:
    """The day that stands near the title as `2024年3月5日`; None without one."""
    for element in islice(root.xpath(_DATED), _MOST_DATED):
        text = "".join(islice(element.itertext(), _MOST_PIECES))
        day = _CHINESE_DAY.search(text)
        if day is None:
            continue
        year, month, number = map(int, day.groups())
        if 1 <= month <= 12 and 1 <= number <= 31:
            return f"{year}-{month:02}-{number:02}"
    return None


_DOCUMENTATION = word_set("doc docs documentation manual readthedocs")
"""The parts of a host name or path that say that a page is documentation."""

_GENERATORS = tuple(
    word_set("antora docfx docusaurus gitbook mintlify mkdocs sphinx starlight vitepress")
)


def declared_kind(root: Any) -> str:
    """What the markup says that a page is: "article", "product", "thread" or "".

    Call it before scripts and metadata are removed from `root`.
    """
    types = {name.strip().rstrip("/").rpartition("/")[2] for name in root.xpath("//@itemtype")}
    for script in root.iter("script"):
        if "ld+json" in script.get("type", ""):
            declared = _TYPE.findall((script.text or "")[:_MOST_SCRIPT])
            types.update(_NAME.findall(" ".join(declared)))
    graph_types = set()
    for meta in root.iter("meta"):
        name = meta.get("property") or meta.get("name") or ""
        if name.lower() == "og:type":
            graph_types.add(meta.get("content", "").strip().lower())
    if types & _THREADS:
        return "thread"
    if "article" in graph_types:
        return "article"
    if "Product" in types or any(kind.startswith("product") for kind in graph_types):
        return "product"
    return "article" if types & _ARTICLES else ""


def is_documentation(root: Any, url: str) -> bool:
    """Whether the address of a page or the program that wrote it says that it is documentation."""
    parts = urlsplit(url.lower())
    names_in_address = {*(parts.hostname or "").split("."), *parts.path.split("/")}
    if names_in_address & _DOCUMENTATION:
        return True
    generators = root.xpath("//meta[@name='generator']/@content")
    return any(name.lower().startswith(_GENERATORS) for name in generators)


_FURNITURE = word_set(
    "test-arrow copybtn copy-button copy-btn snippet-copy md-clipboard method-click-advice sl-anchor-link "
    "theme-doc-version-badge tabbed-labels viewcode-link view-source-button rightside notable-traits hideme tag-source"
)
_TABLE = word_set("lntable rouge-table linenotable hljs-ln listing_frame")
_NUMBERS = word_set("lineno linenodiv ln lnt lntd lines gl blob-num listing_lines src-line-numbers")
_KINDS = {
    **dict.fromkeys(_FURNITURE, "furniture"),
    **dict.fromkeys(_TABLE, "table"),
    **dict.fromkeys(_NUMBERS, "numbers"),
}
"""What an element is that has a class, by the name of the class."""
_KINDS_LIKE = re.compile(
    r"(?P<furniture>theme-doc-toc-\S+)|(?P<table>\S*highlighttable)"
    r"|(?P<numbers>lineno[s-]\S*|line-?num(?:ber)?s?\S*|(?:\S+-)?gutter|hljs-ln-\S+|codeLineNumber\S*)"
)
_NAMES = {
    "fragment": "lines",
    "tabs": "labels",
    "lang": "language",
    "src": "source",
    "structfield section-header": "block",  # of rustdoc
    "conum": "callout",  # of AsciiDoc: a number in code that a list below explains
    "ulist tablist": "furniture",
    "tsd-tag": "flag",  # of TypeDoc
    "tsd-breadcrumb": "furniture",
    "page-menu": "furniture",
    "book-header": "furniture",  # of GitBook and HonKit
    "search-results-title": "furniture",
}
"""What an element is that has exactly these classes."""
_UNSELECTABLE = re.compile(r"user-select:\s?none")
_ACTIONS = frozenset(
    (
        "",
        "copy",
        "copy code",
        "copied!",
        "copy to clipboard",
        "copy item path",
        "toggle private api",
        "run",
        "edit",
        "expand",
        "collapse",
        "wrap",
    )
)
"""The labels of buttons around code, in lower case."""
_NUMBERED = re.compile(r"(?:\(\d{1,3}\))?")
_MOST_CHOSEN = 30
"""The most names of classes that a search names. With more it looks at every class, which takes longer, and finds the
same."""
_MOST_OF_A_CARD = 300
"""Characters of a link to the article before or after: a title with a line of text."""


def strip_furniture(root: Any) -> None:
    """Remove line numbers, buttons and labels around code; write tables and lines of code as `<pre>`."""
    kinds = _kinds_in(root)
    for element in _marked_elements(root, kinds):
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
    _remove_cards(root)


def _kinds_in(root: Any) -> dict[str, str]:
    """What elements are by the values of their `class`, for the values that say it."""
    values = set(root.xpath("//@class", smart_strings=False))
    # A page without any of these classes needs no look at the combinations of its classes.
    classes = set(" ".join(values).split())
    if values.isdisjoint(_NAMES) and not any(map(_kind_of_class, classes)):
        return {}
    kinds = {value: _kind(value) for value in values}
    return {value: kind for value, kind in kinds.items() if kind}


def _marked_elements(root: Any, kinds: dict[str, str]) -> list[Any]:
    """The elements that may be furniture: by their classes, see `_kinds_in`, or by what they are without any."""
    path = "//button | //@role[. = 'tablist']/.. | //@data-nosnippet/.. | //*[@style][contains(@style, 'user-select')]"
    variables: dict[str, str] = {}
    if len(kinds) > _MOST_CHOSEN:
        path += " | //*[@class]"
    elif kinds:
        variables = {f"k{number}": value for number, value in enumerate(kinds)}
        has_class = " or ".join(f"@class = ${name}" for name in variables)
        path += f" | //*[{has_class}]"
    elements: list[Any] = root.xpath(path, **variables)
    return elements


def _remove_cards(root: Any) -> None:
    """Remove the one or two cards at the end of the only article: they lead to its neighbours."""
    articles = list(islice(root.iter("article"), 2))
    if len(articles) != 1 or len(articles[0]) < 2:
        return
    last = articles[0][-1]
    if last.tag == "div" and 1 <= len(last) <= 2 and all(map(_is_card, last)):
        _remove(last)


@lru_cache(maxsize=2_000)
def _kind(value: str) -> str:
    """What the value of a `class` says that its element is; empty if it says nothing."""
    if value in _NAMES:
        return _NAMES[value]
    kinds = set(map(_kind_of_class, value.split()))
    for kind in ("furniture", "table", "numbers"):
        if kind in kinds:
            return kind
    return ""


@lru_cache(maxsize=5_000)
def _kind_of_class(name: str) -> str:
    """What one class says that its element is; empty if it says nothing."""
    if name in _KINDS:
        return _KINDS[name]
    like = _KINDS_LIKE.fullmatch(name)
    return (like.lastgroup or "") if like else ""


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
    if kind == "source" and tag == "a":
        return _short_text(element) == "Source"
    return kind == "furniture"


def _is_card(element: Any) -> bool:
    """Whether an element is a link around short blocks."""
    if element.tag != "a" or (element.tail or "").strip():
        return False
    has_block = next(element.iter("p", "div"), None) is not None
    return has_block and len("".join(element.itertext())) <= _MOST_OF_A_CARD


def _short_text(element: Any) -> str:
    return "".join(islice(element.itertext(), _MOST_PIECES)).strip()


def _remove(element: Any) -> None:
    """Remove an element without the text after it."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
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
        is_line = part.get("class") == "line"
        if part.get("class") == "ttc":  # what a name's tooltip says
            _remove(part)
        elif part is not fragment:
            part.tail = "\n" if is_line else None
            if not is_line or not "".join(part.itertext()).strip():
                part.clear(keep_tail=True)  # an empty line has a blank after its number
            part.tag = "span"
    fragment.tag = "pre"
