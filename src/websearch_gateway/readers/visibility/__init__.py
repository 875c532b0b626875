"""Removes invisible text from a parsed page, with our own CSS engine of bounded, linear cost.

With each change add a page to tests/readers/visibility that hides text, and one that must keep its text.
"""
