"""Crawls sites: takes documents from a web server, a folder or an archive, and commits them as pages.

The crawl decides which pages belong to a site and how politely to fetch them. A killed crawl resumes where it stopped.
To read the code, begin with `runner`: it picks versions, opens their sources and loops over the frontier of each.
`page_work` takes one address from the request to the commit.

- Input: `sources` fetches, and limits the requests to a host; `listing` parses the lists of pages that a site
  publishes, lists folders and unpacks archives; `scope` says which addresses belong to a site.
- Output: `chunking` cuts a page and finds the names that it defines.
"""
