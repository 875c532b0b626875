"""Writes formulas as LaTeX: MathML by one walker, and what KaTeX, MathJax, LaTeXML and services for pictures leave.

Each formula becomes a `<tex>` element inside of its sentence. What its readers do not see (an annotation, an `alttext`)
is taken only if it says no more than what they see.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import unquote, urlsplit

from websearch_gateway.base import reads_like_orders
from websearch_gateway.pages.rendering.drawings import (
    DEEPEST,
    MOST_PARTS,
    measure_drawings,
    read_drawing,
)
from websearch_gateway.pages.rendering.vocabulary import TEX, outermost, with_class

_LONGEST_UNSEEN = 1_000
"""The most characters of LaTeX that nothing visible confirms."""


def declare_formulas(root: Any) -> None:
    """Keep, in place, what formulas say of themselves in elements that are not shown, as attributes.

    Call it before invisible elements are removed; `write_formulas` decides what to believe.
    """
    _drop_prefixes(root)
    measure_drawings(root)
    for annotation in list(root.iter("annotation")):
        formula = next(annotation.iterancestors("math"), None)
        if (
            formula is not None
            and "tex" in annotation.get("encoding", "").lower()
            and not formula.get("alttext")
        ):
            formula.set("alttext", "".join(annotation.itertext()))
    for script in list(root.iter("script")):
        kind = script.get("type", "").lower()
        if kind.startswith("math/tex"):
            _replace_output_of_mathjax(script, display="mode=display" in kind)
    for outer in (*root.iter("mjx-container"), *with_class(root, _RENDERED)):
        if outer.getparent() is not None and outer.tag not in (TEX, "body", "html"):
            _keep_one(outer)


_PREFIXED = ".//*[substring-after(name(), ':') = 'math']"


def _drop_prefixes(root: Any) -> None:
    """Name MathML as HTML does, where its elements have a prefix, as `m:math` in books and journals."""
    for formula in root.xpath(_PREFIXED):
        for part in formula.iter():
            if isinstance(part.tag, str):
                part.tag = part.tag.rpartition(":")[2]


def write_formulas(root: Any) -> None:
    """Write, in place, all formulas of a tree as `<tex>` elements."""
    _read_drawings(root)
    for formula in outermost(root, "math"):
        _as_tex(formula, latex(formula), display=_is_display(formula))
    write_pictured_formulas(root)
    for element in with_class(root, _HOLDS_TEX):
        if (
            element.tag not in (TEX, "body", "html")
            and (found := _DELIMITED.fullmatch(element.text or ""))
            and not len(element)
        ):
            _as_tex(element, found["inline"] or found["block"] or "", display=bool(found["block"]))
    _write_delimited(root)


def _read_drawings(root: Any) -> None:
    within: set[Any] = set()
    for drawing in with_class(root, _DRAWN):
        if drawing not in within and drawing.tag not in (TEX, "body", "html"):
            within.update(drawing.iterdescendants())
            read_drawing(drawing)


def write_pictured_formulas(root: Any) -> None:
    """Write, in place, the pictures of formulas as `<tex>` elements."""
    for picture in list(root.iter("img")):
        if tex := _tex_of_picture(picture):
            _as_tex(picture, tex)


_IN_TEXT = re.compile(
    r"\\\((?P<inline>[^()\\](?:[^\\]|\\(?![()\[\]])){0,998})\\\)"
    r"|\\\[(?P<block>(?:[^\\]|\\(?![()\[\]])){1,1999})\\\]"
    r"|\$\$(?P<double>[^$]{1,1999})\$\$"
    r"|(?<![\\$\w])\$(?P<single>(?=[^$\n]*[\\^_])[^\s$](?:[^$\n]{0,498}[^\s$\\])?)\$(?![\d$])"
)
"""TeX between the delimiters that MathJax and KaTeX look for; between single dollars only what has a TeX sign."""
_MAYBE_TEX = ".//text()[contains(., '\\(') or contains(., '\\[') or contains(., '$')]"
_TEX_SOMEWHERE = re.compile(r"\\[(\[]|\$[^$\n]*[\\^_$]")
_MOST_TEXTS = 5_000


def _write_delimited(root: Any) -> None:
    """Make formulas of the TeX in a text, which the scripts of a page show as one."""
    # One search of the whole text is much faster than one of each of its parts.
    if not _TEX_SOMEWHERE.search(root.xpath("string()")):
        return
    for text in root.xpath(_MAYBE_TEX)[:_MOST_TEXTS]:
        holder = text.getparent()
        around = holder.getparent() if text.is_tail else holder
        if around is None or _is_verbatim(around):
            continue
        pieces = list(_IN_TEXT.finditer(text))
        if pieces:
            _insert_formulas(holder, around, str(text), pieces, is_tail=text.is_tail)


_VERBATIM = frozenset(("pre", "code", "kbd", "samp", "script", "style", "textarea", TEX, "title"))
_MOST_STEPS_UP = 20


def _is_verbatim(element: Any) -> bool:
    return element.tag in _VERBATIM or any(
        outer.tag in _VERBATIM for outer in islice(element.iterancestors(), _MOST_STEPS_UP)
    )


def _insert_formulas(
    holder: Any, around: Any, text: str, pieces: list[re.Match[str]], *, is_tail: bool
) -> None:
    formulas = []
    for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
        formula = around.makeelement(TEX)
        tex = next(part for part in piece.groups() if part is not None)
        formula.text = tex.strip()
        formula.tail = text[piece.end() : following.start() if following else None]
        if piece["block"] or piece["double"]:
            formula.set("display", "block")
        formulas.append(formula)
    before = text[: pieces[0].start()]
    if is_tail:
        holder.tail = None
        for formula in reversed(formulas):
            holder.addnext(formula)
        holder.tail = before
    else:
        holder.text = before
        holder[0:0] = formulas


_DRAWN = re.compile(r"(?:^|\s)katex-html(?:\s|$)")
_RENDERED = re.compile(r"(?:^|\s)(?:katex|MathJax)(?:\s|$)")
_HOLDS_TEX = re.compile(r"(?:^|\s)(?:math|arithmatex|tex|latex|formula|equation)(?:\s|$)")


def _as_tex(element: Any, tex: str, *, display: bool = False) -> None:
    """Turn an element into a formula; an empty one goes."""
    tail = element.tail
    element.clear()
    element.tag, element.tail = TEX, tail
    element.text = tex.strip() or None
    if display:
        element.set("display", "block")


_DELIMITED = re.compile(r"\s*(?:\\\((?P<inline>.+)\\\)|\\\[(?P<block>.+)\\\])\s*", re.DOTALL)
_OUTPUTS = frozenset(
    ("MathJax", "MathJax_Preview", "MathJax_Display", "MathJax_SVG", "MathJax_CHTML", "mjx-chtml")
)
_MOST_OUTPUTS = 3


def _replace_output_of_mathjax(script: Any, *, display: bool) -> None:
    """Turn `<script type="math/tex">` of MathJax 2 into its formula, and remove what MathJax has drawn before it."""
    tex = (script.text or "").strip()
    if len(tex) > _LONGEST_UNSEEN or reads_like_orders(tex):
        return
    for _ in range(_MOST_OUTPUTS):
        drawn = script.getprevious()
        if (
            drawn is None
            or (drawn.tail or "").strip()
            or _OUTPUTS.isdisjoint(drawn.get("class", "").split())
        ):
            break
        drawn.getparent().remove(drawn)
    _as_tex(script, tex, display=display)


_CODE_OF_GLYPH = re.compile(r"(?:^|\s)mjx-c([0-9A-F]{2,5})\b")
_PLACE_OF_MATHML = "descendant::math[1]"


def _keep_one(outer: Any) -> None:
    """Keep one of the two forms of a formula: the MathML for screen readers if it says what is drawn, else the drawing.

    KaTeX and MathJax hide the MathML from eyes, so it is moved out of what hides it.
    """
    formula = next(iter(outer.xpath(_PLACE_OF_MATHML)), None)
    if formula is None:
        return
    hidden = {formula, *formula.iterdescendants()}
    drawn = []
    for element in outer.iterdescendants():
        if element not in hidden:
            drawn += [element.text or "", *_glyphs(element)]
        if element.tail and (element is formula or element not in hidden):
            drawn.append(element.tail)
    shown = "".join(drawn)
    stated = "".join(
        part.text or ""
        for part in formula.iter()
        if part.tag not in ("annotation", "annotation-xml")
    )
    is_confirmed = shown.strip() and _says_no_more(stated, shown)
    if is_confirmed or (_may_be_unseen(stated) and _is_of_signs(formula)):
        tail = outer.tail
        outer.clear()
        outer.tag, outer.tail = "span", tail
        formula.tail = None
        outer.append(formula)
    else:
        formula.getparent().remove(formula)


def _glyphs(element: Any) -> Iterator[str]:
    """The characters that MathJax 3 draws by a class or as a path."""
    code = _CODE_OF_GLYPH.search(element.get("class", ""))
    number = code[1] if code else element.get("data-c", "")
    if re.fullmatch(r"[0-9A-Fa-f]{2,5}", number):
        yield chr(int(number, 16))


def _may_be_unseen(text: str) -> bool:
    return len(text) <= _LONGEST_UNSEEN and "://" not in text and reads_like_orders(text) is None


_LONGEST_SIGN, _MOST_SIGNS = 4, 200
"""The most characters of a name or number, and the most of them, of a formula that nothing visible confirms."""


def _is_of_signs(formula: Any) -> bool:
    """Whether a formula is made of short signs, so that it holds no message: drawings often do not tell their text."""
    tokens = [
        "".join(token.itertext()).strip() for token in formula.iter("mi", "mn", "mo", "mtext", "ms")
    ]
    return len(tokens) <= _MOST_SIGNS and all(len(token) <= _LONGEST_SIGN for token in tokens)


_COMMAND = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}(?:\s*\{[lcr|@\s{}]*\})?|\\[A-Za-z]+|\\.")
_LETTER = re.compile(r"[A-Za-z0-9]")


def _says_no_more(hidden: str, shown: str) -> bool:
    """Whether each letter and digit of a hidden text is one of those that are shown, as often."""
    names = Counter(_LETTER.findall(unicodedata.normalize("NFKC", _COMMAND.sub(" ", hidden))))
    return names <= Counter(_LETTER.findall(unicodedata.normalize("NFKC", shown)))


def _is_display(formula: Any) -> bool:
    if formula.get("display", "") == "block" or "displaystyle" in (formula.get("mode") or ""):
        return True
    return any(
        "katex-display" in around.get("class", "") for around in formula.iterancestors("span")
    )


_DISPLAYSTYLE = re.compile(r"\{\\(?:displaystyle|textstyle) ?(.*)\}", re.DOTALL)


def _without_style(tex: str) -> str:
    """LaTeX on one line, without the style that MediaWiki puts around it."""
    tex = " ".join(tex.split())
    inner = _DISPLAYSTYLE.fullmatch(tex)
    return inner[1].strip() if inner else tex


def latex(formula: Any) -> str:
    """The LaTeX of a `<math>` element: its author's if that says what is shown, else as the MathML has it."""
    stated = _without_style(formula.get("alttext", ""))
    shown = "".join(formula.itertext())
    is_confirmed = _says_no_more(stated, shown) if shown.strip() else _may_be_unseen(stated)
    if stated and is_confirmed:
        return stated
    return _written(formula)


