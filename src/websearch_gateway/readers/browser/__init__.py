"""Pages that scripts fill, rendered in Chromium that cannot reach the network by itself.

Every request of a page passes our own fetcher. After a change run tests/readers/browser with its escape tests.
"""
