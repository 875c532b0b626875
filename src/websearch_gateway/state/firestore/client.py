"""The connection to Firestore. The first verb opens it, off the event loop."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any

from websearch_gateway.state.firestore.record import document_id, kind_of

if TYPE_CHECKING:
    from google.api_core.retry import AsyncRetry
    from google.cloud.firestore import AsyncClient, AsyncCollectionReference, AsyncDocumentReference, AsyncWriteBatch


def load() -> tuple[type[Exception], ...]:
    """Import the library, and return its exceptions: API errors, missing credentials, broken connections."""
    import google.cloud.firestore  # noqa: F401
    from google.api_core.exceptions import GoogleAPIError
    from google.auth.exceptions import GoogleAuthError
    from grpc import RpcError

    return GoogleAPIError, GoogleAuthError, RpcError


@functools.cache
def contention() -> AsyncRetry:
    """The retry policy for writes.

    A request that ends with ABORTED lost a race and wrote nothing, so a retry is safe
    (https://cloud.google.com/firestore/docs/understand-error-codes). After other failures the write may have happened,
    and an increment must not happen twice. The caller's timeout bounds all attempts.
    """
    from google.api_core.exceptions import Aborted
    from google.api_core.retry import AsyncRetry, if_exception_type

    return AsyncRetry(if_exception_type(Aborted), initial=0.02, maximum=0.5)


class FirestoreClient:
    """Collections and documents of one prefix. Belongs to one event loop.

    Retries only writes that lost a race; gRPC itself repeats requests that never left this process.

    Args:
        project: the Google Cloud project.
        prefix: the beginning of the names of our collections. The collection with exactly this name is the registry of
            kinds, with one document each, since not every server can list collections.
    """

    def __init__(self, project: str, prefix: str) -> None:
        self._project = project
        self._prefix = prefix
        self._opening: asyncio.Task[AsyncClient] | None = None
        self._registered: set[str] = set()

    async def collection(self, kind: str) -> AsyncCollectionReference:
        """The collection with the entries of a kind."""
        return (await self.opened()).collection(f"{self._prefix}_{kind}")

    async def document(self, key: str, suffix: str = "") -> AsyncDocumentReference:
        """The document of an entry; with a suffix, a further document of the entry, in the same collection."""
        return (await self.collection(kind_of(key))).document(document_id(key) + suffix)

    async def batch(self) -> AsyncWriteBatch:
        """A new batch of writes, which is atomic."""
        return (await self.opened()).batch()

    async def kinds(self) -> set[str]:
        """Every kind that has, or once had, an entry."""
        registry = (await self.opened()).collection(self._prefix)
        return {document.id for document in await registry.get(retry=None)}

    async def create(self, batch: AsyncWriteBatch, key: str) -> list[Any]:
        """Commit a batch that creates the entry of `key`; the first entry of a kind also registers the kind."""
        kind = kind_of(key)
        if kind not in self._registered:
            batch.set((await self.opened()).collection(self._prefix).document(kind), {"kind": kind})
        results = await batch.commit(retry=contention())
        self._registered.add(kind)
        return results

    async def opened(self) -> AsyncClient:
        """The library's client. If a caller stops waiting, opening it continues for the next caller."""
        if self._opening is None or (self._opening.done() and self._opening.exception()):
            self._opening = asyncio.create_task(asyncio.to_thread(_open, self._project))
        return await asyncio.shield(self._opening)

    async def close(self) -> None:
        """Close the connection, if there is one."""
        if self._opening is None:
            return
        await asyncio.wait({self._opening})
        if not self._opening.exception():
            client = self._opening.result()
            await client._firestore_api.transport.close()  # the library has no public method for this


def _open(project: str) -> AsyncClient:
    """Blocking: reads credentials from files, or from the machine's metadata server."""
    from google.cloud.firestore import AsyncClient

    return AsyncClient(project=project)
