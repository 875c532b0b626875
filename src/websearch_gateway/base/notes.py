"""Notes in fixed words: in place of a page that could not be read or of an answer, and about an empty search."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from websearch_gateway.base.dates import in_words
from websearch_gateway.errors import shown
from websearch_gateway.models import SearchQuery

_NOTES = {
    "protected": ("access is restricted", "The page may require a login, or not allow programs."),
    "missing": (
        "not found",
        "There is no page at this address (any more); look for its new address.",
    ),
    "busy": ("too many requests", "The site asks for fewer requests; try again later."),
    "broken": ("the site fails", "Try again later."),
    "robots": ("closed to robots", "This gateway obeys the robots.txt of the site."),
    "robot_page": ("robot check", "The site sent a robot check (a captcha) in place of the page."),
    "too_large": (
        "too large",
        "Look for a smaller page on the same topic, or for a part of this one.",
    ),
    "type": ("not text", "Images, archives and programs are not read."),
    "javascript": ("needs JavaScript", "The page is empty until a browser runs its scripts."),
    "scanned": (
        "only pictures of text",
        "The PDF is a scan without text; look for another edition of it.",
    ),
    "encrypted": ("locked with a password", "Only its owner can open it."),
    "unsupported": (
        "an unsupported format",
        "Look for the same text as HTML, PDF or a newer file.",
    ),
    "frames": ("pages in frames", "Read the pages that the error names."),
    "empty": ("no text", "There is no readable text on it."),
    "timeout": ("too slow", "Try again later."),
    "forbidden": ("forbidden address", "This gateway may not read it."),
    "unreadable": ("not readable", ""),
}
REASONS = frozenset(_NOTES)
"""The possible values of `details["reason"]` in an error about a page."""

_OF_STATUS = {
    401: "protected",
    402: "protected",
    403: "protected",
    404: "missing",
    410: "missing",
    429: "busy",
}
_OF_CODE = {"TIMEOUT": "timeout", "FORBIDDEN_URL": "forbidden"}
_NOT_OF_HOSTS = re.compile(r"[^\w.:\-]+")


def reason(code: str, details: Mapping[str, Any] | None = None) -> str:
    """The one of REASONS for which a page could not be read, from an error's code and details (`reason`, `status`)."""
    facts = details or {}
    cause, status = facts.get("reason"), facts.get("status")
    if isinstance(cause, str) and cause in REASONS:
        return cause
    if code == "FETCH" and isinstance(status, int):
        return _OF_STATUS.get(status, "broken" if status >= 500 else "unreadable")
    return _OF_CODE.get(code, "unreadable")


def unreadable_note(code: str, details: Mapping[str, Any] | None, host: str, message: str) -> str:
    """One paragraph of Markdown for a page that could not be read; the same failure always gives the same text.

    Args:
        code, details, message: from the error. The message must not quote the page.
        host: the page's host, as `base.host` returns it; may be empty.
    """
    title, advice = _NOTES[reason(code, details)]
    name = _NOT_OF_HOSTS.sub("", host)
    of_host = f" of {shown(name)}" if name else ""
    sentences = (f"**This page{of_host} could not be read: {title}.**", message, advice)
    return " ".join(filter(None, sentences))


UNSEEN_LEFT_OUT = "Text that a reader cannot see was left out"
"""The beginning of the warning of a page that hides text."""

_MOST_NAMED = 3  # the domains to name of a list


