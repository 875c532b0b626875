"""Imitates Google's Firestore: a proxy before the emulator that fills in the results of transforms.

The emulator leaves `transform_results` empty.
"""

from __future__ import annotations

import asyncio
from collections import Counter

import grpc
from google.cloud.firestore_v1.types import (
    BatchGetDocumentsRequest,
    BatchGetDocumentsResponse,
    CommitRequest,
    CommitResponse,
)

READ = "/google.firestore.v1.Firestore/BatchGetDocuments"


class CountingProxy:
    """Serves on a free port during the block.

    `calls` counts requests by method; the next `aborts` commits lose a race.
    """

    def __init__(self, emulator: str) -> None:
        self._emulator = emulator
        self._one_at_a_time = asyncio.Lock()
        self.calls: Counter[str] = Counter()
        self.aborts = 0
        self.host = ""

    async def __aenter__(self) -> CountingProxy:
        self._channel = grpc.aio.insecure_channel(self._emulator)
        self._server = grpc.aio.server()
        self._server.add_generic_rpc_handlers([_Handlers(self)])
        self.host = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        await self._server.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.stop(None)
        await self._channel.close()

    async def commit(self, request: bytes, context: grpc.aio.ServicerContext) -> bytes:
        async with self._one_at_a_time:
            if self.aborts:
                self.aborts -= 1
                await context.abort(
                    grpc.StatusCode.ABORTED, "Too much contention on these documents."
                )
            try:
                reply = await self._channel.unary_unary("/google.firestore.v1.Firestore/Commit")(
                    request
                )
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details())
            return await self._forward(
                CommitRequest.deserialize(request), CommitResponse.deserialize(reply)
            )

    async def _forward(self, request: CommitRequest, reply: CommitResponse) -> bytes:
        for write, result in zip(request.writes, reply.write_results, strict=True):
            if not write.update_transforms:
                continue
            read = BatchGetDocumentsRequest(
                database=request.database, documents=[write.update.name]
            )
            stream = self._channel.unary_stream(READ)(BatchGetDocumentsRequest.serialize(read))
            (found,) = [BatchGetDocumentsResponse.deserialize(message) async for message in stream]
            result.transform_results = [
                found.found.fields[change.field_path] for change in write.update_transforms
            ]
        return CommitResponse.serialize(reply)

    async def passed_on(
        self, method: str, request: bytes, context: grpc.aio.ServicerContext
    ) -> None:
        async for message in self._channel.unary_stream(method)(request):
            await context.write(message)


class _Handlers(grpc.GenericRpcHandler):
    def __init__(self, proxy: CountingProxy) -> None:
        self._proxy = proxy

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        proxy, method = self._proxy, details.method
        proxy.calls[method.rpartition("/")[2]] += 1
        if method.endswith("/Commit"):
            return grpc.unary_unary_rpc_method_handler(proxy.commit)

        async def pass_on(request: bytes, context: grpc.aio.ServicerContext) -> None:
            await proxy.passed_on(method, request, context)

        return grpc.unary_stream_rpc_method_handler(pass_on)
