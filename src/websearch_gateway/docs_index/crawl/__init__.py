"""From a source of documents to committed pages.

It decides which pages belong to a site, how politely to fetch them, and what happens on a restart.
"""
