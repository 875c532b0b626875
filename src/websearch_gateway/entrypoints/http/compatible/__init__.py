"""Endpoints that speak the wire formats of Tavily, SearXNG, Open WebUI and OpenAI, for apps that know only those.

Each endpoint is a row of a table: its paths, the scope that it needs, the shape of its errors and the function that
answers. That one parses leniently (unknown fields are ignored, absent and null are the same), calls the gateway, and
renders the fields without which that API's clients break.
"""
