"""The five stages of a search. Read search.py first."""