_SERVICES = re.compile(
    r"latex|codecogs|mathtex|mimetex|/math/(?:render|tex)|/render/math|[?&](?:tex|tx|chl)=",
    re.IGNORECASE,
)
_CLASSES_OF_PICTURES = frozenset(
    ("tex", "latex", "math", "mwe-math-fallback-image-inline", "ee_img", "tr_noresize")
)
_LOOKS_LIKE_TEX = re.compile(r"\\[A-Za-z]{2,}|[\^_]\{?\w|^[\w\s]{1,3}=")


def _tex_of_picture(picture: Any) -> str:
    """The LaTeX of a picture of a formula: what stands in its place, or the part of its address; "" of another."""
    source, instead = picture.get("src", ""), (picture.get("alt") or "").strip()
    is_formula = _SERVICES.search(source) or not _CLASSES_OF_PICTURES.isdisjoint(
        picture.get("class", "").split()
    )
    if not is_formula or source.startswith("data:"):
        return ""
    if not instead:
        try:
            query = unquote(urlsplit(source).query)
        except ValueError:
            return ""
        instead = re.sub(
            r"^(?:(?:tex|tx|chl|math|latex|eq)=)?(?:\\(?:inline|small|large|dpi\{\d+\}) ?)*",
            "",
            query,
        )
    instead = _without_style(instead.strip("$"))
    return instead if _LOOKS_LIKE_TEX.search(instead) and _may_be_unseen(instead) else ""


