"""Detects the challenge page that a site sends to suspected bots instead of the requested page."""

from __future__ import annotations

import re

LONGEST_CHALLENGE = 1_000
"""The most characters of a challenge page: a longer text that mentions robots is an article about them."""

_TITLES = re.compile(
    r"just a moment\b|attention required! \||access denied\b|pardon our interruption|are you a robot|robot check"
    r"|security check(?:point)?$|human verification|ddos-guard|captcha$|bot verification|client challenge",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"(?:verify|confirm|prove|check) (?:that )?you(?:'re|’re| are) (?:a |not a |an? actual )?(?:human|robot|bot)"
    r"|(?:i'm|i’m|i am|you are|you're|you’re) not a (?:robot|bot)\b|are you (?:a robot|human)\?"
    r"|checking (?:your browser|if the site connection is secure)"
    r"|unusual (?:traffic|activity) from your (?:computer )?(?:network|ip|device|browser)"
    r"|enable javascript and cookies to continue|(?:complete|solve) (?:the|this) (?:captcha|security check|puzzle)"
    r"|enter the characters you see (?:below|in the image)|press (?:&|and) hold to confirm"
    r"|access to this page has been denied because|automated (?:access|requests?|queries) (?:to|from) (?:this|your)"
    r"|making sure you(?:'re|’re| are) not a bot",
    re.IGNORECASE,
)


def is_bot_challenge(title: str, text: str) -> bool:
    """Whether a page is a bot challenge: it is short, and its text or title has the wording of such pages."""
    if len(text) > LONGEST_CHALLENGE:
        return False
    return bool(_WORDS.search(text) or (_TITLES.match(title.strip()) and len(text) < LONGEST_CHALLENGE // 2))
