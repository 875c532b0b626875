"""DuckDuckGo's HTML page, which needs no key. https://html.duckduckgo.com/html/

DuckDuckGo documents no API; the parameters are those of https://duckduckgo.com/duckduckgo-help-pages/settings/params
and of the form on the page itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urljoin

from websearch_gateway.base import bucket, make_hit, target_of, with_sites
from websearch_gateway.errors import (
    BLOCKED,
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
)
from websearch_gateway.models import Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.providers.table import SharedProvider

BLOCK_SECONDS = 60.0
"""Seconds for which the circuit stays open after a first bot page; doubles with each further one."""

_LOCALES = (
    "ar-es at-de au-en be-nl be-fr bg-bg br-pt ca-en ca-fr ch-de ch-fr ch-it cl-es cn-zh co-es cz-cs de-de dk-da ee-et "
    "es-es fi-fi fr-fr gr-el hk-tzh hr-hr hu-hu id-id ie-en il-he in-en it-it jp-jp kr-kr lt-lt lv-lv mx-es my-en "
    "nl-nl no-no nz-en pe-es ph-en pk-en pl-pl pt-pt ro-ro ru-ru se-sv sg-en sk-sk sl-sl th-th tr-tr tw-tzh ua-uk "
    "uk-en us-en us-es ve-es vn-vi za-en"
)
_OWN = re.compile(r"https?://(?:[a-z]+\.)?duckduckgo\.com/(?:l/|y\.js)", re.IGNORECASE)
"""Advertisements, and redirects to no web page."""

_ANYWHERE = "wt-wt"
_OWN_CODES = {"GB": "uk", "SI": "sl"}


@dataclass(frozen=True)
class DuckDuckGo(SharedProvider):
    """A page for people, which knows no OR: it gets one domain at most. We submit its form under our own user agent.

    It often answers with a bot page, as a 202.
    """

    base_url: str = "https://html.duckduckgo.com"

    name: ClassVar[str] = "duckduckgo"
    capabilities: ClassVar[Capabilities] = Capabilities(
        max_results=100, freshness=True, region=True, language=True, paging=True
    )

    def request(self, query: SearchQuery) -> HttpRequest:
        """POST /html/."""
        return self._post(query, {"q": with_sites(query, most_included=1), "b": ""})

    def parse(self, body: bytes) -> list[Hit]:
        """The results without the advertisements; raises on a bot page of any status."""
        page = _page(body)
        found = page.xpath(
            '//*[@id="links"]//*[contains(concat(" ", @class, " "), " web-result ")]'
        )
        hits = (self._hit(result) for result in found)
        return [hit for hit in hits if hit]

    def next_page(self, query: SearchQuery, body: bytes, page: int) -> HttpRequest | None:
        """Page 1 shows ten results, later ones fifteen. Without page 1's token `vqd` DuckDuckGo blocks the caller."""
        tokens = _page(body).xpath('//input[@name="vqd"]/@value')
        if not tokens:
            return None
        start = 10 + (page - 2) * 15
        form = {
            "q": with_sites(query, most_included=1),
            "s": str(start),
            "dc": str(start + 1),
            "vqd": tokens[0],
        }
        return self._post(query, form | {"nextParams": "", "api": "d.js", "o": "json", "v": "l"})

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> SearchError | None:
        """DuckDuckGo blocks by IP address, for up to about an hour."""
        return _blocked() if status in (202, 403) else None

    def language(self, query: SearchQuery) -> str | None:
        """The language only of a region in which it is spoken."""
        spoken = query.language and _locale(query).endswith(f"-{query.language}")
        return query.language if spoken else None

    def _post(self, query: SearchQuery, form: dict[str, str]) -> HttpRequest:
        choices = {"kl": _locale(query)}
        if freshness := bucket(query.freshness_hours):
            choices["df"] = freshness[0]
        cookie = "; ".join(f"{name}={value}" for name, value in choices.items())
        headers = {"Referer": f"{self.base_url}/", "Cookie": cookie}
        return HttpRequest("POST", f"{self.base_url}/html/", headers=headers, form=form | choices)

    def _hit(self, result: Any) -> Hit | None:
        links, snippets = (
            result.xpath(".//h2//a[@href]"),
            result.xpath('.//*[contains(@class, "result__snippet")]'),
        )
        if not links:
            return None
        snippet = snippets[0].text_content() if snippets else ""
        url = target_of(_address(links[0].get("href")))
        if _OWN.match(url):
            return None
        return make_hit(self.name, url, links[0].text_content(), snippet)


def _blocked() -> SearchProviderError:
    return SearchProviderError(
        "DuckDuckGo takes this address for a bot and blocks it.",
        retry_after=BLOCK_SECONDS,
        details={"reason": BLOCKED},
    )


def _page(body: bytes) -> Any:
    from lxml import etree, html

    try:
        page = html.document_fromstring(body, parser=html.HTMLParser(encoding="utf-8"))
    except etree.LxmlError:
        raise SearchProviderParseError("The reply of duckduckgo is not HTML.") from None
    if page.xpath('//form[@id="challenge-form"] | //*[starts-with(@class, "anomaly-modal")]'):
        raise _blocked()
    if not page.xpath('//*[@id="links"]'):
        raise SearchProviderParseError("The reply of duckduckgo has no list of results.")
    return page


def _address(href: str) -> str:
    try:
        return urljoin("https://duckduckgo.com/", href)
    except ValueError:
        return ""


def _locale(query: SearchQuery) -> str:
    country = _OWN_CODES.get(query.region or "", (query.region or "").lower())
    locales = [locale for locale in _LOCALES.split() if locale.startswith(f"{country}-")]
    spoken = f"{country}-{query.language}"
    return spoken if spoken in locales else next(iter(locales), _ANYWHERE)
