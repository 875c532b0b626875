"""The store for several machines: PostgreSQL with the extension `vector` (https://github.com/pgvector/pgvector).

This folder has only the parts that are specific to PostgreSQL: connections, tables, text and vectors. The rest is in
`sql/`.
"""
