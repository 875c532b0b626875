"""The transformer in numpy against a much simpler one, with made-up weights, and with the real ones."""

from __future__ import annotations

import importlib.util
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.evidence.embedders.local import (
    MOST_FUSED,
    MOST_WINDOWS,
    PACKAGE,
    WINDOW,
    NeuralEmbedder,
    NeuralReranker,
    model_folder,
)
from websearch_gateway.models import Call

WIDTH, INNER = 24, 32
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "moon", "makes", "tide", "##s", "."]
SHAPES = {
    "embeddings.word_embeddings.weight": (len(PIECES), WIDTH),
    "embeddings.position_embeddings.weight": (WINDOW + 2, WIDTH),
    "embeddings.token_type_embeddings.weight": (2, WIDTH),
    "embeddings.LayerNorm.weight": (WIDTH,),
    "embeddings.LayerNorm.bias": (WIDTH,),
    **{
        f"encoder.layer.{layer}.{name}.{part}": shape if part == "weight" else shape[:1]
        for layer in range(6)
        for name, shape in {
            "attention.self.query": (WIDTH, WIDTH),
            "attention.self.key": (WIDTH, WIDTH),
            "attention.self.value": (WIDTH, WIDTH),
            "attention.output.dense": (WIDTH, WIDTH),
            "attention.output.LayerNorm": (WIDTH,),
            "intermediate.dense": (INNER, WIDTH),
            "output.dense": (WIDTH, INNER),
            "output.LayerNorm": (WIDTH,),
        }.items()
        for part in ("weight", "bias")
    },
}


@pytest.fixture(scope="module")
def weights() -> dict[str, np.ndarray]:
    random = np.random.default_rng(7)
    return {name: random.normal(0, 0.5, shape).astype("<f4") for name, shape in SHAPES.items()}


