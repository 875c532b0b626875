"""The sentences with which an extractive answer says that no page answers, by language."""

from __future__ import annotations

NO_ANSWER = "No page answers this directly."
_NEAREST = "No page answers this directly; nearest:"

_SENTENCES = {
    "ar": ("لا توجد صفحة تجيب عن هذا مباشرة.", "لا توجد صفحة تجيب عن هذا مباشرة؛ الأقرب:"),
    "de": ("Keine Seite beantwortet das direkt.", "Keine Seite beantwortet das direkt; am nächsten kommt:"),
    "el": ("Καμία σελίδα δεν το απαντά άμεσα.", "Καμία σελίδα δεν το απαντά άμεσα· το πλησιέστερο:"),
    "es": (
        "Ninguna página responde a esto directamente.",
        "Ninguna página responde directamente; lo más cercano:",
    ),
    "fr": ("Aucune page n’y répond directement.", "Aucune page n’y répond directement ; le plus proche :"),
    "hi": ("कोई पृष्ठ इसका सीधा उत्तर नहीं देता।", "कोई पृष्ठ इसका सीधा उत्तर नहीं देता; निकटतम:"),
    "it": ("Nessuna pagina risponde direttamente.", "Nessuna pagina risponde direttamente; il più vicino:"),
    "ja": ("直接答えるページはありません。", "直接答えるページはありません。最も近いもの："),
    "ko": ("직접 답하는 페이지가 없습니다.", "직접 답하는 페이지가 없습니다. 가장 가까운 내용:"),
    "nl": ("Geen pagina beantwoordt dit direct.", "Geen pagina beantwoordt dit direct; het dichtst erbij:"),
    "pt": ("Nenhuma página responde diretamente.", "Nenhuma página responde diretamente; o mais próximo:"),
    "ro": ("Nicio pagină nu răspunde direct.", "Nicio pagină nu răspunde direct; cel mai apropiat:"),
    "ru": ("Ни одна страница не отвечает на это прямо.", "Ни одна страница не отвечает на это прямо; ближе всего:"),
    "th": ("ไม่มีหน้าใดตอบคำถามนี้โดยตรง", "ไม่มีหน้าใดตอบคำถามนี้โดยตรง ใกล้เคียงที่สุด:"),
    "tr": ("Hiçbir sayfa bunu doğrudan yanıtlamıyor.", "Hiçbir sayfa bunu doğrudan yanıtlamıyor; en yakını:"),
    "vi": ("Không có trang nào trả lời trực tiếp.", "Không có trang nào trả lời trực tiếp; gần nhất:"),
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
