"""A Jupyter notebook as Markdown: its text, its code, and what the code wrote. https://nbformat.readthedocs.io"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.readers.cleaning import until_too_long
from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.readers.formats.fragment import to_markdown

LONGEST_OUTPUT = 20_000
"""The most characters of one output: a program may print without end."""
LEFT_OUT = "[… the rest of this output is left out]"

_COLOURS = re.compile(r"\x1b\[[0-9;]{0,30}[A-Za-z]")
_INLINE_IMAGE = re.compile(r"!\[([^\]\n]{0,500})\]\((?:data|attachment):[^)\n]*\)")
_HEADING = re.compile(r"^#{1,2} +(.{1,300}?)[ #]*$", re.MULTILINE)
_FENCES = re.compile(r"`{3,}")


def notebook(body: bytes, url: str, charset: str) -> Extracted:
    """A notebook. Pictures in outputs are named by their type.

    Raises:
        SearchFetchError: it is damaged.
    """
    try:
        value = json.loads(body)
        cells = _cells(value)
    except (ValueError, RecursionError, AttributeError, TypeError):
        raise SearchFetchError("The notebook is damaged.") from None
    language = _language(value)
    text = "\n\n".join(
        until_too_long(part for cell in cells if isinstance(cell, dict) for part in _cell(cell, language))
    )
    heading = _HEADING.search(text)
    return Extracted(heading[1] if heading else "", text, None)


def _cells(value: Any) -> list[Any]:
    """The cells; version 3 of the format keeps them in worksheets."""
    if isinstance(value.get("cells"), list):
        return list(value["cells"])
    return [cell for sheet in value.get("worksheets") or () for cell in sheet.get("cells") or ()]


def _language(value: dict[str, Any]) -> str:
    metadata = _dict(value.get("metadata"))
    name = _dict(metadata.get("language_info")).get("name") or _dict(metadata.get("kernelspec")).get("language")
    return name.lower() if isinstance(name, str) and re.fullmatch(r"[\w+#.-]{1,20}", name) else "python"


def _cell(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input"))).strip("\n")
    if cell.get("cell_type") == "code":
        if source.strip():
            yield _fenced(source, language)
        for output in _list(cell.get("outputs")):
            if text := _output(_dict(output)):
                yield text
    elif cell.get("cell_type") == "heading":  # version 3
        level = cell.get("level")
        yield f"{'#' * (level if isinstance(level, int) and 1 <= level <= 6 else 1)} {' '.join(source.split())}"
    elif source.strip():
        yield _INLINE_IMAGE.sub(lambda match: f"[Image: {match[1]}]" if match[1] else "[Image]", source).strip()


def _output(output: dict[str, Any]) -> str:
    """The text of an output: its richest form that is text."""
    if output.get("output_type") == "error" or "ename" in output:
        return _fenced(f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}", "")
    if "text" in output and "data" not in output:
        return _fenced(_joined(output["text"]), "")
    data = _dict(output.get("data")) or output  # version 3 has the forms beside each other
    if markdown := _joined(data.get("text/markdown")).strip():
        return markdown
    if html := _joined(data.get("text/html", data.get("html"))):
        return to_markdown(html[: 10 * LONGEST_OUTPUT])[:LONGEST_OUTPUT].strip()
    if image := next((name for name in data if name.startswith("image/")), None):
        return f"[Image: {image}]"
    return _fenced(_joined(data.get("text/plain", data.get("text/latex"))), "")


def _fenced(text: str, language: str) -> str:
    text = _COLOURS.sub("", text).strip("\n").rstrip()
    if not text.strip():
        return ""
    if not language and len(text) > LONGEST_OUTPUT:
        text = f"{text[:LONGEST_OUTPUT]}\n{LEFT_OUT}"
    mark = "`" * (1 + max((len(run) for run in _FENCES.findall(text)), default=2))
    return f"{mark}{language}\n{text}\n{mark}"


def _joined(value: Any) -> str:
    """A text, which the format may store as a list of its lines."""
    if isinstance(value, list):
        return "".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
