"""How likely each block of a page belongs to the main text: numbers about it, and boosted trees that read them.

`tools/train_block_filter.py` writes both JSON files. Whoever adds, removes or renames a feature must train them again.
"""
