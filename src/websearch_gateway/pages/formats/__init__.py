"""The formats of documents: a kind is detected by the declared type, the first bytes and the URL, and has a converter.

A converter is one pure function in the table CONVERTERS; it runs in a worker.
"""
