"""Writes HTML in Python: escapes all text that it did not make."""

from __future__ import annotations

from html import escape


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str | float) -> Html:
    """`<name attributes>children</name>`. Of `class_` the underscore is dropped, in `data_title` it is a hyphen."""
    held = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items())
    return Html(f"<{name}{held}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    """Children side by side."""
    return Html("".join(child if isinstance(child, Html) else escape(child) for child in children))
