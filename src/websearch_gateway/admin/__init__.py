"""What operators use: doctor, statistics, cache inspection and clearing, migration between state backends.

Each operation is one file that the entrypoints call through the Gateway. Nothing here runs within a search.
"""
