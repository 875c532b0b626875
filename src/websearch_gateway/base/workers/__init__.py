"""The main loop of a worker process, which answers one request after another until its input ends.

A request is a pickle (the parent is trusted), a reply is JSON (a page may have taken over the worker). Each is a frame:
the length in eight bytes, then the payload. Bytes arguments follow the request in further frames.
"""
