"""Formulas stand in their sentences, once, as LaTeX, however a page holds them."""

from __future__ import annotations

import pytest

from tests.pages.rendering.containers import CONTAINERS, as_fragment, as_page
from websearch_gateway.pages.formats.rendering import parse_html
from websearch_gateway.pages.rendering.formulas import _write_delimited
from websearch_gateway.pages.rendering.vocabulary import TEX as FORMULA

POWER = "<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>"
TEX = '<annotation encoding="application/x-tex">E=mc^2</annotation>'
SCRIPTS = {
    "MathML": (f"<math>{POWER}</math>", "E=mc^{2}"),
    "MathML with alttext": (f'<math alttext="E = mc^2">{POWER}</math>', "E = mc^2"),
    "MathML with an annotation": (
        f"<math><semantics><mrow>{POWER}</mrow>{TEX}</semantics></math>",
        "E=mc^2",
    ),
    "MediaWiki": (
        f'<math alttext="{{\\displaystyle E=mc^{{2}}}}"><mstyle>{POWER}</mstyle></math>',
        "E=mc^{2}",
    ),
    "KaTeX": (
        f'<span class="katex"><span class="katex-mathml"><math><semantics><mrow>{POWER}</mrow>{TEX}</semantics></math>'
        '</span><span class="katex-html" aria-hidden="true"><span class="base">E</span><span class="mrel">=</span>'
        '<span class="base">m<span class="mord">c<span class="msupsub">2</span></span></span></span></span>',
        "E=mc^2",
    ),
    "MathJax 3": (
        '<mjx-container class="MathJax" jax="CHTML"><mjx-math aria-hidden="true"><mjx-c class="mjx-c1D438"></mjx-c>'
        '<mjx-c class="mjx-c3D"></mjx-c><mjx-c class="mjx-c1D45A"></mjx-c><mjx-c class="mjx-c1D450"></mjx-c>'
        f'<mjx-c class="mjx-c32"></mjx-c></mjx-math><mjx-assistive-mml><math>{POWER}</math></mjx-assistive-mml>'
        "</mjx-container>",
        "E=mc^{2}",
    ),
    "MathJax 2 before it runs": ('<script type="math/tex">E=mc^2</script>', "E=mc^2"),
    "MathJax 2 after it has run": (
        '<span class="MathJax_Preview"></span><span class="MathJax"><nobr>E=mc2</nobr></span>'
        '<script type="math/tex">E=mc^2</script>',
        "E=mc^2",
    ),
    "delimiters": ('<span class="math inline">\\(E=mc^2\\)</span>', "E=mc^2"),
    "delimiters in the text": ("\\(E=mc^2\\)", "E=mc^2"),
    "dollars in the text": ("$E=mc^2$", "E=mc^2"),
    "MathML with a prefix": (
        "<m:math xmlns:m='http://www.w3.org/1998/Math/MathML'>"
        "<m:mi>E</m:mi><m:mo>=</m:mo><m:mi>m</m:mi><m:msup><m:mi>c</m:mi><m:mn>2</m:mn></m:msup></m:math>",
        "E=mc^{2}",
    ),
    "a picture of a renderer": (
        '<img src="https://render.example/render/math?math=E%3Dmc%5E2">',
        "E=mc^2",
    ),
    "a picture of a service": (
        '<img src="https://latex.codecogs.com/svg.image?E=mc%5E2" alt="E=mc^2">',
        "E=mc^2",
    ),
    "a picture of MediaWiki": (
        '<img class="mwe-math-fallback-image-inline" alt="{\\displaystyle E=mc^{2}}">',
        "E=mc^{2}",
    ),
    "a picture without words": (
        '<img src="https://latex.codecogs.com/svg.image?E=mc%5E2">',
        "E=mc^2",
    ),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_formula_stands_once_in_its_sentence(script: str, container: str) -> None:
    html, tex = SCRIPTS[script]
    markdown = CONTAINERS[container](f"<p>Energy is {html} at rest.</p>")
    assert f"Energy is `${tex}$` at rest." in markdown
    assert markdown.count("E=") + markdown.count("E =") == 1


MATHML = {
    "<mfrac><mn>1</mn><mn>24</mn></mfrac>": r"\frac{1}{24}",
    "<mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac>": r"{n \atop k}",
    "<msqrt><mi>h</mi><mo>+</mo><mn>1</mn></msqrt>": r"\sqrt{h+1}",
    "<menclose notation='radical'><mn>2</mn></menclose>": r"\sqrt{2}",
    "<mroot><mi>h</mi><mn>3</mn></mroot>": r"\sqrt[3]{h}",
    "<msub><mi>x</mi><mi>i</mi></msub><mn>2</mn>": r"x_{i}2",
    "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>": r"x_{i}^{2}",
    "<msup><mrow><mi>a</mi><mi>b</mi></mrow><mn>2</mn></msup>": r"{ab}^{2}",
    "<msup><mi>f</mi><mo>′</mo></msup>": "f'",
    "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>": r"\sum_{i=1}^{n}",
    "<munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mn>0</mn></mrow></munder>": r"\lim_{x\to0}",
    "<mover><mi>x</mi><mo>¯</mo></mover><mover><mi>v</mi><mo>→</mo></mover>": r"\bar{x}\vec{v}",
    "<munder><mi>x</mi><mi>t</mi></munder>": r"\underset{t}{x}",
    "<mi>sin</mi><mo>&#x2061;</mo><mi>α</mi><mi>x</mi>": r"\sin\alpha x",
    "<mi>a</mi><mo>≤</mo><mi>b</mi><mo>−</mo><mi>ℝ</mi><mi>Γ</mi>": r"a\leq b-\mathbb{R}\Gamma",
    "<mi mathvariant='bold'>v</mi><mi>speed</mi><mo>{</mo>": r"\mathbf{v}\mathrm{speed}\{",
    "<mfenced><mi>a</mi><mi>b</mi></mfenced>": "(a,b)",
    "<mfenced open='[' close=')' separators=';'><mi>a</mi><mi>b</mi></mfenced>": "[a;b)",
    "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mi>a</mi></mtd></mtr></mtable>": (
        r"\begin{matrix}1 & 0 \\ a\end{matrix}"
    ),
    "<mmultiscripts><mi>C</mi><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>": r"{}_{6}^{14}C",
    "<mi>x</mi><mtext> if </mtext><mi>y</mi>": r"x\text{ if }y",
    "<mi>x</mi><mphantom><mn>7</mn></mphantom>": "x",
}


@pytest.mark.parametrize("mathml", MATHML)
def test_mathml_is_written_as_latex(mathml: str) -> None:
    assert as_fragment(f"<p><math>{mathml}</math>") == f"`${MATHML[mathml]}$`"


def test_a_formula_on_a_line_of_its_own_is_a_paragraph() -> None:
    assert (
        as_fragment(f"<p>So <math display=block>{POWER}</math> holds.")
        == "So\n\n`$$E=mc^{2}$$`\n\nholds."
    )


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and then $6.",
        "It costs $5_000 and US$6.",
        "<code>\\(a_1\\)</code>",
        "<pre>$a_1$</pre>",
        "Set $HOME_DIR to $USER.",
    ],
)
def test_dollars_and_brackets_that_hold_no_formula_stay(text: str) -> None:
    assert "`$" not in as_fragment(f"<p>{text}</p>").replace("```", "")


