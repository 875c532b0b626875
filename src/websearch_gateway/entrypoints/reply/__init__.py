"""What entrypoints send: results within the size of a reply (MAX_REPLY_TOKENS), however much providers and pages have
sent, and their text for models.

`fitting` cuts a result to a size, `sizes` shares the room; `texts` writes a result for a model, `structured` for a
program; `marks` puts text from the web between marks, and `pages` reads several pages for one reply.
"""
