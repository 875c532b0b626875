"""Renders pages that need their scripts, in a Chromium that cannot reach the network by itself.

Every request of a page goes through our own fetcher. After a change run tests/readers/browser with its escape tests.
"""
