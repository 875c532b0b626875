"""The operator's choices for outgoing requests: domains to search and to read, and the route."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

from websearch_gateway.errors import SearchNotConfiguredError, SearchValidationError
from websearch_gateway.net.address import AddressPolicy
from websearch_gateway.net.outbound import Outbound
from websearch_gateway.settings import Settings
from websearch_gateway.text.urls import MOST_DOMAINS, admitted, domains


@dataclass(frozen=True, slots=True)
class OperatorDomains:
    """What ALLOWED_DOMAINS and BLOCKED_DOMAINS say, as `text.urls.domains` gives it."""

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
            _checked("ALLOWED_DOMAINS", settings.allowed_domains), _checked("BLOCKED_DOMAINS", settings.blocked_domains)
        )


def address_policy(settings: Settings) -> AddressPolicy:
    """Which addresses may be read and shown as links.

    Raises:
        SearchNotConfiguredError: a setting is unusable.
    """
    lists = OperatorDomains.of(settings)
    return AddressPolicy(settings.fetch_allow_private_hosts, allowed=lists.allowed, blocked=lists.blocked)


def trusted_domains(settings: Settings) -> tuple[str, ...]:
    """What PROVENANCE_DOMAINS says. Raises `SearchNotConfiguredError` if an entry is not a domain."""
    return _checked("PROVENANCE_DOMAINS", settings.provenance_domains)


def _checked(setting: str, given: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return domains(setting, given)
    except SearchValidationError:
        message = f"{setting} must hold at most {MOST_DOMAINS} domains such as example.org, separated by commas."
        raise SearchNotConfiguredError(message) from None


def outbound(settings: Settings) -> Outbound:
    """OUTBOUND_PROXY, the environment's proxies if TRUST_ENV is on, and CA_BUNDLE."""
    environment = getproxies_environment() if settings.trust_env else {}
    return Outbound(settings.outbound_proxy, environment, settings.ca_bundle)
