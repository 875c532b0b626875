"""How likely each block of a page belongs to the main text: features of the block, and boosted trees over them.

`tools/train_block_filter.py` writes both JSON files. After adding, removing or renaming a feature, train them again.
"""