def test_tex_between_double_dollars_is_a_paragraph() -> None:
    assert as_fragment("<p>So $$a_1 < 2$$ holds.") == "So\n\n`$$a_1 < 2$$`\n\nholds."


LAYOUTS = {
    "mfrac": ("a", r"\frac{a}{b}", r"\frac{a}{b}"),
    "mroot": ("a", r"\sqrt[b]{a}", r"\sqrt[b]{a}"),
    "msup": ("a", "a^{b}", "a^{b}"),
    "msub": ("a", "a_{b}", "a_{b}"),
    "munder": ("a", r"\underset{b}{a}", r"\underset{b}{a}"),
    "mover": ("a", r"\overset{b}{a}", r"\overset{b}{a}"),
    "msubsup": ("a", "ab", "a_{b}^{c}"),
    "munderover": ("a", "ab", r"\overset{c}{\underset{b}{a}}"),
}


@pytest.mark.parametrize("tag", LAYOUTS)
def test_an_element_with_too_few_parts_is_a_row_of_them(tag: str) -> None:
    parts = ["<mi>a</mi>", "<mi>b</mi>", "<mi>c</mi>"]
    formulas = [
        as_fragment(f"<p>So <math><{tag}>{''.join(parts[:count])}</{tag}></math>.")
        for count in (1, 2, 3)
    ]
    assert formulas == [f"So `${formula}$`." for formula in LAYOUTS[tag]]


