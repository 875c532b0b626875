"""The store for several machines: PostgreSQL with the extension `vector` (https://github.com/pgvector/pgvector).

Only what PostgreSQL does its own way is here: connections, tables, text and vectors; the rest is in `sql/`.
"""
