"""Detects a page that is empty until its scripts run. Pure; runs in a worker process."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from websearch_gateway.net.decode import decode

LITTLE_TEXT = 500
"""Characters of main text above which a page does not need its scripts."""
_ALMOST_NO_TEXT = 80  # the length of "Loading ..." and a name
# The mount points of frameworks: React, Vue, Next, Nuxt, Gatsby, SvelteKit, Angular, Ember, Quasar, Docusaurus.
_ROOT_IDS = re.compile(
    r"(?:react-?|vue-?|main-?|js-?)?(?:app|root)(?:-?(?:root|container|mount|body))?|__next|__nuxt|___gatsby|svelte"
    r"|q-app|ember\d*|__docusaurus|mount",
    re.IGNORECASE,
)
_MOST_MENUS = 50_000
_LOADING = re.compile(r"\W*(?:loading|please wait)\b[\w\s,]{0,50}\W*", re.IGNORECASE)
_LINK = re.compile(r"\[[^\[\]]{0,300}\]\([^()\s]{0,2000}\)")
_SCRIPTS = re.compile(r"java-?\s?script", re.IGNORECASE)
_UNSEEN = ("script", "style", "noscript", "template", "title")
_FRAME = ("a", "nav", "header", "footer", "aside")
_MOST_MOUNTS = 50
_DATA_TYPES = ("json", "template", "text/html", "x-handlebars")


def has_little_text(markdown: str) -> bool:
    """Whether a page may be empty but for its menus: outside links it has less than `LITTLE_TEXT`."""
    if len(markdown) < LITTLE_TEXT:
        return True
    return len(markdown) < _MOST_MENUS and len(_LINK.sub("", markdown)) < LITTLE_TEXT


def needs_scripts(html: bytes, url: str, charset: str) -> bool:
    """Whether the text of a page comes from its scripts.

    It has scripts, hardly any text outside them, and one of: almost no text at all, an empty mount point of a
    framework, or a request to enable scripts. A page whose text is all in menus, headers and footers has an empty mount
    point too, or says that it is loading.
    """
    from lxml import etree

    from websearch_gateway.readers.extraction import page

    root = page.parse(decode(html, charset))
    if root is None or not any(map(_is_code, root.iter("script"))):
        return False
    asks = any(_SCRIPTS.search("".join(element.itertext())) for element in root.iter("noscript"))
    etree.strip_elements(root, *_UNSEEN, with_tail=False)
    size = _text_chars(root)
    mounts = list(islice(filter(_is_mount, root.iter("*")), _MOST_MOUNTS))
    if size < LITTLE_TEXT:
        return size < _ALMOST_NO_TEXT or asks or any(map(_is_empty, mounts))
    named = [mount for mount in mounts if "-" not in mount.tag and _is_empty(mount)]
    etree.strip_elements(root, *_FRAME, with_tail=False)
    size = _text_chars(root)
    waits = size < _ALMOST_NO_TEXT and any(map(_LOADING.fullmatch, root.itertext()))
    return size < LITTLE_TEXT and (bool(named) or waits)


def _is_code(script: Any) -> bool:
    """Whether a script element contains code and not data."""
    kind = script.get("type", "").lower()
    return bool(script.get("src") or script.text) and not any(data in kind for data in _DATA_TYPES)


def _text_chars(element: Any) -> int:
    return sum(len(" ".join(text.split())) for text in element.itertext())


def _is_mount(element: Any) -> bool:
    return element.tag != "body" and bool("-" in element.tag or _ROOT_IDS.fullmatch(element.get("id", "")))


def _is_empty(element: Any) -> bool:
    return _text_chars(element) < _ALMOST_NO_TEXT
