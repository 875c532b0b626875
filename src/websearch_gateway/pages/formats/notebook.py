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

LONGEST_OUTPUT = 20_000
"""The most characters of one output: a program may print without end."""

LONGEST_MARKUP = 200_000
"""Longer HTML of an output is left out whole: what hides its text may stand at its end."""

LEFT_OUT = "[… the rest of this output is left out]"

_COLOURS = re.compile(r"\x1b\[[0-9;]{0,30}[A-Za-z]")
# Also one without an end, so that no two searches read the same text.
_INLINE_IMAGE = re.compile(r"!\[((?:[^\]\n!]|!(?!\[)){0,500}+)\]\((?:data|attachment):[^)\n]*+\)?")
_HEADING = re.compile(r"^#{1,2} +(.{1,300}?)[ #]*$", re.MULTILINE)
_LANGUAGE = re.compile(r"[\w+#.-]{1,20}")
_DEEPEST_HEADING = 6
# The kinds of outputs in nbformat 3, by those of nbformat 4.
_OLD_PICTURES = ("png", "jpeg", "svg", "pdf")


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
    metadata = _dict(value.get("metadata"))
    language = _language(metadata)
    parts = (
        part for cell in _list(cells) if isinstance(cell, dict) for part in _cell(cell, language)
    )
    text = "\n\n".join(until_too_long(parts))
    heading = _HEADING.search(text)
    return Extracted(plain(heading[1]) if heading else "", text, None)


def _old_cells(notebook: dict[str, Any]) -> list[Any]:
    """The cells of nbformat 3, which lie in worksheets. A notebook without any is no notebook."""
    return [cell for sheet in notebook["worksheets"] for cell in sheet.get("cells", [])]


def _language(metadata: dict[str, Any]) -> str:
    name = _dict(metadata.get("language_info")).get("name") or _dict(
        metadata.get("kernelspec")
    ).get("language")
    return name.lower() if isinstance(name, str) and _LANGUAGE.fullmatch(name) else "python"


def _cell(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input"))).strip("\n")
    kind = cell.get("cell_type")
    if kind == "code":
        if source.strip():
            yield _fenced(source, language)
        for output in _list(cell.get("outputs")):
            if text := _output(_dict(output)):
                yield text
    elif source.strip():
        text = _INLINE_IMAGE.sub(
            lambda match: f"[Image: {match[1]}]" if match[1] else "[Image]", source
        ).strip()
        yield f"{'#' * _level(cell)} {' '.join(text.split())}" if kind == "heading" else text


def _level(cell: dict[str, Any]) -> int:
    level = cell.get("level")
    return min(level, _DEEPEST_HEADING) if isinstance(level, int) and level > 0 else 1


def _output(output: dict[str, Any]) -> str:
    """The text of an output: its richest form that is text."""
    if output.get("output_type") in ("error", "pyerr"):
        return _fenced(f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}", "")
    data = _dict(output.get("data"))
    if not data:  # a stream, or nbformat 3, which has the forms beside each other
        markup, picture = (
            _joined(output.get("html")),
            next((one for one in _OLD_PICTURES if one in output), None),
        )
        data = (
            {"text/html": markup}
            if markup
            else {f"image/{picture}": ""}
            if picture and "text" not in output
            else {}
        )
        data["text/plain"] = output.get("text", output.get("latex"))
    if markdown := _joined(data.get("text/markdown")).strip():
        return markdown
    if markup := _joined(data.get("text/html")):
        if len(markup) > LONGEST_MARKUP:
            return LEFT_OUT
        return _cut(to_markdown(markup).strip())
    if image := next((name for name in data if name.startswith("image/")), None):
        return f"[Image: {image}]"
    return _fenced(_joined(data.get("text/plain", data.get("text/latex"))), "")


def _fenced(text: str, language: str) -> str:
    text = _COLOURS.sub("", text).strip("\n").rstrip()
    return fenced(text if language else _cut(text), language)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_OUTPUT else f"{text[:LONGEST_OUTPUT]}\n{LEFT_OUT}"


def _joined(value: Any) -> str:
    """A text, which the format may store as a list of its lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
