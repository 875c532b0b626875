"""A plugin for proxy.py that resolves every name below `.example` to this machine."""

from __future__ import annotations

from proxy.http.proxy import HttpProxyBasePlugin


class Names(HttpProxyBasePlugin):
    def resolve_dns(self, host: str, port: int) -> tuple[str | None, None]:
        return ("127.0.0.1" if host.endswith(".example") else None), None
