"""Outgoing HTTP: address policy, pinned dialling, byte caps, deadlines, the error map and repeated requests.

Every outside call goes through here, those of SDKs too. `fetch.py` translates the exceptions of httpx2 and httpcore2.
"""
