"""Outgoing HTTP: address guard, pinned dialling, byte caps, deadlines, the error map and the one retry place.

Every outside call of the package goes through here, the SDKs' included. httpx2's exceptions end in `errors.py`.
"""
