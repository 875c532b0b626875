"""Vectors in LanceDB tables: a folder, or a bucket that readers without a server of their own search too.

It follows the table `vectors` of the store, which stays the truth: a lost folder is made again from it.
"""
