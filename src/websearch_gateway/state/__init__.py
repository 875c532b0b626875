"""Backends for the five verbs of ports.State."""
