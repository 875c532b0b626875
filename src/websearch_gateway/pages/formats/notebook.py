"""A Jupyter notebook as Markdown: its texts, its code and the richest text of each output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from websearch_gateway.base import plain
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.foreign_json import MALFORMED, parse_json
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.plain import fenced
from websearch_gateway.pages.formats.rendering import to_markdown, until_too_long

_HEADING = re.compile(r"^#{1,2} +(.{1,300}?)[ #]*$", re.MULTILINE)


def notebook(body: bytes, url: str, charset: str) -> Extracted:
    """A notebook of nbformat 3 or 4 (https://nbformat.readthedocs.io). Pictures in outputs are named by their type.

    Raises:
        SearchFetchError: it is damaged.
    """
    try:
        value = parse_json(body)
        cells = value["cells"] if "cells" in value else _old_cells(value)
    except MALFORMED:
        raise SearchFetchError("The notebook is damaged.", details={"reason": "damaged"}) from None
    language = _language(_dict(value.get("metadata")))
    text = "\n\n".join(until_too_long(_cells(_list(cells), language)))
    heading = _HEADING.search(text)
    return Extracted(plain(heading[1]) if heading else "", text, None)


def _old_cells(notebook: dict[str, Any]) -> list[Any]:
    """The cells of nbformat 3, which lie in worksheets. A notebook without any is no notebook."""
    return [cell for sheet in notebook["worksheets"] for cell in sheet.get("cells", [])]


_LANGUAGE = re.compile(r"[\w+#.-]{1,20}")


def _language(metadata: dict[str, Any]) -> str:
    """The language of the code, which is Python where nothing says otherwise."""
    declared = _dict(metadata.get("language_info")).get("name")
    name = declared or _dict(metadata.get("kernelspec")).get("language")
    is_name = isinstance(name, str) and _LANGUAGE.fullmatch(name)
    return str(name).lower() if is_name else "python"


# --- cells ---

_DEEPEST_HEADING = 6
# Also one without an end, so that no two searches read the same text.
_INLINE_IMAGE = re.compile(r"!\[((?:[^\]\n!]|!(?!\[)){0,500}+)\]\((?:data|attachment):[^)\n]*+\)?")


def _cells(cells: list[Any], language: str) -> Iterator[str]:
    """The texts, the code and the outputs of the cells."""
    for cell in cells:
        if not isinstance(cell, dict):
            continue
        source = _joined(cell.get("source", cell.get("input"))).strip("\n")
        if cell.get("cell_type") == "code":
            yield from _code(cell, source, language)
        elif source.strip():
            yield _text(cell, source)


def _code(cell: dict[str, Any], source: str, language: str) -> Iterator[str]:
    if source.strip():
        yield _fenced(source, language)
    for output in _list(cell.get("outputs")):
        if text := _output(_dict(output)):
            yield text


def _text(cell: dict[str, Any], source: str) -> str:
    text = _INLINE_IMAGE.sub(_named_image, source).strip()
    if cell.get("cell_type") == "heading":
        return f"{'#' * _level(cell)} {' '.join(text.split())}"
    return text


def _named_image(image: re.Match[str]) -> str:
    return f"[Image: {image[1]}]" if image[1] else "[Image]"


def _level(cell: dict[str, Any]) -> int:
    level = cell.get("level")
    return min(level, _DEEPEST_HEADING) if isinstance(level, int) and level > 0 else 1


# --- outputs ---

LONGEST_OUTPUT = 20_000
"""The most characters of one output: a program may print without end."""
LONGEST_MARKUP = 200_000
"""Longer HTML of an output is left out whole: what hides its text may stand at its end."""
LEFT_OUT = "[… the rest of this output is left out]"
_OLD_PICTURES = ("png", "jpeg", "svg", "pdf")
"""The kinds of pictures in outputs of nbformat 3."""
_COLOURS = re.compile(r"\x1b\[[0-9;]{0,30}[A-Za-z]")


def _output(output: dict[str, Any]) -> str:
    """The text of an output: its richest form that is text."""
    if output.get("output_type") in ("error", "pyerr"):
        return _fenced(f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}", "")
    forms = _dict(output.get("data")) or _old_forms(output)
    if markdown := _joined(forms.get("text/markdown")).strip():
        return markdown
    if markup := _joined(forms.get("text/html")):
        is_short = len(markup) <= LONGEST_MARKUP
        return _cut(to_markdown(markup).strip()) if is_short else LEFT_OUT
    if image := next((kind for kind in forms if kind.startswith("image/")), None):
        return f"[Image: {image}]"
    return _fenced(_joined(forms.get("text/plain", forms.get("text/latex"))), "")


def _old_forms(output: dict[str, Any]) -> dict[str, Any]:
    """The forms of a stream, and of an output of nbformat 3, which has them beside each other."""
    forms: dict[str, Any] = {"text/plain": output.get("text", output.get("latex"))}
    picture = next((kind for kind in _OLD_PICTURES if kind in output), "")
    if markup := _joined(output.get("html")):
        forms["text/html"] = markup
    elif picture and "text" not in output:
        forms[f"image/{picture}"] = ""
    return forms


def _fenced(text: str, language: str) -> str:
    """Code in its language, or without one an output, as a code block."""
    text = _COLOURS.sub("", text).strip("\n").rstrip()
    return fenced(text if language else _cut(text), language)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_OUTPUT else f"{text[:LONGEST_OUTPUT]}\n{LEFT_OUT}"


# --- values of any type ---


def _joined(value: Any) -> str:
    """A text, which the format may store as a list of its lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
