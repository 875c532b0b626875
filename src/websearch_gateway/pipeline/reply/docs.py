"""The results of the documentation index within a number of tokens. One function per kind of result."""

from __future__ import annotations

from websearch_gateway.pipeline.reply.fit import OWN_WARNING, first_fitting
from websearch_gateway.pipeline.reply.size import (
    BYTES_PER_TOKEN,
    limited_warnings,
    opening,
    shares,
    size_of,
    with_warning,
)
from websearch_gateway.results.docs import DocsReadResponse, DocsSearchResponse, DocsSites, DocsSiteStatus, DocsStatus


def fit_docs(response: DocsSearchResponse, tokens: int) -> DocsSearchResponse:
    """Sections share the room by rank. One that has no room for its text is left out, and so are further titles."""
    whole = response.model_copy(update={"warnings": limited_warnings(response.warnings)})
    room = tokens * BYTES_PER_TOKEN
    if size_of(whole) <= room:
        return whole
    whole = whole.model_copy(update={"more": ()})
    room -= OWN_WARNING + size_of(whole.model_copy(update={"results": ()}))
    bare = first_fitting(room // 2, [hit.model_copy(update={"content": ""}) for hit in response.results])
    hits = response.results[: len(bare)]
    given = shares([size_of(hit.content) for hit in hits], room - sum(size_of(hit) + 1 for hit in bare))
    texts = (opening(hit.content, share)[0] if share else "" for hit, share in zip(hits, given, strict=True))
    fitted = [
        hit if text == hit.content else hit.model_copy(update={"content": text})
        for hit, text in zip(hits, texts, strict=True)
        if text
    ]
    cut = sum(a is not b for a, b in zip(fitted, response.results, strict=False))
    warning = (
        f"{cut} of {len(fitted)} sections are cut and {len(response.results) - len(fitted)} left out to fit the reply: "
        "read_docs reads one, and a smaller `limit` leaves more room for each."
    )
    return whole.model_copy(update=with_warning({"results": tuple(fitted)}, response.warnings, warning))


def fit_outline(response: DocsReadResponse, tokens: int) -> DocsReadResponse:
    """The first entries that fit; `truncated`, and `next_section_id` is the first that is missing."""
    room = tokens * BYTES_PER_TOKEN
    if not response.outline or size_of(response) <= room:
        return response
    room -= OWN_WARNING + size_of(response.model_copy(update={"outline": ()}))
    kept = first_fitting(room, response.outline)
    following = response.outline[len(kept)].section_id
    return response.model_copy(update={"outline": tuple(kept), "truncated": True, "next_section_id": following})


def fit_sites(response: DocsSites, tokens: int) -> DocsSites:
    """The first sites that fit."""
    kept = first_fitting(tokens * BYTES_PER_TOKEN - OWN_WARNING, response.sites)
    if not (cut := len(response.sites) - len(kept)):
        return response
    warning = f"{cut} more are left out to fit the reply; search_docs searches these too."
    return response.model_copy(update={"sites": tuple(kept), "warnings": (warning,)})


def fit_docs_status(response: DocsStatus, tokens: int) -> DocsStatus:
    """The first sites that fit, each with its first failures that have room."""
    if size_of(response) <= (room := tokens * BYTES_PER_TOKEN):
        return response
    room -= OWN_WARNING + size_of(response.model_copy(update={"sites": ()}))
    bare = first_fitting(room, [site.model_copy(update={"failures": ()}) for site in response.sites])
    room -= sum(size_of(site) + 1 for site in bare)
    shown: list[DocsSiteStatus] = []
    for left, site in zip(range(len(bare), 0, -1), response.sites, strict=False):
        failures = first_fitting(room // left, site.failures)
        room -= sum(size_of(failure) + 1 for failure in failures)
        shown.append(site.model_copy(update={"failures": tuple(failures)}))
    warning = (
        f"{len(response.sites) - len(shown)} sites and some failures are left out to fit the reply: name one in `site`."
    )
    return response.model_copy(update={"sites": tuple(shown), "message": f"{response.message} {warning}".strip()})
