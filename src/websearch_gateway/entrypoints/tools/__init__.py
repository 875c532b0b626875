"""The tools as data: name, toolset, arguments, result, and the call of the gateway behind it. The tools of the
toolsets `ops`, `cache` and `admin` are here: how the gateway is doing, what it has stored, and what removes it.

Adding a tool: one argument model, one function, one row in its toolset's tuple. Models read the texts, and every word
costs tokens in every conversation: say when to use the tool, and do not repeat the schema.
"""