@pytest.fixture(scope="module")
def folder(weights: dict[str, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like that of the real model: the safetensors format, and a tokenizer."""
    folder = tmp_path_factory.mktemp("model")
    index, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in weights.items():
        index[name] = {
            "dtype": "F32",
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + tensor.nbytes],
        }
        offset += tensor.nbytes
    head = json.dumps(index).encode()
    head += b" " * (-len(head) % 8)
    body = b"".join(tensor.tobytes() for tensor in weights.values())
    (folder / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + body)
    tokenizer = Tokenizer(WordPiece({piece: n for n, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_truncation(16)  # as the real one comes, with what does not suit us
    tokenizer.enable_padding(length=16)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture
def embedder(folder: Path) -> NeuralEmbedder:
    small = NeuralEmbedder(folder)
    small.dimensions = WIDTH
    return small


def reference(weights: dict[str, np.ndarray], tokens: list[int]) -> np.ndarray:
    """The plain transformer: in double precision and with the exact error function."""
    w = {name: tensor.astype(float) for name, tensor in weights.items()}

    def dense(name: str, x: np.ndarray) -> np.ndarray:
        return np.array([w[f"{name}.weight"] @ row + w[f"{name}.bias"] for row in x])

    def norm(name: str, x: np.ndarray) -> np.ndarray:
        rows = [(row - row.mean()) / math.sqrt(row.var() + 1e-12) for row in x]
        return np.array([row * w[f"{name}.weight"] + w[f"{name}.bias"] for row in rows])

    def gelu(x: float) -> float:
        return x * (1 + math.erf(x / math.sqrt(2))) / 2

    x = np.array(
        [
            w["embeddings.word_embeddings.weight"][token]
            + w["embeddings.position_embeddings.weight"][place]
            + w["embeddings.token_type_embeddings.weight"][0]
            for place, token in enumerate(tokens)
        ]
    )
    x = norm("embeddings.LayerNorm", x)
    for layer in (f"encoder.layer.{number}" for number in range(6)):
        q, k, v = (dense(f"{layer}.attention.self.{role}", x) for role in ("query", "key", "value"))
        mixed = np.zeros_like(x)
        for head in range(12):
            part = slice(2 * head, 2 * head + 2)
            for place in range(len(x)):
                raw = np.exp([q[place, part] @ k[other, part] / math.sqrt(2) for other in range(len(x))])
                mixed[place, part] = raw / raw.sum() @ v[:, part]
        x = norm(f"{layer}.attention.output.LayerNorm", dense(f"{layer}.attention.output.dense", mixed) + x)
        inner = np.vectorize(gelu)(dense(f"{layer}.intermediate.dense", x))
        x = norm(f"{layer}.output.LayerNorm", dense(f"{layer}.output.dense", inner) + x)
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


def test_the_vector_is_that_of_the_plain_transformer(embedder: NeuralEmbedder, weights: dict[str, np.ndarray]) -> None:
    (vector,) = embedder.encode(["The moon makes tides."])
    assert vector == pytest.approx(reference(weights, [2, 4, 5, 6, 7, 8, 9, 3]), abs=2e-5)


async def test_a_vector_depends_on_nothing_but_its_text(embedder: NeuralEmbedder) -> None:
    texts = ["the moon", "tides", "", "the moon makes the tides."]
    together = await embedder.embed(texts, "document")
    assert np.linalg.norm(together, axis=1) == pytest.approx([1, 1, 0, 1], abs=1e-6)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal((await embedder.embed([text], "query"))[0], vector)
    assert (await embedder.embed([], "query")).shape == (0, WIDTH)


def test_a_long_text_is_the_mean_of_windows_of_one_length(embedder: NeuralEmbedder) -> None:
    half = "moon tide " * 100  # 200 pieces, so that two of them make two windows
    one, both = embedder.encode([half, half + half])
    assert both == pytest.approx(one, abs=1e-5)
    end = embedder.encode([half + "makes " * 200])[0]
    assert np.abs(end - one).max() > 1e-4


def test_text_beyond_the_last_window_is_not_read(embedder: NeuralEmbedder) -> None:
    whole = "moon " * (WINDOW * MOST_WINDOWS)
    one, other = embedder.encode([whole + "tide " * WINDOW, whole + "makes " * WINDOW])
    assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("text", "known"),
    [("The moon", True), ("Où est-il ?", True), ("3.8 cm", True), ("潮の満ち引き", False), ("прилив", False)],
)
def test_only_latin_script_is_known(embedder: NeuralEmbedder, text: str, known: bool) -> None:
    assert embedder.knows(text) is known


def test_without_its_weights_the_error_names_the_extra(tmp_path: Path) -> None:
    with pytest.raises(SearchNotConfiguredError, match="extra `neural`"):
        model_folder(str(tmp_path))


@pytest.mark.skipif(importlib.util.find_spec(PACKAGE) is None, reason="the extra `neural` is not installed")
def test_the_real_model_puts_a_paraphrase_nearer_than_another_topic() -> None:
    one, same, other = NeuralEmbedder(model_folder()).encode(
        ["A man is playing a guitar.", "Someone plays the guitar.", "The parliament passed a law."]
    )
    assert one @ same > 0.8
    assert one @ other < 0.2


async def test_the_reranker_gives_every_place_once_and_compares_the_first(embedder: NeuralEmbedder) -> None:
    texts = [f"{'tide ' * number}storm" for number in range(MOST_FUSED + 2)]
    order, fault = await NeuralReranker(embedder).order("tide", texts, Call.after(60))
    assert (sorted(order), order[MOST_FUSED:], fault) == ([*range(12)], [MOST_FUSED, MOST_FUSED + 1], "")


async def test_the_reranker_keeps_the_order_without_time_and_for_an_unknown_script(embedder: NeuralEmbedder) -> None:
    texts = ["storm", "tide"]
    late, fault = await NeuralReranker(embedder).order("tide", texts, Call.after(0))
    assert late == [0, 1]
    assert "in time" in fault
    assert await NeuralReranker(embedder).order("潮の満ち引き", texts, Call.after(60)) == ([0, 1], "")


@pytest.mark.skipif(importlib.util.find_spec(PACKAGE) is None, reason="the extra `neural` is not installed")
async def test_the_text_that_means_the_query_moves_up_and_a_first_one_that_does_too_stays() -> None:
    texts = [
        "Bread is baked in an oven.",
        "Stopping a job before it ends",
        "Two jobs run at once",
        "A task waits for one",
    ]
    order, _ = await NeuralReranker(NeuralEmbedder(model_folder())).order(
        "cancel a running task", texts, Call.after(60)
    )
    assert order[0] == 1
    again, _ = await NeuralReranker(NeuralEmbedder(model_folder())).order("bake bread", texts, Call.after(60))
    assert again[0] == 0


@pytest.mark.parametrize(("chosen", "kept"), [(None, "1"), ("4", "4")])
def test_numpy_is_asked_for_one_thread_unless_the_operator_chose(
    folder: Path, monkeypatch: pytest.MonkeyPatch, chosen: str | None, kept: str
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", chosen or "")
    if chosen is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    NeuralEmbedder(folder)
    assert os.environ["OPENBLAS_NUM_THREADS"] == kept
