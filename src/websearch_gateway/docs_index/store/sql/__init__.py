"""The store in SQL that SQLite and PostgreSQL both understand; a `Database` covers their differences.

Most modules are functions that take a `Database`, a connection inside a transaction. `docs.SqlDocs` runs them and
implements both ports.
"""
