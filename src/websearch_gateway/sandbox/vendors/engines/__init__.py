"""Stand-ins for the answer engines besides OpenAI, one file each.

They answer from the sandbox's own pages with its own search, and refuse what the vendors refuse.
"""
