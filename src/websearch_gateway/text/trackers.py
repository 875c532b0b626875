"""Removes tracking parameters, which identify the referrer and not the page, from URLs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote_plus

PREFIXES: Mapping[str, str] = {
    "utm_": "campaign labels of Urchin and Google Analytics; OpenAI appends utm_source=openai",
    "hsa_": "HubSpot ads",
    "mtm_": "Matomo campaigns",
    "pk_": "Piwik campaigns",
}
"""Prefixes of parameter names, each with its owner."""

NAMES: Mapping[str, str] = {
    "_ga": "Google Analytics across domains",
    "_gl": "Google Analytics across domains",
    "_hsenc": "HubSpot e-mails",
    "_hsmi": "HubSpot e-mails",
    "at_campaign": "AT Internet",
    "at_medium": "AT Internet",
    "cmpid": "campaign of news sites",
    "dclid": "Google Display ads",
    "fbclid": "Facebook clicks",
    "gad_source": "Google ads",
    "gbraid": "Google ads in iOS apps",
    "gclid": "Google ads",
    "gclsrc": "Google ads",
    "igsh": "Instagram shares",
    "igshid": "Instagram shares",
    "li_fat_id": "LinkedIn ads",
    "mc_cid": "Mailchimp campaigns",
    "mc_eid": "Mailchimp recipients",
    "mkt_tok": "Marketo e-mails",
    "msclkid": "Microsoft ads",
    "ncid": "campaign of news sites",
    "oly_anon_id": "Omeda newsletters",
    "oly_enc_id": "Omeda newsletters",
    "ref": "the referring site; a branch or commit on code hosts, see `_names_a_revision`",
    "ref_src": "Twitter embeds",
    "ref_url": "Twitter embeds",
    "s_cid": "Adobe Analytics campaigns",
    "srsltid": "Google Shopping clicks",
    "ttclid": "TikTok ads",
    "twclid": "Twitter ads",
    "vero_id": "Vero e-mails",
    "wbraid": "Google ads on the web",
    "wt_mc": "Webtrekk campaigns",
    "yclid": "Yandex ads",
    "ysclid": "Yandex clicks",
}
"""Whole parameter names, each with its owner."""

_CODE_HOST = re.compile(r"https?://(?:[^/?#]*@)?(?:[^/?#]*\.)?(?:git[^./?#]*|bitbucket|codeberg)\.", re.IGNORECASE)
_PARAMETER = re.compile(r"(?P<name>[^=&#]*+)(?:=[^&#]*+)?(?:&amp;|&|(?=#|\Z))", re.IGNORECASE)


def strip_trackers(url: str) -> str:
    """`url` without trackers and otherwise unchanged; also without the `?` if no parameter remains."""
    for start, end in reversed(tracker_pieces(url)):
        url = url[:start] + url[end:]
    return url


def tracker_pieces(url: str) -> list[tuple[int, int]]:
    """The pieces of `url` to cut, as (start, end) in order: each tracker with the `&` that becomes unnecessary."""
    question = url.find("?", 0, url.find("#") if "#" in url else None)
    parameters = [] if question < 0 else _parameters(url, question + 1)
    revision = bool(parameters) and _CODE_HOST.match(url) is not None
    trackers = [_is_tracker(name, revision) for name, _, _, _ in parameters]
    if not any(trackers):
        return []
    if all(tracker or not name for tracker, (name, _, _, _) in zip(trackers, parameters, strict=True)):
        return [(question, parameters[-1][2])]
    pieces: list[tuple[int, int]] = []
    kept_until: int | None = None
    for tracker, (_, start, end, after) in zip(trackers, parameters, strict=True):
        if not tracker:
            kept_until = end
        elif kept_until is None:
            pieces.append((start, after))
        else:
            pieces.append((kept_until, end))
            kept_until = end
    return pieces


def _parameters(url: str, position: int) -> list[tuple[str, int, int, int]]:
    """Each parameter: its name, start, end, and where the next one starts."""
    found = []
    while match := _PARAMETER.match(url, position):
        separator = len(match[0]) - len(re.sub(r"(?:&amp;|&)\Z", "", match[0], flags=re.IGNORECASE))
        found.append((unquote_plus(match["name"]), match.start(), match.end() - separator, match.end()))
        position = match.end()
        if not separator:
            break
    return found


def _is_tracker(name: str, revision: bool) -> bool:
    bare = name.casefold()
    if bare == "ref" and revision:
        return False
    return bare in NAMES or bare.startswith(tuple(PREFIXES))
