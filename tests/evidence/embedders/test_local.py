from __future__ import annotations

import math
import subprocess
import sys
import threading
import unicodedata
from collections import Counter
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from tests.evidence.test_passages_floors import VECTOR_WEIGHT
from tests.patience import PATIENCE
from websearch_gateway.evidence.embedders.local import (
    UNKNOWN,
    StaticEmbedder,
    Vocabulary,
    WordPieces,
    _words_of_run,
    words,
)

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

DATA = resources.files("websearch_gateway.evidence.embedders") / "static_model"
EMBEDDER = StaticEmbedder()

TEXTS = [
    "A man is playing a guitar.",
    "Someone plays an instrument.",
    "The stock market fell sharply on Monday.",
    "How to configure a reverse proxy with nginx",
    "",
    "naïve café",
]


def similarity(a: str, b: str) -> float:
    left, right = EMBEDDER.encode([a, b])
    return float(left @ right)


@pytest.mark.parametrize(
    ("text", "like", "unlike"),
    [
        (
            "A man is playing a guitar.",
            "Someone plays an instrument.",
            "The stock market fell on Monday.",
        ),
        (
            "How do I undo my last commit?",
            "git reset moves a branch back",
            "Bake the bread for an hour.",
        ),
        ("car insurance", "automobile coverage", "cat food"),
        (
            "The doctor examined the patient.",
            "A physician saw a sick person.",
            "The plane landed safely.",
        ),
        (
            "python asyncio timeout",
            "cancel a coroutine after some seconds",
            "recipes for apple pie",
        ),
    ],
)
def test_a_text_is_nearer_to_its_paraphrase_than_to_another_topic(
    text: str, like: str, unlike: str
) -> None:
    assert similarity(text, like) > similarity(text, unlike) + 0.1


def test_the_rarity_of_words_grows_from_frequent_to_unknown_ones() -> None:
    assert EMBEDDER.rarity(["year", "island"]) == [0, 0]
    rarity = EMBEDDER.rarity(["forest", "hadley", "quokka", "zugzwang"])
    assert rarity == sorted(rarity)
    assert EMBEDDER.rarity(["", "東京"])[1] > rarity[1]


def test_the_rarity_of_a_word_counts_its_rank_and_each_further_piece() -> None:
    """The rank is that of the first piece; `e` to the seventh is a frequent word, and an unknown one is worth five."""
    rank, further = 9_000, 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EMBEDDER, "_pieces", lambda word: [rank] + [1] * (further if word else 0))
        plain, composed = EMBEDDER.rarity(["", "word"])
    assert plain == pytest.approx(math.log(rank) - 7)
    assert composed == pytest.approx(plain + 1.5 * further)
    assert EMBEDDER.rarity(["東京"]) == [5.0]


def test_vectors_have_unit_length_and_the_promised_dimensions() -> None:
    vectors = EMBEDDER.encode([text for text in TEXTS if text])
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS) - 1, EMBEDDER.dimensions)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=6))
def test_a_vector_does_not_depend_on_its_batch(texts: list[str]) -> None:
    together = EMBEDDER.encode(texts)
    alone = np.concatenate([EMBEDDER.encode([text]) for text in texts])
    np.testing.assert_array_equal(together, alone)


@given(st.text(max_size=60))
def test_every_text_has_a_unit_vector_or_the_zero_vector(text: str) -> None:
    length = float(np.linalg.norm(EMBEDDER.encode([text])[0]))
    assert length == 0 or abs(length - 1) < 1e-5


async def test_a_large_batch_is_embedded_like_a_small_one() -> None:
    """Large batches go to a thread, small ones do not."""
    large = await EMBEDDER.embed(TEXTS * 20, "document")
    small = np.concatenate([await EMBEDDER.embed([text], "query") for text in TEXTS])
    np.testing.assert_array_equal(large, np.tile(small, (20, 1)))


