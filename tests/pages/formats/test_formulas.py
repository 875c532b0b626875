"""Formulas of Word, PowerPoint and OpenDocument stand in their sentence, once, as LaTeX."""

from __future__ import annotations

import pytest

from tests.documents import open_document, slides, word
from websearch_gateway.pages.formats.containers import zipped

URL = "https://example.com/a"
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def part(name: str, *inside: str) -> str:
    return f"<m:{name}>{''.join(inside)}</m:{name}>"


FRACTION = part(
    "f",
    part("num", part("sSup", part("e", run("h")), part("sup", run("3")))),
    part("den", run("24")),
)
SUM = part(
    "nary",
    '<m:naryPr><m:chr m:val="∑"/><m:limLoc m:val="undOvr"/></m:naryPr>',
    part("sub", run("i=1")),
    part("sup", run("n")),
    part("e", part("sSub", part("e", run("x")), part("sub", run("i")))),
)
ROOT = part("rad", '<m:radPr><m:degHide m:val="1"/></m:radPr>', "<m:deg/>", part("e", run("2")))
BRACKETS = part(
    "d", '<m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>', part("e", run("a+b"))
)
SINE = part("func", part("fName", run("sin")), part("e", run("x")))
MATRIX = part(
    "m",
    part("mr", part("e", run("1")), part("e", run("0"))),
    part("mr", part("e", run("0")), part("e", run("1"))),
)


@pytest.mark.parametrize(
    ("formula", "tex"),
    [
        (run("Q=") + FRACTION, r"Q=\frac{h^3}{24}"),
        (SUM, r"\sum_{i=1}^n x_i"),
        (ROOT, r"\sqrt{2}"),
        (BRACKETS, "[a+b]"),
        (SINE, r"\sin x"),
        (run("a≤b"), r"a\leq b"),
        (part("unknown", run("x")), "x"),
        (
            run("x")
            + part("phant", '<m:phantPr><m:show m:val="0"/></m:phantPr>', part("e", run("7"))),
            "x",
        ),
        (run("x") + f"<w:del>{run('7')}</w:del>", "x"),
        (part("limLow", part("e", run("lim")), part("lim", run("n→∞"))), r"\lim_{n\to\infty}"),
    ],
    ids=[
        *("fraction", "sum", "root", "brackets", "function", "sign", "unknown"),
        *("unseen", "deleted", "limit"),
    ],
)
def test_a_formula_of_word_is_latex_in_its_sentence(formula: str, tex: str) -> None:
    body = word(
        f"<w:p><w:r><w:t>Since </w:t></w:r><m:oMath {M}>{formula}</m:oMath><w:r><w:t> holds.</w:t></w:r></w:p>"
    )
    written = zipped(body, URL, "").markdown.replace(" ", "").replace("{", "").replace("}", "")
    assert written == f"Since`${tex}$`holds.".replace(" ", "").replace("{", "").replace("}", "")


def test_a_matrix_keeps_its_rows() -> None:
    text = zipped(word(f"<w:p><m:oMath {M}>{MATRIX}</m:oMath></w:p>"), URL, "").markdown
    assert "1&0" in text.replace(" ", "")
    assert "0&1" in text.replace(" ", "")


def test_a_formula_of_a_slide_is_read() -> None:
    holder = 'xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main"'
    text = f"<a:p><a14:m {holder}><m:oMath {M}>{FRACTION}</m:oMath></a14:m></a:p>"
    page = zipped(slides(f"<p:sp><p:nvSpPr/><p:txBody>{text}</p:txBody></p:sp>"), URL, "").markdown
    assert r"\frac{h^{3}}{24}" in page


def test_a_formula_of_open_document_is_read() -> None:
    frame = '<draw:frame><draw:object xlink:href="./Object 1"/><draw:image xlink:href="x.svm"/></draw:frame>'
    math = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>Q</mi><mo>=</mo><mfrac><mn>17</mn>'
        "<mn>24</mn></mfrac></mrow><annotation>Q = 17 over 24</annotation></semantics></math>"
    )
    body = open_document(
        "text", f"<text:p>The flow is {frame} here.</text:p>", parts={"Object 1/content.xml": math}
    )
    assert zipped(body, URL, "").markdown == r"The flow is `$Q=\frac{17}{24}$` here."


def test_formulas_in_each_other_without_end_are_read_as_text() -> None:
    deep = "".join("<m:d><m:e>" for _ in range(110)) + run("x") + "</m:e></m:d>" * 110
    assert "x" in zipped(word(f"<w:p><m:oMath {M}>{deep}</m:oMath></w:p>"), URL, "").markdown
