"""From a source of documents to committed pages.

It decides which pages belong to a site, how politely to fetch them, and what happens on a restart. To read it, begin
with `runner`, which picks versions and opens their sources; `crawler` is the loop over the frontier of one version, and
`page_work` takes one address from the request to the commit. On the way in they use `sources`, `seeds`, `archives`,
`scope` and `politeness`, on the way out `chunking`, `symbols` and `embedding`.
"""
