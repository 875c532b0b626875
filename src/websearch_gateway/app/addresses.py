"""What the operator decides about outgoing requests: the domains to search and to read, the addresses, and the route."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

from websearch_gateway.base import (
    AddressPolicy,
    Outbound,
    admitted,
    domains,
    fake_networks,
    nat64_prefixes,
)
from websearch_gateway.errors import SearchNotConfiguredError, SearchValidationError
from websearch_gateway.models import MOST_DOMAINS
from websearch_gateway.settings.loading import Settings, certificate_folders


@dataclass(frozen=True, slots=True)
class OperatorDomains:
    """What ALLOWED_DOMAINS and BLOCKED_DOMAINS say, as `base.domains` gives it."""

    allowed: tuple[str, ...]
    blocked: tuple[str, ...]

    def admit(self, url: str) -> bool:
        """Whether a page with this address may be shown. One of this machine, which has no host, always may."""
        try:
            if not urlsplit(url).netloc:
                return True
        except ValueError:
            return False
        return admitted(url, self.allowed, self.blocked)

    @classmethod
    def of(cls, settings: Settings) -> OperatorDomains:
        """Raises `SearchNotConfiguredError` if an entry is not a domain or a list is too long."""
        return cls(
            checked_domains("ALLOWED_DOMAINS", settings.allowed_domains),
            checked_domains("BLOCKED_DOMAINS", settings.blocked_domains),
        )


def address_policy(settings: Settings) -> AddressPolicy:
    """Which addresses may be read and shown as links.

    Raises:
        SearchNotConfiguredError: a setting is unusable.
    """
    lists = OperatorDomains.of(settings)
    return AddressPolicy(
        settings.fetch_allow_private_hosts,
        allowed=lists.allowed,
        blocked=lists.blocked,
        fake=fake_networks(settings.fake_ip_networks),
        nat64=nat64_prefixes(settings.nat64_prefixes),
    )


def checked_domains(setting: str, listed: tuple[str, ...]) -> tuple[str, ...]:
    """What a setting says. Raises `SearchNotConfiguredError` if an entry is not a domain."""
    try:
        return domains(setting, listed)
    except SearchValidationError:
        message = f"{setting} must hold at most {MOST_DOMAINS} domains such as example.org, separated by commas."
        raise SearchNotConfiguredError(message) from None


def outbound(settings: Settings) -> Outbound:
    """OUTBOUND_PROXY, CA_BUNDLE, and the environment's proxies if TRUST_ENV is on.

    Raises:
        SearchNotConfiguredError: the environment names folders of certificates, and there are none in them.
    """
    folders = certificate_folders()
    if folders and not any(map(_holds_certificates, folders)):
        raise SearchNotConfiguredError(
            "SSL_CERT_DIR names no folder with certificates under their hashes (c_rehash). Unset it, or give your own "
            "authorities with CA_BUNDLE."
        )
    environment = getproxies_environment() if settings.trust_env else {}
    return Outbound(settings.outbound_proxy, settings.ca_bundle, environment)


_HASHED_NAME = re.compile(r"[0-9a-f]{8}\.\d+")
"""How OpenSSL finds a certificate in a folder (https://docs.openssl.org/3.0/man1/openssl-rehash/)."""


def _holds_certificates(folder: Path) -> bool:
    try:
        return any(_HASHED_NAME.fullmatch(file.name) for file in folder.iterdir())
    except (OSError, ValueError):
        return False
