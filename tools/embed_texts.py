"""Let the teacher, all-MiniLM-L6-v2, turn training texts into sentence vectors (float16, one row per line of the file).

It appends to the output, so an interrupted run resumes after the last full row::

    python tools/embed_texts.py --teacher MODEL_FOLDER --texts texts.txt --out vectors.f16
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

CHUNK = 8192


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--teacher", required=True, help="folder of the sentence-transformers model"
    )
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--max-tokens", type=int, default=128)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    # bfloat16 is 3.5 times as fast on CPUs with AMX and moves a vector by a cosine of 0.00005.
    teacher = SentenceTransformer(
        args.teacher, device="cpu", model_kwargs={"torch_dtype": torch.bfloat16}
    )
    teacher.max_seq_length = args.max_tokens
    width = teacher.encode(["width"], convert_to_tensor=True).shape[1]
    texts = args.texts.read_text(encoding="utf-8").splitlines()
    done = args.out.stat().st_size // (2 * width) if args.out.exists() else 0
    started, first = time.monotonic(), done
    with args.out.open("ab") as out:
        out.truncate(done * 2 * width)
        while done < len(texts):
            vectors = teacher.encode(
                texts[done : done + CHUNK], batch_size=128, convert_to_tensor=True
            )
            unit = torch.nn.functional.normalize(vectors.float(), dim=1)
            out.write(unit.numpy().astype(np.float16).tobytes())
            out.flush()
            done += len(vectors)
            print(
                f"{done}/{len(texts)} at {(done - first) / (time.monotonic() - started):.0f}/s",
                flush=True,
            )


if __name__ == "__main__":
    main()
