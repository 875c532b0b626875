"""Raw search vendors, one small file of pure functions each, in the order of settings/__init__.py; and what they share.

To add one, follow docs/adding-a-provider.md. `base/net/client.py` handles network, retries and errors for all of them.
"""
