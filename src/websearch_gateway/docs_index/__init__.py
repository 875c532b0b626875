"""A searchable index of documentation sites: `crawl` fills it, `store` keeps it, `rank` searches it.

Readers, embedders and the fetcher come in through ports, from `app`.
"""
