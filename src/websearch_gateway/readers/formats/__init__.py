"""Readers of document formats: HTML, PDF, feeds, CSV, JSON, plain text, llms.txt.

A format is one pure function in the table CONVERTERS of `kinds.py`; it runs in a worker.
"""
