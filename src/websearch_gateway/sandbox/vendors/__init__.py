"""Stand-ins for the vendors: each `Vendor` in a module of this folder, and `stand_in` for every other search provider.

They refuse the same requests as the real APIs, with the same bodies: a change quotes the vendor's documentation.
`stand_in` serves the vendor's recorded reply. It accepts any path and method and requires the key in some header or
parameter. The reply's hits get URLs of matching sandbox pages, so that a gateway can read them.
"""
