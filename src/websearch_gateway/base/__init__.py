"""What every house stands on: text, addresses, dates, outgoing HTTP, worker processes and SQL.

- Text is pure: no network, no clock, no SDK. `carried_data`, `markdown`, `tokenization`, `urls`, `dates`, `hits`, `notes`,
  `query`, `routes`, `same_page`, `sanitise` and `secrets` take strings and return values, in time linear in their input.
- `net` is the only way out. Everything it sends goes to an address that was checked and then dialled, under a deadline
  and a cap on bytes; it maps every foreign exception to the error tree once.
- `workers` runs work whose size a stranger chooses, in a process that is killed at its limits.
- `memory` bounds what all caches of a process hold, by bytes.
- `sql` opens and migrates SQLite and PostgreSQL.

To change how a request leaves the process, begin with `net/fetch.py` (pages) or `net/client.py` (APIs). Nothing here
knows of providers, engines, readers or tools.
"""

from typing import TYPE_CHECKING

from websearch_gateway.faces import lazy

if TYPE_CHECKING:
    from websearch_gateway.base.carried_data import (
        LEAST_CHARACTERS,
        addresses_with_data,
        carried_characters,
        carries_data,
        identity,
    )
    from websearch_gateway.base.dates import (
        MONTHS,
        bucket,
        in_words,
        iso_date,
        month_named,
        spoken_date,
        utc_now,
    )
    from websearch_gateway.base.hits import (
        is_unrelated,
        linked,
        make_hit,
        one_line,
        opening,
        records,
    )
    from websearch_gateway.base.markdown import (
        LINK,
        Block,
        as_user_text,
        blocks,
        code_blocks,
        item_marker_end,
        lines,
        plain,
        prose_sentences,
        sentences_of,
        split_sentences,
        without_comments,
        word_set,
    )
    from websearch_gateway.base.memory import CacheMemory, SharedCache
    from websearch_gateway.base.net.address import AddressPolicy
    from websearch_gateway.base.net.bodies import (
        MAX_BYTES,
        MAX_REPLY_BYTES,
        ReplyParser,
        adapter,
        give_way,
        in_cache_thread,
        in_own_thread,
        in_own_thread_if_large,
        without_key,
    )
    from websearch_gateway.base.net.charsets import charset_of, decode, decoded
    from websearch_gateway.base.net.client import HttpSearcher, Reply, billed, create_client, send
    from websearch_gateway.base.net.failures import mapped_errors, refusal_of, unavailable
    from websearch_gateway.base.net.fetch import (
        ACCEPT_PAGE,
        PRODUCT,
        Fetched,
        Fetcher,
        Fetching,
        seconds_until_reset,
        user_agent,
    )
    from websearch_gateway.base.net.outbound import Outbound
    from websearch_gateway.base.net.public_addresses import fake_networks, nat64_prefixes
    from websearch_gateway.base.net.requests import (
        TRACER,
        UNRECORDED,
        Retry,
        child_span,
        note_host,
        note_reply,
        note_status,
        note_tokens,
        noting_model,
        outcome_of,
        parse_retry_after,
        recorded,
    )
    from websearch_gateway.base.notes import (
        UNSEEN_LEFT_OUT,
        nearest,
        no_answer,
        nothing_found,
        reason,
        unreadable_note,
    )
    from websearch_gateway.base.query import (
        LANGUAGES,
        LONGEST_RAW_QUERY,
        checked_query,
        country_code,
        country_name,
        language_code,
        matching_form,
        normalise,
    )
    from websearch_gateway.base.routes import Route, built_in_routes, repeats_a_repetition
    from websearch_gateway.base.same_page import is_advertisement, page_key, target_of
    from websearch_gateway.base.sanitise import (
        clean_markdown,
        code_pieces,
        cut_message,
        invisible_pieces,
        quoted_line,
        reads_like_orders,
        shown_url,
        strip_invisible_characters,
        suspicious,
        unshown_pieces,
        without_live_parts,
        without_orders,
        wrap_untrusted,
    )
    from websearch_gateway.base.secrets import (
        credential_error,
        credential_kind,
        credential_kind_in_address,
    )
    from websearch_gateway.base.sql import (
        CONNECTION,
        Step,
        code,
        created,
        is_damaged,
        is_locked,
        migrate,
        migration,
        opened,
        quieten,
    )
    from websearch_gateway.base.tokenization import (
        MARKS,
        STOP_WORDS,
        UNSPACED,
        estimate_tokens,
        fold,
        has_unspaced,
        is_character,
        language_of,
        query_terms,
        split_cjk,
        stems,
        tokens,
        tokens_of_each,
        words,
    )
    from websearch_gateway.base.urls import (
        PUNCTUATION,
        admitted,
        canonical,
        crawl_delay,
        domains,
        find_urls,
        host,
        is_web_address,
        may_read,
        may_read_each,
        narrowed,
        one_list,
        page_in,
        quote_url,
        refused_by,
        refused_use,
        rules_for,
        strip_trackers,
        tracker_pieces,
        with_scheme,
        with_sites,
    )
    from websearch_gateway.base.workers.pool import WORKING_FOR, FairQueue, Workers
    from websearch_gateway.base.workers.worker import Limits, prepare
else:
    __getattr__, __all__ = lazy(__spec__)
