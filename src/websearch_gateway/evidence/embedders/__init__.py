"""Text embedders (`ports.Embedder`), one file each, and the choice between them; and the reranker (`ports.Reranker`).

To add an embedder, write one file and one branch in `open_embedder`. It must open nothing before the first text.
"""
