"""Pages that try to make the search for hidden text endless."""

from __future__ import annotations

import lxml.html
import pytest

from websearch_gateway.pages.visibility.strip import strip_invisible

SECRET = "a hidden remark"


def hostile(name: str) -> str:
    many = 20_000
    return {
        "nested": "<div style='color:#fff'>" * many + SECRET,
        "siblings": f"<p hidden>{SECRET}</p> tail" * many,
        "rules": "<style>"
        + "".join(f".a{i} .b .c > p{{display:none}}" for i in range(many))
        + "</style>"
        + "<p class=c>" * 500,
        "same": "<style>"
        + "p p p p{color:red}" * many
        + "</style>"
        + "<div><p>x</p></div>" * 2_000,
        "braces": "<style>" + "a{" * many + "</style>",
        "comment": "<style>" + "/*" * many + "</style>",
        "classes": "<p class='" + " ".join(f"c{i}" for i in range(many)) + "'>" + "<b>" * 200,
        "declarations": "<p style='" + "a:(" * many + "'>x",
        "nested rules": "<style>" + "p,b,i{" * 2_000 + "color:red" + "}" * 2_000 + "</style>",
        "siblings asked": "<style>"
        + ".a ~ b ~ b:nth-last-child(3){color:red}" * 100
        + "</style>"
        + "<b>x</b>" * many,
        "variables": "<p style='"
        + ";".join(f"--a{i}:var(--a{i + 1}) var(--a{i + 1})" for i in range(2_000))
        + ";color:var(--a0)'>",
        "values of variables": "<style>"
        + "".join(
            f"p{{--a:{i};--b:var(--a) var(--a)}} b{{width:{i}px var(--a);left:{i}px var(--b)}}"
            for i in range(many)
        )
        + "</style><p><b>x</b>",
        "folded": "<details>" * many,
        "calculated": "<p style='width:" + "calc(" * many + "'>",
        "selectors": "<style>" + "a," * many + "b[" * many + "{display:none}</style>",
    }[name]


@pytest.mark.parametrize(
    "name",
    [
        *(
            "nested",
            "siblings",
            "rules",
            "same",
            "braces",
            "comment",
            "classes",
            "declarations",
            "selectors",
        ),
        *(
            "nested rules",
            "siblings asked",
            "variables",
            "values of variables",
            "folded",
            "calculated",
        ),
    ],
)
def test_the_work_for_a_hostile_page_is_bounded(name: str) -> None:
    """Each would time out, or break the stack, if the work grew faster than the page or recursed into it."""
    tree = lxml.html.document_fromstring(hostile(name), parser=lxml.html.HTMLParser(huge_tree=True))
    strip_invisible(tree)
    assert SECRET not in tree.text_content()
