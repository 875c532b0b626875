"""The store in SQL that SQLite and PostgreSQL both understand; a `Database` covers their differences.

Functions of a `Database` inside a transaction, and `SqlDocs`, which runs them and implements both ports.
"""
