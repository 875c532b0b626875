"""A searchable index of documentation sites: `crawl` fills it, `store` keeps it, `search` searches it.

To read the code, begin with `models`, the values and interfaces. `library` is the API for the
entrypoints and makes the replies of the tools. `transfer` exports and imports versions.

Readers, embedders and the fetcher come in through ports, from `app`.
"""
