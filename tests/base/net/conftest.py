"""A raw loopback server that sends exactly the bytes that a test wants."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest

from tests.loopback import Handler as Script
from tests.loopback import serving


@dataclass
class RawServer:
    """A running server: its port, each request head that it received, and when a client disconnected."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def pair(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.pair}{path}"


class Serve(Protocol):
    """Starts a server that reads a request head and sends the given bytes, or runs the given script."""

    async def __call__(
        self, answer: bytes | Script, tls: ssl.SSLContext | None = None
    ) -> RawServer: ...


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Loopback servers that stop with the test."""
    async with contextlib.AsyncExitStack() as running:

        async def start(answer: bytes | Script, tls: ssl.SSLContext | None = None) -> RawServer:
            server = RawServer()

            async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                try:
                    server.requests.append(await reader.readuntil(b"\r\n\r\n"))
                    if isinstance(answer, bytes):
                        writer.write(answer)
                        await writer.drain()
                    else:
                        await answer(reader, writer)
                finally:
                    server.gone.set()

            server.port = await running.enter_async_context(serving(connected, tls))
            return server

        yield start


def page(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A well-formed reply."""
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def issue(tmp_path: Path, name: str) -> tuple[Path, ssl.SSLContext]:
    """A self-signed certificate for `name`, and a server context that presents it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, secret = tmp_path / f"{name}.pem", tmp_path / f"{name}.key"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, secret)
    return pem, context
