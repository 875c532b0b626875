"""Vectors in LanceDB tables: in a folder, or in a bucket that other readers can search without a server. The table
`vectors` of the store is the source of truth: a lost folder is rebuilt from it.
"""
