"""Hooks of MkDocs: the README is the first page, and links that leave `docs/` become plain text.

The site is built without knowing where the repository lies, so it cannot link to its files.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
_PICTURE = re.compile(r"(!\[[^\]]*\]\()docs/")


def on_files(files: Any, config: Any) -> Any:
    """Add the README as the index."""
    from mkdocs.structure.files import File

    readme = Path(config.config_file_path).with_name("README.md").read_text(encoding="utf-8")
    files.append(
        File.generated(
            config, "index.md", content=_PICTURE.sub(r"\1", _LINK.sub(_of_readme, readme))
        )
    )
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace links to files of the repository with their text."""
    return _LINK.sub(lambda link: link[1] if link[2].startswith("../") else link[0], markdown)


def _of_readme(link: re.Match[str]) -> str:
    words, target = link.groups()
    if target.startswith("docs/"):
        return f"[{words}]({target.removeprefix('docs/')})"
    return link[0] if target.startswith(("https://", "#")) else words