class Watched(StaticEmbedder):
    """Says whether it embedded in the thread of the event loop."""

    on_the_loop = False

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.on_the_loop = threading.current_thread() is threading.main_thread()
        return super().encode(texts)


@pytest.mark.parametrize(
    ("texts", "on_the_loop"),
    [
        (["tide"] * 8, True),
        (["tide"] * 9, False),
        (["tide " * 780], True),
        (["tide " * 820], False),
    ],
)
async def test_many_texts_or_long_ones_never_block_the_event_loop(
    texts: list[str], on_the_loop: bool
) -> None:
    embedder = Watched()
    await embedder.embed(texts, "document")
    assert embedder.on_the_loop is on_the_loop


async def test_no_texts_give_no_vectors() -> None:
    assert (await EMBEDDER.embed([], "document")).shape == (0, EMBEDDER.dimensions)


def test_another_process_computes_the_same_vector() -> None:
    code = (
        "from websearch_gateway.evidence.embedders.local import StaticEmbedder as S;"
        "print(S().encode(['determinism'])[0].tobytes().hex())"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert printed.stdout.strip() == EMBEDDER.encode(["determinism"])[0].tobytes().hex()


def test_a_text_without_a_known_piece_has_the_zero_vector() -> None:
    assert not EMBEDDER.encode(["", "   ", "你好世界"]).any()


@pytest.mark.parametrize(
    "text", ["hello world", "naïve café", "the value of α", "x = 1", "Straßenbahn", "deploy 🚀"]
)
def test_latin_script_is_known(text: str) -> None:
    assert EMBEDDER.knows(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Привет, мир",
        "你好世界",
        "日本語のテキスト",
        "안녕하세요 세계",
        "שלום עולם",
        "مرحبا بالعالم",
        "नमस्ते दुनिया",
        "Καλημέρα κόσμε",
    ],
)
def test_other_scripts_are_unknown(text: str) -> None:
    assert not EMBEDDER.knows(text)


def test_the_model_ships_with_its_licence_and_stays_small() -> None:
    files = {file.name: file for file in DATA.iterdir()}
    assert "Apache License" in files["LICENSE"].read_text(encoding="utf-8")
    assert "all-MiniLM-L6-v2" in files["NOTICE"].read_text(encoding="utf-8")
    assert sum(len(file.read_bytes()) for file in files.values()) < 9_000_000


def test_importing_the_embedder_does_not_load_numpy() -> None:
    """Cold start is a feature: the model costs only those who rank with it."""
    code = "import websearch_gateway.evidence.embedders.local, sys; print('numpy' in sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert printed.stdout.strip() == "False"


VOCABULARY = Path(
    str(resources.files("websearch_gateway.evidence.embedders") / "static_model" / "vocab.txt")
)
DIFFER = "\u166d\u1734\u1885\u1886"
"""Characters that a later version of Unicode put into another category."""


@pytest.fixture(scope="module")
def own() -> WordPieces:
    return WordPieces(VOCABULARY)


@pytest.fixture(scope="module")
def oracle() -> Any:
    tokenizer = Tokenizer(WordPiece.from_file(str(VOCABULARY), unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def in_both_tables(letter: str) -> bool:
    """The library's tables of characters are old: newer characters are left out."""
    return unicodedata.ucd_3_2_0.category(letter) != "Cn" and letter not in DIFFER


COMMON = st.characters(exclude_categories=["Cs"]).filter(in_both_tables)
LATIN = st.characters(max_codepoint=0x24F)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\n",
        "How tall is the Eiffel Tower?",
        "naïve café, Straßenbahn, e\u0301cole",
        "don't-stop_it $5.00 x=1 [UNK] ##ing",
        "日本語のテキスト and text",
        "안녕하세요 세계",
        "ΟΔΟΣ ΣΑΣ σας",
        "İstanbul ẞ ﬁne ½ ™",
        "null\x00byte del\x7fete soft\u00adhyphen zero\u200bwidth \ufffd private\ue000use",
        "no\u00a0break\u2003em\u2028line\u3000wide\x85next",
        "x" * 100,
        "x" * 101,
        "unaffable electroencephalographically",
    ],
)
def test_a_text_has_the_pieces_of_the_library(own: WordPieces, oracle: Any, text: str) -> None:
    assert own(text) == oracle(text)


