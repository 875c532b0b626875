"""Removes from a parsed page what a person does not see: an own CSS engine of bounded, linear cost.

A change needs a page in tests/readers/visibility that hides text, and one that must keep its text.
"""
