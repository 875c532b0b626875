"""The default store: one file, text search by FTS5, vectors compared in memory.

This folder has only the parts that are specific to SQLite: the file, its tables, text and vectors. The rest is in
`sql/`.
"""