# --- MathML ---

_SMALL_GREEK = (
    *(
        "alpha",
        "beta",
        "gamma",
        "delta",
        "varepsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
    ),
    *(
        "xi",
        "omicron",
        "pi",
        "rho",
        "varsigma",
        "sigma",
        "tau",
        "upsilon",
        "varphi",
        "chi",
        "psi",
        "omega",
    ),
)
_GREEK = {chr(0x3B1 + place): name for place, name in enumerate(_SMALL_GREEK)}
_GREEK |= {
    "Γ": "Gamma",
    "Δ": "Delta",
    "Θ": "Theta",
    "Λ": "Lambda",
    "Ξ": "Xi",
    "Π": "Pi",
    "Σ": "Sigma",
}
_GREEK |= {"Υ": "Upsilon", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega"}
_GREEK |= {"ϵ": "epsilon", "ϕ": "phi", "ϑ": "vartheta", "ϱ": "varrho", "ϖ": "varpi"}
_OPERATORS = {
    "×": "times",
    "÷": "div",
    "⋅": "cdot",
    "·": "cdot",
    "∘": "circ",
    "±": "pm",
    "∓": "mp",
    "≤": "leq",
    "≥": "geq",
    "≠": "neq",
    "≈": "approx",
    "≡": "equiv",
    "∼": "sim",
    "≃": "simeq",
    "≅": "cong",
    "∝": "propto",
    "≪": "ll",
    "≫": "gg",
    "∞": "infty",
    "∂": "partial",
    "∇": "nabla",
    "∑": "sum",
    "∏": "prod",
    "∐": "coprod",
    "∫": "int",
    "∬": "iint",
    "∭": "iiint",
    "∮": "oint",
    "→": "to",
    "←": "leftarrow",
    "↔": "leftrightarrow",
    "⇒": "Rightarrow",
    "⇐": "Leftarrow",
    "⇔": "Leftrightarrow",
    "↦": "mapsto",
    "⟶": "longrightarrow",
    "∈": "in",
    "∉": "notin",
    "∋": "ni",
    "⊂": "subset",
    "⊃": "supset",
    "⊆": "subseteq",
    "⊇": "supseteq",
    "∪": "cup",
    "∩": "cap",
    "∅": "emptyset",
    "∖": "setminus",
    "∀": "forall",
    "∃": "exists",
    "¬": "neg",
    "∧": "wedge",
    "∨": "vee",
    "⊕": "oplus",
    "⊗": "otimes",
    "⊥": "perp",
    "∥": "parallel",
    "∣": "mid",
    "∠": "angle",
    "…": "ldots",
    "⋯": "cdots",
    "⋮": "vdots",
    "⋱": "ddots",
    "⟨": "langle",
    "⟩": "rangle",
    "⌊": "lfloor",
    "⌋": "rfloor",
    "⌈": "lceil",
    "⌉": "rceil",
    "‖": "Vert",
    "ℓ": "ell",
    "ℏ": "hbar",
    "ℜ": "Re",
    "ℑ": "Im",
    "ℵ": "aleph",
    "†": "dagger",
    "⊢": "vdash",
    "⊨": "models",
    "⋆": "star",
    "∗": "ast",
    "√": "surd",
    "⋃": "bigcup",
    "⋂": "bigcap",
    "⊤": "top",
    "ı": "imath",
    "ȷ": "jmath",
    "′": "prime",
    "∴": "therefore",
    "∵": "because",
    "⋀": "bigwedge",
    "⋁": "bigvee",
}
_SIGNS = {
    **{sign: f"\\{name}" for sign, name in (_GREEK | _OPERATORS).items()},
    "−": "-",
    "⁢": "",
    "⁡": "",
    "⁣": "",
    "⁤": "",
    "\u200b": "",
    "\xa0": " ",
    **{sign: f"\\{sign}" for sign in "{}%$#&_"},
    "\\": "\\backslash",
    "\ue020": "\\not",  # the stroke that KaTeX draws through the next sign
}
_FUNCTIONS = frozenset(
    (
        *(
            "arccos",
            "arcsin",
            "arctan",
            "arg",
            "cos",
            "cosh",
            "cot",
            "coth",
            "csc",
            "deg",
            "det",
            "dim",
            "exp",
            "gcd",
        ),
        *(
            "hom",
            "inf",
            "ker",
            "lg",
            "lim",
            "liminf",
            "limsup",
            "ln",
            "log",
            "max",
            "min",
            "Pr",
            "sec",
            "sin",
            "sinh",
        ),
        *("sup", "tan", "tanh"),
    )
)
_VARIANTS = {
    "bold": "mathbf",
    "double-struck": "mathbb",
    "script": "mathcal",
    "fraktur": "mathfrak",
    "monospace": "mathtt",
    "sans-serif": "mathsf",
    "bold-italic": "boldsymbol",
    "bold-fraktur": "mathfrak",
    "bold-script": "mathcal",
}
_ACCENTS = {
    "^": "hat",
    "ˆ": "hat",
    "¯": "bar",
    "‾": "overline",
    "→": "vec",
    "⃗": "vec",
    "~": "tilde",
    "˜": "tilde",
    "˙": "dot",
    ".": "dot",
    "¨": "ddot",
    "ˇ": "check",
    "˘": "breve",
    "´": "acute",
    "`": "grave",
    "⏞": "overbrace",
    "―": "overline",
    "_": "overline",
    "∼": "tilde",
}
_BELOW = {
    "_": "underline",
    "¯": "underline",
    "‾": "underline",
    "⏟": "underbrace",
    "\u0332": "underline",
}
_LIMITS = re.compile(
    r"\\(?:sum|prod|coprod|i{0,3}nt|oint|big\w+|lim\w*|max|min|sup|inf|det|Pr|gcd)\b|\\operatorname"
)


class _TooDeepError(Exception):
    """The formula nests deeper than any real one."""


def _written(formula: Any) -> str:
    """A MathML formula as LaTeX; one that is too large, as its text, in which a base and its power stay apart."""
    text = " ".join(" ".join(formula.itertext()).split())
    if sum(1 for _ in formula.iter()) > MOST_PARTS:
        return text
    try:
        return _row(list(formula), 0).strip()
    except _TooDeepError:
        return text


def _row(parts: list[Any], depth: int) -> str:
    return _joined([_part(part, depth + 1) for part in parts])


_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z]+\Z")


