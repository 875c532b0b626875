"""Hooks of MkDocs: the README is the first page, links that leave `docs/` become plain text, and models get the documents
as text.

The site is built without knowing where the repository lies, so it cannot link to its files. `llms.txt`
(https://llmstxt.org) lists the pages in the order of the navigation, and `llms-full.txt` holds them all as Markdown.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_SENTENCE = re.compile(r"(?<=\.)\s")
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


def on_post_build(config: Any) -> None:
    """Write `llms.txt` and `llms-full.txt` beside the pages."""
    site, documents = Path(config.site_dir), Path(config.docs_dir)
    listed = [f"# {config.site_name}\n\n> {config.site_description}"]
    whole = []
    for section in config.nav:
        for title, names in section.items():
            listed.append(f"\n## {title}\n")
            for name in names:
                text = _text_of(name, documents)
                whole.append(text)
                listed.append(f"- [{_title(text)}]({_address(name)}): {_opening(text)}")
    (site / "llms.txt").write_text("\n".join(listed) + "\n", encoding="utf-8")
    (site / "llms-full.txt").write_text("\n\n".join(whole), encoding="utf-8")


def _text_of(name: str, documents: Path) -> str:
    path = documents.with_name("README.md") if name == "index.md" else documents / name
    return path.read_text(encoding="utf-8")


def _address(name: str) -> str:
    """The page of a document, as the site has it: `cli.md` is `cli/`."""
    return "./" if name == "index.md" else f"{name.removesuffix('.md')}/"


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def _opening(text: str) -> str:
    """The first sentence of a document's prose."""
    paragraphs = _FENCE.sub("", text).split("\n\n")[1:]
    prose = next(
        (one for one in paragraphs if one.strip()[:1].isalpha() or one.startswith("`")), ""
    )
    return _LINK.sub(r"\1", _SENTENCE.split(" ".join(prose.split()))[0])


def _of_readme(link: re.Match[str]) -> str:
    words, target = link.groups()
    if target.startswith("docs/"):
        return f"[{words}]({target.removeprefix('docs/')})"
    return link[0] if target.startswith(("https://", "#")) else words