@given(text=st.text(COMMON, max_size=60) | st.text(LATIN, max_size=60))
def test_any_text_has_the_pieces_of_the_library(own: WordPieces, oracle: Any, text: str) -> None:
    assert own(text) == oracle(text)


def test_a_word_without_pieces_is_one_unknown_piece(own: WordPieces) -> None:
    assert own("你 hello 😀") == [UNKNOWN, *own("hello"), UNKNOWN]


def test_a_word_that_is_too_long_is_not_remembered(own: WordPieces) -> None:
    before = own._of_word.cache_info().currsize
    word = "x" * 101
    assert own(word) == [*own.counts(word)] == [UNKNOWN]
    assert own._of_word.cache_info().currsize == before


@pytest.mark.parametrize(("length", "is_remembered"), [(15, True), (18, False)])
def test_only_short_words_are_remembered(length: int, is_remembered: bool) -> None:
    pieces = WordPieces(VOCABULARY)
    pieces("x" * length)
    assert pieces._of_word.cache_info().currsize == is_remembered


@pytest.mark.parametrize(("length", "is_remembered"), [(16, True), (17, False)])
def test_only_short_runs_of_other_letters_are_remembered(length: int, is_remembered: bool) -> None:
    _words_of_run.cache_clear()
    words("é" * length)
    assert _words_of_run.cache_info().currsize == is_remembered


@given(st.text(alphabet="abcé .,-漢\n", max_size=60))
def test_the_counts_are_those_of_the_pieces(own: WordPieces, text: str) -> None:
    assert own.counts(text) == Counter(own(text))


PIECES = st.lists(
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1), min_size=1, unique=True
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vocabulary") / "vocab.txt"


@given(pieces=PIECES, other=st.text(st.characters(exclude_categories=["Cs"])))
def test_each_piece_has_the_number_of_its_line(file: Path, pieces: list[str], other: str) -> None:
    file.write_bytes("".join(f"{piece}\n" for piece in pieces).encode())
    vocabulary = Vocabulary(file)
    assert [vocabulary.number(piece) for piece in pieces] == list(range(len(pieces)))
    assert (vocabulary.number(other) is not None) == (other in pieces)
    assert vocabulary.longest >= max(map(len, pieces))


def test_pieces_with_the_same_checksum_are_distinguished(file: Path) -> None:
    assert crc32(b"plumless") == crc32(b"buckeroo")
    file.write_bytes(b"apple\nplumless\nbuckeroo\n")
    assert [Vocabulary(file).number(word) for word in ("plumless", "buckeroo")] == [1, 2]
    file.write_bytes(b"apple\nplumless\n")
    assert Vocabulary(file).number("buckeroo") is None


def test_the_last_line_may_lack_its_end(file: Path) -> None:
    file.write_bytes(b"apple\npear")
    assert Vocabulary(file).number("pear") == 1


def test_the_filter_of_the_vocabulary_leaves_out_most_places() -> None:
    vocabulary = Vocabulary(VOCABULARY)
    words = [f"{number:b}".translate(str.maketrans("01", "qx")) for number in range(512, 600)]
    places = sum(map(len, words))
    looked_at = sum(len(vocabulary.ends("##", word, 0)) for word in words)
    assert 0.15 < looked_at / places < 0.5


def test_sixteen_thousand_words_are_remembered(own: WordPieces) -> None:
    assert own._of_word.cache_info().maxsize == 16_384


def test_vectors_weigh_as_much_as_where_the_floors_of_passages_are_measured() -> None:
    assert EMBEDDER.weight == VECTOR_WEIGHT == 0.3