def _joined(pieces: list[str]) -> str:
    """Pieces of LaTeX, with a blank between a command and a letter after it."""
    joined: list[str] = []
    before = ""
    for piece in pieces:
        if not piece:
            continue
        if piece[0].isalpha() and _ENDS_IN_COMMAND.search(before[-30:]):
            joined.append(" ")
        joined.append(piece)
        before = piece
    return "".join(joined)


def _part(element: Any, depth: int) -> str:
    if depth > DEEPEST:
        raise _TooDeepError
    tag = element.tag.rpartition(":")[2] if isinstance(element.tag, str) else ""
    if token := _TOKENS.get(tag):
        return token(element)
    children = list(element)
    if (layout := _LAYOUTS.get(tag)) and len(children) >= layout.least:
        return layout.write(element, [_part(child, depth + 1) for child in children])
    if tag == "menclose" and "radical" in element.get("notation", ""):
        return _LAYOUTS["msqrt"].write(element, [_part(child, depth + 1) for child in children])
    if tag in ("mtable", "mtr", "mlabeledtr"):
        return _table(element, depth) if tag == "mtable" else _row(children, depth)
    if tag == "mmultiscripts":
        return _multiscripts(children, depth)
    if tag in ("semantics", "maction"):
        return _row(children[:1], depth)
    if tag in ("mphantom", "annotation", "annotation-xml", "mprescripts", "none"):
        return ""
    own = [_signs(element.text or "")] if tag not in _SILENT else []
    return _joined([*own, _row(children, depth)])


