"""Detects a page that declares itself an article in Open Graph, JSON-LD or microdata."""

from __future__ import annotations

import re
from typing import Any

_ARTICLES = frozenset(
    (
        *("Article", "NewsArticle", "AnalysisNewsArticle", "BackgroundNewsArticle", "OpinionNewsArticle"),
        *("ReportageNewsArticle", "ReviewNewsArticle", "Report", "BlogPosting", "TechArticle", "ScholarlyArticle"),
        "MedicalScholarlyArticle",
    )
)
"""Subtypes of https://schema.org/Article whose text is prose by its author."""

_THREADS = frozenset(("DiscussionForumPosting", "SocialMediaPosting", "QAPage"))
"""The types of forums, which often also have `og:type` article."""

_TYPE = re.compile(r'"@type"\s{0,20}:\s{0,20}(\[[^\]]{0,200}|"\w{1,60}")')
_NAME = re.compile(r"\w+")
_MOST_SCRIPT = 200_000


def declares_article(root: Any) -> bool:
    """Whether the markup of a page declares an article. Call it before scripts and metadata are removed from `root`."""
    types = {name.strip().rstrip("/").rpartition("/")[2] for name in root.xpath("//@itemtype")}
    for script in root.iter("script"):
        if "ld+json" in script.get("type", ""):
            types.update(_NAME.findall(" ".join(_TYPE.findall((script.text or "")[:_MOST_SCRIPT]))))
    if types & _THREADS:
        return False
    return bool(types & _ARTICLES) or any(_is_article(meta) for meta in root.iter("meta"))


def _is_article(meta: Any) -> bool:
    named = meta.get("property") or meta.get("name") or ""
    return bool(named.lower() == "og:type" and meta.get("content", "").strip().lower() == "article")
