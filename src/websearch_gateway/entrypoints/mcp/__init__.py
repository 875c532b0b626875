"""The MCP server over the SDK's low-level `Server`: parse the call, ask the gateway, render the result.

What a tool does is in `entrypoints/tools/`; here are only the protocol's own concerns.
"""
