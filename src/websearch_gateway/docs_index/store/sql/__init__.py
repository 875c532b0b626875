"""The store in SQL that SQLite and PostgreSQL both understand; what they do differently is a `Database`'s business.

Functions of a `Database` inside a transaction, and `SqlDocs`, which runs them and implements both ports.
"""