_SILENT = frozenset(("math", "mrow", "mstyle", "mpadded", "menclose", "merror", "mtd"))
"""What has no text of its own but the blanks of its source."""


def _signs(text: str) -> str:
    """Characters of a formula as LaTeX."""
    return _joined([_SIGNS.get(sign, sign) for sign in " ".join(text.split())])


def _text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def _identifier(element: Any) -> str:
    name = _text(element)
    variant = _VARIANTS.get(element.get("mathvariant", ""))
    if variant is None and len(name) == 1 and name not in _SIGNS and ord(name) > 0x2100:
        name, variant = _plain_letter(name)
    if variant:
        return f"\\{variant}{{{_signs(name)}}}"
    if len(name) < 2 or not name.isalpha():
        return _signs(name)
    return f"\\{name}" if name in _FUNCTIONS else f"\\mathrm{{{_signs(name)}}}"


def _plain_letter(sign: str) -> tuple[str, str | None]:
    """A letter for formulas (`𝐀`, `ℝ`) as a letter of prose, and the command for its style."""
    name, letter = unicodedata.name(sign, ""), unicodedata.normalize("NFKC", sign)
    if len(letter) != 1 or not letter.isalpha():
        return sign, None
    for word, command in (
        ("DOUBLE-STRUCK", "mathbb"),
        ("FRAKTUR", "mathfrak"),
        ("SCRIPT", "mathcal"),
    ):
        if word in name or (word == "FRAKTUR" and "BLACK-LETTER" in name):
            return letter, command
    return letter, "mathbf" if "BOLD" in name else None


