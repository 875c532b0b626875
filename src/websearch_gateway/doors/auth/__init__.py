"""Who is asking over HTTP: bearer tokens, their keys and their scopes."""
