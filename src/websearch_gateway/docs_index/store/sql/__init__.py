"""The store in SQL that SQLite and PostgreSQL both understand; a `Database` covers their differences."""
