"""The icon of the server, as data: clients fetch nothing."""

from __future__ import annotations

from urllib.parse import quote

from mcp.types import Icon

_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#3a5fc8"/>'
    '<circle cx="14" cy="14" r="7" fill="none" stroke="#fff" stroke-width="3"/>'
    '<path d="M19.5 19.5 26 26" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>'
)

ICON = Icon(src=f"data:image/svg+xml,{quote(_SVG)}", mime_type="image/svg+xml", sizes=["any"])
