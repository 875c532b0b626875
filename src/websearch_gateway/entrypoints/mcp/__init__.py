"""The MCP server over the SDK's low-level `Server`: parse the call, ask the gateway, render the result.

`server` makes it and handles requests, `rendering` makes the replies to calls, and `clients` knows what each client
shows of them; `schemas` and `prompts` are what it lists, `changes` tells clients of a new list of tools; `stdio` serves
one client over a pipe, and `messages` repairs or refuses what the SDK cannot read. Over HTTP
`entrypoints/http/app.py` serves it. What a tool does is in `entrypoints/tools/`.
"""
