"""What the operator decides about addresses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from websearch_gateway.app.addresses import OperatorDomains, checked_domains, outbound
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings.loading import Settings


@pytest.mark.parametrize(
    ("url", "is_admitted"),
    [
        ("https://docs.example.org/page", True),
        ("https://old.example.org/page", False),
        ("https://example.com/page", False),
        ("https://example.org.evil.test/", False),
        ("file:///usr/share/doc/page.html", True),
        ("https://[example.org/", False),
        ("https://", True),
    ],
)
def test_pages_of_the_allowed_domains_are_shown_without_the_blocked_ones(
    url: str, is_admitted: bool
) -> None:
    domains = OperatorDomains(allowed=("example.org",), blocked=("old.example.org",))
    assert domains.admit(url) is is_admitted


@pytest.mark.parametrize("setting", ["ALLOWED_DOMAINS", "BLOCKED_DOMAINS"])
def test_what_is_no_domain_is_told_by_its_setting(setting: str) -> None:
    with pytest.raises(SearchNotConfiguredError, match=f"{setting} must hold at most"):
        OperatorDomains.of(Settings(**{setting.lower(): ("exa mple",)}))


def test_a_list_of_too_many_domains_is_refused() -> None:
    hundreds = tuple(f"site{number}.example" for number in range(500))
    with pytest.raises(SearchNotConfiguredError, match="PROVENANCE_DOMAINS"):
        checked_domains("PROVENANCE_DOMAINS", hundreds)


@pytest.mark.parametrize("folder", ["missing", "", "file"])
def test_a_folder_of_certificates_without_any_is_told_by_the_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)  # which goes first
    monkeypatch.setenv("SSL_CERT_DIR", f"{tmp_path / folder}{os.pathsep}/nowhere")
    with pytest.raises(SearchNotConfiguredError, match="SSL_CERT_DIR"):
        outbound(Settings())
    (tmp_path / "0a1b2c3d.0").write_text("")
    monkeypatch.setenv("SSL_CERT_DIR", f"/nowhere{os.pathsep}{tmp_path}")
    outbound(Settings())
