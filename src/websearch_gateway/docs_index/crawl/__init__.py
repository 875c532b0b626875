"""From a source of documents to committed pages.

Which pages belong to a site, how politely they are fetched, and what happens on a restart are decided here.
"""