def _quoted(element: Any) -> str:
    text = "".join(element.itertext())
    collapsed = " ".join(text.split())
    if not collapsed:
        return "\\ " if text else ""
    before, after = " " * text[0].isspace(), " " * text[-1].isspace()
    if collapsed in _SIGNS or not any(map(str.isalnum, collapsed)):
        return f"{before}{_signs(collapsed)}{after}"
    return f"\\text{{{before}{collapsed}{after}}}"


def _operator(element: Any) -> str:
    name = _text(element)
    if len(name) > 1 and name.isalpha():
        return f"\\{name}" if name in _FUNCTIONS else f"\\operatorname{{{name}}}"
    return _signs(name)


_TOKENS: Mapping[str, Callable[[Any], str]] = {
    "mi": _identifier,
    "mn": lambda element: _signs(_text(element)),
    "mo": _operator,
    "mtext": _quoted,
    "ms": _quoted,
    "mspace": lambda element: " ",
}


class _Layout:
    """How an element with parts is written: by their LaTeX, if it has at least so many of them."""

    def __init__(self, least: int, write: Callable[[Any, list[str]], str]) -> None:
        self.least = least
        self.write = write


def _base(tex: str) -> str:
    """What bears a script, in braces if it is more than one sign."""
    is_one = len(tex) == 1 or re.fullmatch(r"\\[A-Za-z]+(?:\{[^{}]*\})?|\([^()]*\)|\d+", tex)
    return tex if is_one else f"{{{tex}}}"


def _fraction(element: Any, parts: list[str]) -> str:
    above, below = parts[:2]
    if element.get("linethickness", "").rstrip("pxemt%") in ("0", "0.0"):
        return f"{{{above} \\atop {below}}}"
    return (
        f"{above}/{below}" if element.get("bevelled") == "true" else f"\\frac{{{above}}}{{{below}}}"
    )


