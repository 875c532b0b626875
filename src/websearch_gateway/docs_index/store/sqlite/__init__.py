"""The default store: one file, text search by FTS5, vectors compared in memory.

Only what is specific to SQLite is here: the file, its tables, text and vectors; the rest is in `sql/`.
"""
