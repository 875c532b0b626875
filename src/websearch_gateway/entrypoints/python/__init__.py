"""The gateway as a library: `Gateway` for asynchronous programs, `SyncGateway` for all others.

Programs import both from `websearch_gateway`. Heavy parts are loaded when a gateway is opened.
"""
