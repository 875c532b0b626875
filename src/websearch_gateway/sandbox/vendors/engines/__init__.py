"""Stand-ins for the answer engines besides OpenAI, one file each.

They answer from the sandbox's pages with its own search, and refuse the same requests as the vendors.
"""
