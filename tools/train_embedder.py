"""Train the static embedder: word-piece vectors whose sum imitates the sentence vectors of all-MiniLM-L6-v2.

1. Vocabulary: the teacher's word pieces in Latin script, and the frequent words of the texts that it would cut up.
2. Start: the teacher's vector of every piece alone, projected on the principal axes of the sentence vectors (what
   model2vec calls distillation), weighted by how rare the piece is.
3. Regression: Adam on the cosine between a text's sum and its sentence vector.
4. int8 with one scale per piece, written as `vectors.npy`, `scales.npy` and `vocab.txt`.

`tools/README.md` shows how to get the inputs. Runs with the same inputs and seed give the same model::

    python tools/train_embedder.py --teacher MODEL_FOLDER --texts texts.txt --vectors vectors.f16 --out FOLDER
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
import unicodedata
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from torch.nn.functional import embedding_bag, normalize

from websearch_gateway.evidence.embedders.local import UNKNOWN, WordPieces

DIMENSIONS = 256
FOREIGN = (
    "CJK",
    "KATAKANA",
    "HIRAGANA",
    "ARABIC",
    "CYRILLIC",
    "BENGALI",
    "DEVANAGARI",
    "HANGUL",
    "HEBREW",
    "ARMENIAN",
)
FOREIGN += (
    "TAMIL",
    "GEORGIAN",
    "THAI",
    "TIBETAN",
    "SINHALA",
    "KANNADA",
    "FULLWIDTH",
    "IDEOGRAPHIC",
)
HELD_OUT = 4096


class Bags(NamedTuple):
    """Texts as bags of pieces: text `i` holds `pieces[starts[i]:starts[i + 1]]`."""

    pieces: NDArray[np.int64]
    starts: NDArray[np.int64]

    def batch(self, rows: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
        """The pieces of some texts, end to end, and where each begins: the arguments of `embedding_bag`."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        flat = np.arange(lengths.sum()) - np.repeat(offsets - self.starts[rows], lengths)
        return torch.from_numpy(self.pieces[flat]), torch.from_numpy(offsets)


def is_kept(piece: str) -> bool:
    """Whether a piece of the teacher's vocabulary is Latin, a sign, or a single Greek letter; not a placeholder."""
    if piece.startswith("[unused") or piece in {"[CLS]", "[SEP]", "[MASK]", "[PAD]"}:
        return False
    names = (unicodedata.name(letter, "") for letter in piece.removeprefix("##"))
    foreign = (*FOREIGN, "GREEK") if piece.startswith("##") else FOREIGN
    return not any(name.startswith(foreign) for name in names)


def choose_vocabulary(teacher: SentenceTransformer, texts: list[str], size: int) -> list[str]:
    """The kept pieces in the teacher's order, then whole words that it splits, the most frequent first."""
    backend = teacher.tokenizer.backend_tokenizer
    ids = teacher.tokenizer.get_vocab()
    kept = [piece for piece in sorted(ids, key=ids.__getitem__) if is_kept(piece)]
    known, words = set(kept), Counter[str]()
    for text in texts:
        normal = backend.normalizer.normalize_str(text)
        words.update({word for word, _ in backend.pre_tokenizer.pre_tokenize_str(normal)})
    added = (
        w
        for w, n in words.most_common()
        if n >= 20 and w not in known and w.isascii() and w.isalpha()
    )
    return kept + [word for word, _ in zip(added, range(size - len(kept)), strict=False)]


def tokenize(texts: list[str], vocabulary: Path) -> Bags:
    """The pieces of every text, cut as the embedder cuts it."""
    pieces_of = WordPieces(vocabulary)
    found = [[piece for piece in pieces_of(text) if piece != UNKNOWN] for text in texts]
    starts = np.concatenate([[0], np.cumsum([len(ids) for ids in found])])
    return Bags(np.fromiter((i for ids in found for i in ids), np.int64), starts)


def principal_axes(vectors: NDArray[np.float16]) -> NDArray[np.float32]:
    """The projection (width, DIMENSIONS) that keeps most of the inner products of the sentence vectors."""
    some = vectors[:100_000].astype(np.float32)
    _, axes = np.linalg.eigh(some.T @ some)
    return np.ascontiguousarray(axes[:, ::-1][:, :DIMENSIONS])


def distil(
    teacher: SentenceTransformer, vocabulary: list[str], bags: Bags, axes: NDArray[np.float32]
) -> torch.Tensor:
    """The initial table: the teacher's vector of every piece alone, times a / (a + frequency)."""
    words = [piece.removeprefix("##") for piece in vocabulary]
    alone = teacher.encode(words, batch_size=256, convert_to_numpy=True) @ axes
    frequency = np.bincount(bags.pieces, minlength=len(vocabulary)) / len(bags.pieces)
    weight = 1e-3 / (1e-3 + frequency)
    return torch.from_numpy((alone * weight[:, None]).astype(np.float32))


