"""Tells which pages are empty until their scripts run. For worker processes."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from websearch_gateway.base import decode

LITTLE_TEXT = 500
"""Characters of main text above which a page does not need its scripts."""
_MOST_MENUS = 50_000
"""A page with more text is no page of menus."""
_LINK = re.compile(r"\[[^\[\]]{0,300}\]\([^()\s]{0,2000}\)")


def has_little_text(markdown: str) -> bool:
    """Whether a page may be empty but for its menus: outside links it has less than `LITTLE_TEXT`."""
    if len(markdown) < LITTLE_TEXT:
        return True
    return len(markdown) < _MOST_MENUS and len(_LINK.sub("", markdown)) < LITTLE_TEXT


_ALMOST_NO_TEXT = 80  # the length of "Loading ..." and a name
_UNSEEN = ("script", "style", "noscript", "template", "title")
_FRAME = ("a", "nav", "header", "footer", "aside")


def needs_scripts(html: bytes, url: str, charset: str) -> bool:
    """Whether the text of a page comes from its scripts.

    It has scripts, hardly any text outside them, and almost no text at all, an empty mount point of a framework, or a
    request to enable scripts. A page of menus, headers and footers has an empty mount point too, or says that it loads.
    """
    from lxml import etree

    from websearch_gateway.pages.extraction import page

    root = page.parse(decode(html, charset))
    if root is None or not _has_scripts(root):
        return False
    asks = any(_SCRIPTS.search("".join(element.itertext())) for element in root.iter("noscript"))
    etree.strip_elements(root, *_UNSEEN, with_tail=False)
    size = _text_chars(root)
    has_title = _has_title(root)
    # The shell of an app has no title and text of a page in its main element: a server has filled it.
    is_filled = has_title and _has_article(root)
    mounts = _empty_mounts(root)
    if is_filled:
        mounts = [mount for mount in mounts if not _holds_article(mount)]
    has_framework = any("-" not in mount.tag for mount in mounts)
    if size < LITTLE_TEXT:
        # A short page with a widget of its own; the header of an app is no such page.
        has_widget_alone = bool(mounts) and not has_title
        is_empty = size < _ALMOST_NO_TEXT and not is_filled
        return is_empty or asks or has_framework or has_widget_alone
    etree.strip_elements(root, *_FRAME, with_tail=False)
    size = _text_chars(root)
    return size < LITTLE_TEXT and (has_framework or _says_that_it_loads(root, size))


# --- scripts ---

_DATA_TYPES = ("json", "template", "text/html", "x-handlebars")
_SCRIPTS = re.compile(r"java-?\s?script", re.IGNORECASE)


def _has_scripts(root: Any) -> bool:
    """Whether a page runs any script: others only hold data."""
    for script in root.iter("script"):
        is_full = script.get("src") or script.text
        kind = script.get("type", "").lower()
        if is_full and not any(data in kind for data in _DATA_TYPES):
            return True
    return False


# --- mount points ---

_MOST_MOUNTS = 50
# The mount points of frameworks: React, Vue, Next, Nuxt, Gatsby, SvelteKit, Angular, Ember, Quasar, Docusaurus.
_ROOT_IDS = re.compile(
    r"(?:react-?|vue-?|main-?|js-?)?(?:app|root)(?:-?(?:root|container|mount|body))?|__next|__nuxt|___gatsby|svelte"
    r"|q-app|ember\d*|__docusaurus|mount",
    re.IGNORECASE,
)


def _empty_mounts(root: Any) -> list[Any]:
    """The first elements that scripts fill, as far as they are empty: own elements and mount points of frameworks."""
    mounts = filter(_is_mount, root.iter("*"))
    return [mount for mount in islice(mounts, _MOST_MOUNTS) if _is_empty(mount)]


def _is_mount(element: Any) -> bool:
    return "-" in element.tag or _ROOT_IDS.fullmatch(element.get("id", "")) is not None


def _is_empty(mount: Any) -> bool:
    return mount.tag != "body" and _text_chars(mount) < _ALMOST_NO_TEXT


# --- text ---

_LOADING = re.compile(r"\W*(?:loading|please wait)\b[\w\s,]{0,50}\W*", re.IGNORECASE)


def _has_title(root: Any) -> bool:
    """Whether the main element of a page has a title that does not only say that it loads."""
    titles = ("".join(title.itertext()) for title in root.xpath("//main//h1 | //article//h1"))
    return any(title.strip() and not _LOADING.fullmatch(title) for title in titles)


def _has_article(root: Any) -> bool:
    """Whether the main element of a page has paragraphs besides its title."""
    paragraphs = root.xpath("//main[.//h1]//p | //article[.//h1]//p")
    return any(map(_text_chars, paragraphs))


def _holds_article(mount: Any) -> bool:
    return bool(mount.xpath("boolean(.//main//h1 | .//article//h1)"))


def _says_that_it_loads(root: Any, size: int) -> bool:
    return size < _ALMOST_NO_TEXT and any(map(_LOADING.fullmatch, root.itertext()))


def _text_chars(element: Any) -> int:
    return sum(len(" ".join(text.split())) for text in element.itertext())
