"""The store for several machines: PostgreSQL with the extension `vector` (https://github.com/pgvector/pgvector).

Only what is specific to PostgreSQL is here: connections, tables, text and vectors; the rest is in `sql/`.
"""