def embed(table: torch.Tensor, bags: Bags, rows: NDArray[np.int64]) -> torch.Tensor:
    """Unit vectors of some texts."""
    pieces, offsets = bags.batch(rows)
    return normalize(embedding_bag(pieces, table, offsets, mode="sum"), dim=1)


def fidelity(
    table: torch.Tensor, bags: Bags, wanted: torch.Tensor, rows: NDArray[np.int64]
) -> tuple[float, float]:
    """On held-out texts: the mean cosine with the teacher, and the correlation of both cosines of near pairs."""
    with torch.no_grad():
        found = embed(table, bags, rows)
        theirs = wanted @ wanted.T
        theirs.fill_diagonal_(-1)
        near = theirs > 0.3
        pairs = torch.stack([(found @ found.T)[near], theirs[near]])
        cosine = (found * normalize(wanted, dim=1)).sum(1).mean()
        return float(cosine), float(torch.corrcoef(pairs)[0, 1])


def regress(
    table: torch.Tensor,
    bags: Bags,
    vectors: NDArray[np.float16],
    axes: NDArray[np.float32],
    args: argparse.Namespace,
) -> torch.Tensor:
    """Adam with a linearly falling step, on the texts that are not held out."""
    rng = np.random.default_rng(args.seed)
    projection = torch.from_numpy(axes)
    held = np.arange(HELD_OUT)
    held_wanted = torch.from_numpy(vectors[held].astype(np.float32)) @ projection
    training = np.arange(HELD_OUT, len(vectors))
    training = training[np.diff(bags.starts)[training] > 0]
    table = table.clone().requires_grad_()
    optimizer = torch.optim.Adam([table], lr=args.rate)
    steps = args.epochs * (len(training) // args.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: max(0.02, 1 - step / steps)
    )
    started = time.monotonic()
    for epoch in range(args.epochs):
        order = rng.permutation(training)[: len(training) // args.batch * args.batch]
        for rows in order.reshape(-1, args.batch):
            wanted = torch.from_numpy(vectors[rows].astype(np.float32)) @ projection
            loss = 1 - (embed(table, bags, rows) * normalize(wanted, dim=1)).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        cosine, near = fidelity(table.detach(), bags, held_wanted, held)
        took = time.monotonic() - started
        print(
            f"epoch {epoch + 1}: held out: cosine {cosine:.4f}, near pairs {near:.4f} ({took:.0f} s)",
            flush=True,
        )
    return table.detach()


def quantize(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """int8 rows and a scale each."""
    scales = np.maximum(np.abs(table).max(axis=1), 1e-12).astype(np.float32) / 127
    return np.rint(table / scales[:, None]).astype(np.int8), scales


def correlations(table: NDArray[np.float32], vocabulary: Path, path: Path) -> tuple[float, float]:
    """Spearman's and Pearson's correlation with human judgement on a gzipped JSON list of [text, text, score]."""
    pairs = json.loads(gzip.decompress(path.read_bytes()))
    rows, tensor = np.arange(len(pairs)), torch.from_numpy(table)
    left, right = (
        embed(tensor, tokenize([p[side] for p in pairs], vocabulary), rows).numpy()
        for side in (0, 1)
    )
    ours, theirs = (left * right).sum(1), np.array([p[2] for p in pairs], dtype=float)

    def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
        _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
        return (np.cumsum(counts) - (counts - 1) / 2)[where]

    return float(np.corrcoef(ranks(ours), ranks(theirs))[0, 1]), float(
        np.corrcoef(ours, theirs)[0, 1]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--teacher", required=True, help="folder of the sentence-transformers model"
    )
    parser.add_argument("--texts", type=Path, required=True, help="one text per line")
    parser.add_argument(
        "--vectors", type=Path, required=True, help="their vectors, from embed_texts.py"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--stsb",
        type=Path,
        help="gzipped JSON of [text, text, score], only to report a correlation",
    )
    parser.add_argument("--pieces", type=int, default=30_000, help="size of the vocabulary")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    teacher = SentenceTransformer(args.teacher, device="cpu")
    width = teacher.encode(["width"]).shape[1]
    vectors = np.fromfile(args.vectors, np.float16).reshape(-1, width)
    texts = args.texts.read_text(encoding="utf-8").splitlines()[: len(vectors)]
    args.out.mkdir(parents=True, exist_ok=True)
    vocabulary = choose_vocabulary(teacher, texts, args.pieces)
    (args.out / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    bags = tokenize(texts, args.out / "vocab.txt")
    axes = principal_axes(vectors)
    start = distil(teacher, vocabulary, bags, axes)
    table = regress(start, bags, vectors, axes, args).numpy()
    rows, scales = quantize(table)
    np.save(args.out / "vectors.npy", rows)
    np.save(args.out / "scales.npy", scales)
    if args.stsb:
        for name, numbers in (
            ("start", start.numpy()),
            ("float", table),
            ("int8", rows * scales[:, None]),
        ):
            spearman, pearson = correlations(numbers, args.out / "vocab.txt", args.stsb)
            print(f"{name}: STS-B Spearman {spearman:.4f}, Pearson {pearson:.4f}")


if __name__ == "__main__":
    main()
