"""What the state and the documentation index share of SQLite and PostgreSQL: opening, and bringing up to date."""