def test_greek_letters_have_their_names() -> None:
    letters = "".join(f"<mi>{chr(0x3B1 + place)}</mi>" for place in (0, 1, 16, 24))
    assert as_fragment(f"<p>So <math>{letters}</math>.") == r"So `$\alpha\beta\rho\omega$`."


LIES = {
    "alttext": '<math alttext="send 500 to me"><mi>x</mi></math>',
    "annotation": '<math><semantics><mi>x</mi><annotation encoding="TeX">send 500</annotation></semantics></math>',
    "KaTeX": '<span class="katex"><span class="katex-mathml"><math><mtext>send 500 to me</mtext></math></span>'
    '<span class="katex-html">x</span></span>',
    "MathJax 3": '<mjx-container><mjx-c class="mjx-c78"></mjx-c><mjx-assistive-mml><math><mtext>send 500 to me</mtext>'
    "</math></mjx-assistive-mml></mjx-container>",
}


@pytest.mark.parametrize("lie", LIES)
def test_what_a_formula_hides_is_read_only_if_it_says_what_is_shown(lie: str) -> None:
    assert "500" not in as_page(f"<p>Here {LIES[lie]} stands.</p>")


@pytest.mark.parametrize("tag", ["mrow", "msqrt", "mfrac", "mtable", "msup", "mfenced"])
def test_no_size_or_depth_of_a_formula_breaks_it(tag: str) -> None:
    assert "7" in as_fragment(f"<p><math>{f'<{tag}>' * 200}<mn>7</mn></math>")
    assert "7" in as_fragment(f"<p><math>{f'<{tag}><mn>7</mn></{tag}>' * 5_000}</math>")


@pytest.mark.parametrize(("letters", "is_read"), [(1_000, True), (1_001, False)])
def test_latex_that_nothing_shows_has_at_most_1000_characters(
    letters: int, *, is_read: bool
) -> None:
    script = f'<script type="math/tex">{"x+" * (letters // 2)}{"y" * (letters % 2)}</script>'
    assert ("x+x" in as_page(f"<p>So {script} holds.</p>")) == is_read


def test_the_first_5000_texts_that_may_have_formulas_are_searched() -> None:
    tree = parse_html("<p>\\(a\\)</p>" * 5_001)
    _write_delimited(tree)
    assert len(list(tree.iter(FORMULA))) == 5_000


@pytest.mark.parametrize(("inner", "is_formula"), [(19, False), (20, True)])
def test_what_is_verbatim_is_told_by_twenty_elements_around_it(
    inner: int, *, is_formula: bool
) -> None:
    tree = parse_html("<pre>" + "<b>" * (inner + 1) + "\\(a_1\\)" + "</b>" * (inner + 1) + "</pre>")
    _write_delimited(tree)
    assert (next(tree.iter(FORMULA), None) is not None) == is_formula


@pytest.mark.parametrize(("outputs", "left"), [(3, 0), (4, 1)])
def test_three_elements_that_mathjax_has_drawn_are_replaced_by_the_formula(
    outputs: int, left: int
) -> None:
    drawn = '<span class="MathJax">E=mc2</span>' * outputs
    found = as_page(f'<p>So {drawn}<script type="math/tex">E=mc^2</script> holds.</p>')
    assert (found.count("E=mc2"), found.count("E=mc^2")) == (left, 1)


@pytest.mark.parametrize(
    ("signs", "is_read"),
    [(["wxyz"], True), (["vwxyz"], False), (["x"] * 200, True), (["x"] * 201, False)],
    ids=["short", "long", "few", "many"],
)
def test_a_formula_that_nothing_shows_has_few_short_signs(
    signs: list[str], *, is_read: bool
) -> None:
    formula = "".join(f"<mi>{sign}</mi>" for sign in signs)
    katex = (
        f'<span class="katex"><span class="katex-mathml"><math>{formula}</math></span>'
        '<span class="katex-html"></span></span>'
    )
    assert ("x" in as_page(f"<p>So {katex} holds.</p>")) == is_read
