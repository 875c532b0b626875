"""Logs, statistics, telemetry and traces.

They record names, codes, numbers and hosts; never a query, an answer, a key, a user or a URL.
"""
