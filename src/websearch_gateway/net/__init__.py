"""Outgoing HTTP: address guard, pinned dialling, byte caps, deadlines, the error map and the one retry place."""
