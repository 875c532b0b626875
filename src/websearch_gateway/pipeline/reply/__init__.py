"""Fits results into the size of a reply (MAX_REPLY_TOKENS), however much providers and pages have sent.

Everything here is pure and works on the models of `results/`. A new kind of result needs a function here, which its
tool calls before it marks text as untrusted.
"""