def nothing_found(query: SearchQuery, *, longer: str = "a larger `freshnessHours` or none") -> str:
    """Which filters a search had that found nothing, and what to try. `longer` says how to ask for a longer period."""
    tried: dict[str, str] = {}  # by what to try instead
    if query.freshness_hours is not None:
        usual = " (usual for news)" if query.topic == "news" else ""
        tried[longer] = f"the last {in_words(query.freshness_hours * 3600)}{usual}"
    for name, word, listed in (
        ("includeDomains", "only", query.include_domains),
        ("excludeDomains", "not", query.exclude_domains),
    ):
        if listed:
            more = ", ..." if len(listed) > _MOST_NAMED else ""
            tried[f"other `{name}`"] = f"{word} {', '.join(listed[:_MOST_NAMED])}{more}"
    for name, code in (("region", query.region), ("language", query.language)):
        if code:
            tried[f"no `{name}`"] = f"the {name} {code}"
    if not tried:
        return "Nothing was found: try fewer or other words."
    filters = "; ".join(tried.values())
    return (
        f"Nothing was found with these filters: {filters}. Try {', '.join(tried)}, or other words."
    )


NO_ANSWER = "No page answers this directly."
_NEAREST = "No page answers this directly; nearest:"

_SENTENCES = {
    "ar": ("لا توجد صفحة تجيب عن هذا مباشرة.", "لا توجد صفحة تجيب عن هذا مباشرة؛ الأقرب:"),
    "de": (
        "Keine Seite beantwortet das direkt.",
        "Keine Seite beantwortet das direkt; am nächsten kommt:",
    ),
    "el": (
        "Καμία σελίδα δεν το απαντά άμεσα.",
        "Καμία σελίδα δεν το απαντά άμεσα· το πλησιέστερο:",
    ),
    "es": (
        "Ninguna página responde directamente.",
        "Ninguna página responde directamente; lo más cercano:",
    ),
    "fr": (
        "Aucune page n’y répond directement.",
        "Aucune page n’y répond directement ; le plus proche :",
    ),
    "hi": ("कोई पृष्ठ इसका सीधा उत्तर नहीं देता।", "कोई पृष्ठ इसका सीधा उत्तर नहीं देता; निकटतम:"),
    "it": (
        "Nessuna pagina risponde direttamente.",
        "Nessuna pagina risponde direttamente; il più vicino:",
    ),
    "ja": ("直接答えるページはありません。", "直接答えるページはありません。最も近いもの："),
    "ko": ("직접 답하는 페이지가 없습니다.", "직접 답하는 페이지가 없습니다. 가장 가까운 내용:"),
    "nl": (
        "Geen pagina beantwoordt dit direct.",
        "Geen pagina beantwoordt dit direct; het dichtst erbij:",
    ),
    "pt": (
        "Nenhuma página responde diretamente.",
        "Nenhuma página responde diretamente; o mais próximo:",
    ),
    "ro": (
        "Nicio pagină nu răspunde direct.",
        "Nicio pagină nu răspunde direct; cel mai apropiat:",
    ),
    "ru": (
        "Ни одна страница не отвечает на это прямо.",
        "Ни одна страница не отвечает на это прямо; ближе всего:",
    ),
    "th": ("ไม่มีหน้าใดตอบคำถามนี้โดยตรง", "ไม่มีหน้าใดตอบคำถามนี้โดยตรง ใกล้เคียงที่สุด:"),
    "tr": (
        "Hiçbir sayfa bunu doğrudan yanıtlamıyor.",
        "Hiçbir sayfa bunu doğrudan yanıtlamıyor; en yakını:",
    ),
    "vi": (
        "Không có trang nào trả lời trực tiếp.",
        "Không có trang nào trả lời trực tiếp; gần nhất:",
    ),
    "zh": ("没有网页直接回答这个问题。", "没有网页直接回答这个问题；最接近的是："),
}

LANGUAGES = ("en", *_SENTENCES)
"""The languages that a hedge can be in."""


def no_answer(language: str) -> str:
    """The sentence for an answer that quotes nothing. `language` is an ISO 639-1 code; English for an unknown one."""
    return _SENTENCES.get(language, (NO_ANSWER, ""))[0]


def nearest(language: str) -> str:
    """The line above quotes that are near the question but do not answer it. `language` as in `no_answer`."""
    return _SENTENCES.get(language, ("", _NEAREST))[1]