def _primed(script: str) -> str:
    return "'" * (len(script) // len("\\prime")) if re.fullmatch(r"(?:\\prime|')+", script) else ""


def _raised(base: str, script: str) -> str:
    if primes := _primed(script):
        return _base(base) + primes
    return f"{_base(base)}^{{{script}}}"


def _under(element: Any, parts: list[str]) -> str:
    base, below = parts[:2]
    if _LIMITS.match(base):
        return f"{base}_{{{below}}}"
    command = _BELOW.get(_text(element[1]))
    return f"\\{command}{{{base}}}" if command else f"\\underset{{{below}}}{{{base}}}"


def _over(element: Any, parts: list[str]) -> str:
    base, above = parts[:2]
    if _LIMITS.match(base):
        return f"{base}^{{{above}}}"
    command = _ACCENTS.get(_text(element[1]))
    return f"\\{command}{{{base}}}" if command else f"\\overset{{{above}}}{{{base}}}"


def _under_over(element: Any, parts: list[str]) -> str:
    base, below, above = parts[:3]
    if _LIMITS.match(base):
        return f"{base}_{{{below}}}^{{{above}}}"
    return f"\\overset{{{above}}}{{\\underset{{{below}}}{{{base}}}}}"


def _fenced(element: Any, parts: list[str]) -> str:
    separators = "".join(element.get("separators", ",").split())
    inner = ""
    for place, part in enumerate(parts):
        separator = separators[min(place, len(separators)) - 1] if place and separators else ""
        inner += separator + part
    return f"{_signs(element.get('open', '('))}{inner}{_signs(element.get('close', ')'))}"


_LAYOUTS: Mapping[str, _Layout] = {
    "mfrac": _Layout(2, _fraction),
    "msqrt": _Layout(0, lambda element, parts: f"\\sqrt{{{_joined(parts)}}}"),
    "mroot": _Layout(2, lambda element, parts: f"\\sqrt[{parts[1]}]{{{parts[0]}}}"),
    "msup": _Layout(2, lambda element, parts: _raised(parts[0], parts[1])),
    "msub": _Layout(2, lambda element, parts: f"{_base(parts[0])}_{{{parts[1]}}}"),
    "msubsup": _Layout(
        3, lambda element, parts: f"{_base(parts[0])}_{{{parts[1]}}}^{{{parts[2]}}}"
    ),
    "munder": _Layout(2, _under),
    "mover": _Layout(2, _over),
    "munderover": _Layout(3, _under_over),
    "mfenced": _Layout(0, _fenced),
}


def _table(element: Any, depth: int) -> str:
    rows = []
    if element.find("mtr") is None and element.find("mlabeledtr") is None:
        return _row(list(element), depth)
    for row in element.iterchildren("mtr", "mlabeledtr"):
        cells = [cell for cell in row if cell.tag == "mtd"]
        rows.append(" & ".join(_row(list(cell), depth + 1) for cell in cells))
    lines = " \\\\ ".join(rows)
    return f"\\begin{{matrix}}{lines}\\end{{matrix}}"


def _multiscripts(children: list[Any], depth: int) -> str:
    """A base with pairs of scripts after it and, behind `<mprescripts>`, before it."""
    if not children:
        return ""
    base, *rest = children
    split = next((place for place, part in enumerate(rest) if part.tag == "mprescripts"), len(rest))
    after, before = _pairs(rest[:split], depth), _pairs(rest[split + 1 :], depth)
    return f"{'{}' if before else ''}{before}{_base(_part(base, depth + 1))}{after}"


def _pairs(scripts: list[Any], depth: int) -> str:
    written = [_part(script, depth + 1) for script in scripts]
    pairs = zip(written[::2], [*written[1::2], ""], strict=False)
    return "".join(
        (f"_{{{low}}}" if low else "") + (f"^{{{high}}}" if high else "") for low, high in pairs
    )
