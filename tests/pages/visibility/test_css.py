from __future__ import annotations

import lxml.html
import pytest

from websearch_gateway.pages.visibility.css import on_screen
from websearch_gateway.pages.visibility.hostile import HostileStylesError
from websearch_gateway.pages.visibility.strip import strip_invisible

SEEN = "A visible paragraph that says enough about the weather of today and of tomorrow, wherever that may be."
SECRET = "a hidden remark"


@pytest.mark.parametrize(
    ("sheet", "hidden"),
    [
        ("#i{display:none}", True),
        (r".\78 9{display:none}", True),
        ("div > p.x9{display:none}", True),
        ("body .out .x9{display:none}", True),
        (".out > .no .x9{display:none}", False),
        ("section p{display:none}", False),
        ("p[data-k='v w']{display:none}", True),
        ("[class^=x]{display:none}", True),
        (".b:not(.y){display:none}", True),
        (".b:not(.x9){display:none}", False),
        (".x9{display:none} p{display:block}", True),
        (".x9{display:none} p.x9{display:block}", False),
        (".x9{display:none !important} p.x9{display:block}", True),
        ("h1, .x9 , h2{display:none}", True),
        ("h1{} @media screen and (min-width:900px){.x9{display:none}}", True),
        ("@media (width >= 40rem){.x9{display:none}}", True),
        ("@media print{.x9{display:none}}", False),
        ("@media (max-width:600px){.x9{display:none}}", False),
        ("@supports (display:grid){.x9{display:none}}", True),
        ("@keyframes a{from{display:none}} @font-face{src:x}", False),
        ("@import url(x.css); .x9{display:none}", True),
        (".x9:hover{display:none} .x9::before{display:none}", False),
        (".x9:has-text(Sponsored){display:none} .x9:contains(Sponsored){display:none}", False),
        (".x9:not(:hover, .y){display:none}", True),
        (":is(h1, .x9){display:none}", True),
        (".out :where(.no, p){display:none} .b{display:block}", False),
        (".out :is(.x9, .b){display:none}", True),
        (f".x9{{display:var(--d{' ' * 300},none)}}", True),
        (
            f":root{{{''.join(f'--d:v{at};' for at in range(99))}--d:none}} .x9{{display:var(--d)}}",
            True,
        ),
        (".x9{color:var(--i)} .out{--i:var(--j)} body{--j:#fff}", True),
        (".out{color:#fff} .x9{color:#111}", False),
        (".out{color:#fff;background:#111} .x9{background:#fff}", True),
        (":root :is(.x9:hover, .b:focus){display:none}", False),
        ("div :where(.no, .no2){display:none}", False),
        ("p:nth-child(1){display:none}", True),
        (".out p:nth-child(2n){display:none}", False),
        ("p:nth-of-type(odd).x9{display:none}", True),
        (".x9:only-child{display:none}", True),
        ("p + .out .x9{display:none}", True),
        ("p ~ .out > .x9{display:none}", True),
        ("h2 + .out .x9, .no ~ .x9{display:none}", False),
        ("[data-k='V W' i]{display:none}", True),
        (".out{color:#111;.x9{display:none}}", True),
        (".out{& > p.x9{display:none}}", True),
        (".no{.x9{display:none}}", False),
        (".x9{&.y{display:none}}", False),
        (".x9{@media screen{display:none}}", True),
        ("@scope (.out){.x9{display:none}}", True),
        ("@container side (min-width:1px){.x9{display:none}}", True),
        ("@container (max-width:9px){.x9{display:none}}", False),
        ("@media not print{.x9{display:none}}", True),
        ("@media not screen{.x9{display:none}}", False),
        ("@media not (max-width:9px){.x9{display:none}}", True),
        ("@media not (ignore_progress-of:9px){.x9{display:none}}", False),
        ("@media (10px < width <= 5000px){.x9{display:none}}", True),
        ("@media (min-width:1cm) and (min-resolution:.5dppx){.x9{display:none}}", True),
        ("@media (max-width:9px) or (any-hover){.x9{display:none}}", True),
        ("@media (prefers-color-scheme:light){.x9{display:none}}", True),
        ("@media (prefers-color-scheme:dark){.x9{display:none}}", False),
        ("@media (min-aspect-ratio:1/100){.x9{display:none}}", True),
        ("@media\nscreen\n{.x9{display:none}}", True),
        (":root{--d:none} .x9{display:var(--d)}", True),
        (":root{--a:var(--b);--b:0} .x9{opacity:var(--a)}", True),
        (":root{--d:none} .out{--d:block} .x9{display:var(--d)}", False),
        (".x9{left:-9999px} p.x9{position:absolute}", True),
        (".x9{height:0} p.x9{overflow:hidden}", True),
        ("/* } */ .x9{content:'}';display:none}", True),
        (".x9{display:none", True),
    ],
)
def test_the_rules_of_the_page_apply_as_in_a_browser(sheet: str, hidden: bool) -> None:
    body = f'<div class="out"><p class="x9 b" id="i" data-k="v w">{SECRET}</p></div>'
    tree = lxml.html.document_fromstring(
        f"<head><style>{sheet}</style></head><body><p>{SEEN}</p>{body}</body>"
    )
    strip_invisible(tree)
    assert (SECRET not in tree.text_content()) is hidden


@pytest.mark.parametrize(
    "media",
    [
        "",
        "screen",
        "print, screen",
        "not print",
        "only screen and (min-width: 600px)",
        "(width >= 600px)",
        "(400px <= width < 2000px)",
        "(color)",
        "(hover) and (pointer: fine)",
        "(orientation: landscape)",
        "not (max-width: 600px)",
        "(min-resolution: 96dpi)",
        "(min-aspect-ratio: 4/3)",
        "(max-width: 10px) or (scripting: enabled)",
        "not ((monochrome) or (max-width: 10px))",
    ],
)
def test_conditions_that_hold_on_a_laptop(media: str) -> None:
    assert on_screen(media)


@pytest.mark.parametrize(
    "media",
    [
        "print",
        "not screen",
        "screen and (max-width: 600px)",
        "(width < 600px)",
        "(prefers-color-scheme: dark)",
        "(prefers-reduced-motion)",
        "(monochrome)",
        "(min-resolution: 2dppx)",
    ],
)
def test_conditions_that_do_not_hold_on_a_laptop(media: str) -> None:
    assert not on_screen(media)


@pytest.mark.parametrize(
    "media", ["(tides: high)", "(min-width: some)", "screen and screen and not print", "((("]
)
def test_neither_an_unknown_condition_nor_its_negation_holds(media: str) -> None:
    assert not on_screen(media)
    assert not on_screen(f"not {media}")


def test_an_unknown_part_does_not_matter_if_the_others_decide() -> None:
    assert on_screen("(tides: high) or (color)")
    assert not on_screen("(tides: high) and (monochrome)")


def test_a_condition_of_hostile_depth_is_no_condition_of_an_honest_page() -> None:
    assert on_screen("(" * 63 + "color" + ")" * 63)
    with pytest.raises(HostileStylesError):
        on_screen("(" * 64 + "color" + ")" * 64)


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        ("min-resolution:1dppx", True),
        ("min-resolution:96dpi", True),
        ("min-resolution:97dpi", False),
        ("max-resolution:95dpi", False),
        ("min-resolution:37dpcm", True),
        ("min-resolution:38dpcm", False),
        ("color:8", True),
        ("width:1280px", True),
        ("device-height:800px", True),
        ("min-aspect-ratio:16/10", True),
    ],
)
def test_the_screen_is_an_ordinary_one(value: str, holds: bool) -> None:
    assert on_screen(f"({value})") is holds
