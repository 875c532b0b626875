# ruff: noqa: E501 (markup as generators write it)
"""Code is what its author wrote, in the markup of every generator: without line numbers, buttons or labels."""

import re

import pytest

from websearch_gateway.base.markdown import code_blocks
from websearch_gateway.pages.extraction.crawled import crawled_html

CODE = 'def spam(n: int) -> str:\n    if n > 1:\n        return "a" * n  # 1 < 2\n\n    return frob.egg(n)'
LINES = [line.replace("<", "&lt;").replace(">", "&gt;") for line in CODE.split("\n")]
WHOLE = "\n".join(LINES)
NUMBERS = "\n".join(str(n) for n in range(1, 6))
TEXT = (
    "The function above makes as many eggs as it is asked for, and calls another one for the rest."
)


def numbered(line: str) -> str:
    """Each line of the code as `line` says: `%(n)d` is its number, `%(code)s` its text."""
    return "".join(line % {"n": n, "code": code} for n, code in enumerate(LINES, 1))


GENERATORS = {
    "sphinx": ("python", '<div class="highlight-python notranslate"><div class="highlight"><pre><span></span>'
        + numbered('<span class="linenos">%(n)d</span><span class="k">%(code)s</span>\n') + "</pre></div></div>"),
    "sphinx, numbers in a table": ("python", '<div class="highlight-python notranslate"><table class="highlighttable">'
        f'<tr><td class="linenos"><div class="linenodiv"><pre>{NUMBERS}</pre></div></td>'
        f'<td class="code"><div class="highlight"><pre>{WHOLE}\n</pre></div></td></tr></table></div>'),
    "material for mkdocs": ("py", '<div class="language-py highlight"><table class="highlighttable"><tr><th colspan="2" '
        'class="filename"><span class="filename">eggs.py</span></th></tr><tr><td class="linenos"><div class="linenodiv">'
        '<pre><span></span>' + numbered('<span class="normal">%(n)d</span>\n') + '</pre></div></td><td class="code"><div>'
        f'<pre><span></span><code>{WHOLE}\n</code></pre></div></td></tr></table></div>'),
    "mkdocstrings": ("python", '<details class="quote"><summary>Source code in <code>eggs.py</code></summary>'
        '<div class="language-python highlight"><table class="highlighttable"><tr><td class="linenos">'
        f'<div class="linenodiv"><pre>{NUMBERS}</pre></div></td><td class="code"><div><pre><code>{WHOLE}</code></pre>'
        "</div></td></tr></table></div></details>"),
    "pdoc": ("", '<label class="view-source-button"><span>View Source</span></label><div class="pdoc-code codehilite">'
        "<pre><span></span>" + numbered('<span id="L-%(n)d"><a href="#L-%(n)d"><span class="linenos">%(n)d</span></a>'
        "%(code)s\n</span>") + "</pre></div>"),
    "hugo, numbers in a table": ("python", '<div class="highlight"><div class="chroma"><table class="lntable"><tr>'
        '<td class="lntd"><pre class="chroma"><code>' + numbered('<span class="lnt">%(n)d\n</span>') + "</code></pre></td>"
        f'<td class="lntd"><pre class="chroma"><code class="language-python" data-lang="python">{WHOLE}</code></pre></td>'
        "</tr></table></div></div>"),
    "hugo, inline numbers": ("python", '<div class="highlight"><pre class="chroma"><code class="language-python" '
        'data-lang="python">' + numbered('<span class="line"><span class="ln">%(n)d</span><span class="cl">%(code)s\n'
        "</span></span>") + "</code></pre></div>"),
    "hugo, without classes": ("python", '<div class="highlight"><pre style="color:#f8f8f2;background-color:#272822"><code class="language-python" '
        'data-lang="python">' + numbered('<span style="display:flex;"><span style="white-space:pre;-webkit-user-select:'
        'none;user-select:none;margin-right:0.4em">%(n)d</span><span>%(code)s\n</span></span>') + "</code></pre></div>"),
    "docusaurus": ("python", '<div class="language-python codeBlockContainer_x"><div class="codeBlockContent_x">'
        '<pre tabindex="0" class="prism-code language-python"><code class="codeBlockLines_x">'
        + numbered('<span class="token-line codeLine_x"><span class="codeLineNumber_x"></span><span>%(code)s</span><br>'
        "</span>") + '</code></pre><div class="buttonGroup_x"><button type="button" aria-label="Copy code to clipboard">'
        "Copy</button></div></div></div>"),
    "vitepress": ("python", '<div class="language-python line-numbers-mode"><button title="Copy Code" class="copy"></button>'
        '<span class="lang">python</span><pre class="shiki"><code>'
        + "\n".join(f'<span class="line"><span style="--x:#fff">{line}</span></span>' for line in LINES)
        + '</code></pre><div class="line-numbers-wrapper" aria-hidden="true">'
        + numbered('<span class="line-number">%(n)d</span><br>') + "</div></div>"),
    "starlight": ("python", '<div class="expressive-code"><figure class="frame"><pre data-language="python"><code>'
        + numbered('<div class="ec-line"><div class="gutter"><div class="ln" aria-hidden="true">%(n)d</div></div>'
        '<div class="code">%(code)s</div></div>') + '</code></pre><div class="copy"><button title="Copy to clipboard">'
        "<div></div></button></div></figure></div>"),
    "mdbook": ("rust", '<pre><div class="buttons"><button class="clip-button" title="Copy to clipboard"></button></div>'
        f'<pre class="playground"><code class="language-rust edition2021">{WHOLE}\n</code></pre></pre>'),
    "rustdoc": ("rust", '<div class="example-wrap"><pre class="rust rust-example-rendered"><code>'
        f'{WHOLE}</code></pre><a class="test-arrow" target="_blank" href="https://play.example/?code={"x" * 600}">Run</a>'
        "</div>"),
    "rustdoc, source": ("rust", '<div class="example-wrap"><pre class="rust"><code>'
        + numbered('<a href="#%(n)d" id="%(n)d" data-nosnippet>%(n)d</a>%(code)s\n') + "</code></pre></div>"),
    "javadoc": ("java", '<div class="snippet-container"><button class="copy snippet-copy" aria-label="Copy snippet"><span '
        f'data-copied="Copied!">Copy</span></button><pre class="snippet"><code class="language-java">{WHOLE}\n</code></pre>'
        "</div>"),
    "doxygen": ("", '<div class="fragment">' + numbered('<div class="line"><a id="l%(n)05d" name="l%(n)05d"></a>'
        '<span class="lineno">    %(n)d</span>%(code)s</div>\n')
        + '<div class="ttc" id="a1"><div class="ttname">spam</div></div></div><!-- fragment -->'),
    "jekyll": ("python", '<div class="language-python highlighter-rouge"><div class="highlight"><pre class="highlight"><code>'
        '<table class="rouge-table"><tbody><tr><td class="rouge-gutter gl"><pre class="lineno">'
        f'{NUMBERS}\n</pre></td><td class="rouge-code"><pre>{WHOLE}\n</pre></td></tr></tbody></table></code></pre></div></div>'),
    "asciidoctor": ("python", '<div class="listingblock"><div class="content"><pre class="rouge highlight"><code '
        'data-lang="python"><table class="linenotable"><tbody><tr><td class="linenos gl"><pre class="lineno">'
        f'{NUMBERS}\n</pre></td><td class="code"><pre>{WHOLE}\n</pre></td></tr></tbody></table></code></pre></div></div>'),
    "yard": ("", '<table class="source_code"><tr><td><pre class="lines">\n' + NUMBERS + "</pre></td><td>"
        f'<pre class="code">{WHOLE}</pre></td></tr></table>'),
    "asciidoctor, with callouts": ("python", '<div class="listingblock"><div class="content"><pre class="highlightjs '
        'highlight"><code class="language-python hljs" data-lang="python">'
        + "\n".join(f'{line} <i class="conum" data-value="{n}"></i><b>({n})</b>' if line else "" for n, line in enumerate(LINES))
        + '</code></pre></div></div>'),
    "asciidoctor, with callouts and without icons": ("", '<pre>' + "\n".join(f'{line} <b class="conum">(1)</b>' if line else ""
        for line in LINES) + "</pre>"),
    "nextra": ("", '<div data-pagefind-ignore="all" class="nextra-code"><pre class="x:group not-prose" tabindex="0"><div class="x:flex">'
        '<button title="Toggle word wrap" type="button"></button><button title="Copy code" type="button"></button></div><code '
        'class="nextra-code" dir="ltr" data-line-numbers="">'
        + "\n".join(f"<span>{f'<span>{line}</span>' if line else ' '}</span>" for line in LINES) + "</code></pre></div>"),
    "fumadocs": ("", '<figure dir="ltr" class="shiki not-prose" data-line-numbers="true"><div class="absolute"><button type="button" '
        'aria-label="Copy Text"></button></div><div class="overflow-auto"><pre class="w-max"><code>'
        + "\n".join(f'<span class="line">{f"<span>{line}</span>" if line else ""}</span>' for line in LINES)
        + "</code></pre></div></figure>"),
    "hexo": ("python", '<figure class="highlight python"><figcaption><span>eggs.js</span></figcaption><table><tr><td class="gutter"><pre>'
        + numbered('<span class="line">%(n)d</span><br>') + '</pre></td><td class="code"><pre>'
        + "".join(f'<span class="line">{line}</span><br>' for line in LINES) + "</pre></td></tr></table></figure>"),
    "slate": ("ruby", '<blockquote><p>To make eggs, use this code:</p></blockquote><div class="highlight"><pre class="highlight ruby '
        f'tab-ruby"><code>{WHOLE}\n</code></pre></div>'),
    "retype": ("html", f'<doc-codeblock line-numbers highlight="2"><pre translate="no" class="language-markup"><code v-pre '
        f'class="language-markup">{WHOLE}</code></pre></doc-codeblock>'),
    "a quote around code": ("", f"<blockquote><pre>{WHOLE}</pre></blockquote>"),
}  # fmt: skip


@pytest.mark.parametrize("name", GENERATORS)
def test_code_is_kept_byte_for_byte_with_its_language(name):
    language, markup = GENERATORS[name]
    page = f"<html><body><main><h1>Eggs</h1><p>{TEXT}</p>{markup}<p>{TEXT}</p></main></body></html>"
    markdown = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8").markdown
    found = [markdown[start:end] for start, end in code_blocks(markdown)]
    assert found == [f"```{language}\n{CODE}\n```"]
    rest = markdown.replace(found[0], "")
    assert not re.search(
        r"\b(?:Copy|Run|View Source|python|\d)\b", rest.replace("data-lang", "")
    ), rest
    assert rest.count(TEXT) == 2


@pytest.mark.parametrize(
    "markup",
    [
        '<h2>Use</h2><a class="sl-anchor-link" href="#use"><span class="sr-only">Section titled “Use”</span></a>',
        '<div class="tabs"><label>npm</label><label>pnpm</label><label>yarn</label><label>bun</label></div>',
        '<ul role="tablist" class="tabs"><li role="tab">npm</li><li role="tab">pnpm</li></ul>',
        '<div class="ulist tablist"><ul><li id="_tabs_1_npm" class="tab"><p>npm</p></li><li class="tab"><p>pnpm</p></li></ul></div>',
        '<span class="theme-doc-version-badge badge">Version: 1.0</span>',
        '<div class="tocCollapsible_x theme-doc-toc-mobile"><button>On this page</button></div>',
        '<span class="method-click-advice">click to toggle source</span>',
    ],
)
def test_what_generators_add_is_left_out(markup):
    page = f"<html><body><main><h1>Eggs</h1><p>{TEXT}</p>{markup}<p>{TEXT}</p></main></body></html>"
    markdown = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8").markdown
    assert markdown.removeprefix("# Eggs\n\n").replace("## Use\n\n", "") == f"{TEXT}\n\n{TEXT}"


def test_code_in_a_note_of_asciidoc_stays_code_and_code_of_one_line_in_a_cell_is_a_span():
    note = (
        '<div class="admonitionblock warning"><table><tr><td class="icon"><i class="fa icon-warning" title="Warning"></i></td>'
        f'<td class="content"><div class="paragraph"><p>{TEXT}</p></div><div class="listingblock"><pre><code '
        'class="language-bash">spam --once</code></pre></div></td></tr></table></div>'
    )
    cells = "<table><tr><th>Call</th><th>For</th></tr><tr><td><pre>spam | egg</pre></td><td>Eggs</td></tr></table>"
    page = f"<main><h1>Eggs</h1><p>{TEXT}</p>{note}{cells}</main>"
    markdown = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8").markdown
    assert f"{TEXT}\n\n```bash\nspam --once\n```" in markdown
    assert r"| `spam \| egg` | Eggs |" in markdown


def test_the_cards_of_the_pages_before_and_after_are_left_out():
    cards = "".join(
        f'<a class="flex" href="/{way}"><div><p>Spam</p></div><p>{way} Page</p></a>'
        for way in ("Previous", "Next")
    )
    page = f'<body><article><h1>Eggs</h1><div class="prose"><p>{TEXT}</p></div><div class="grid">{cards}</div></article></body>'
    found = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8")
    assert found.markdown == f"# Eggs\n\n{TEXT}"
    assert found.links == ("https://docs.example.org/Previous", "https://docs.example.org/Next")


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("line-numbers", ""),
        ("` tab-x", ""),
        ("wrap", ""),
        ("ruby", "ruby"),
        ("objective-c tab-objc", "objective-c"),
    ],
)
def test_only_a_language_beside_the_class_of_rouge_is_one(name: str, language: str):
    page = f'<main><h1>Eggs</h1><p>{TEXT}</p><pre class="highlight {name}">spam\neggs</pre></main>'
    found = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8")
    assert f"\n```{language}\nspam" in found.markdown


def test_a_link_around_the_text_of_an_article_is_no_card():
    for head, text in (("", TEXT), ("<h1>Eggs</h1>", TEXT * 9)):
        page = f'<article>{head}<div><a href="/eggs"><p>{text}</p></a></div></article>'
        assert (
            TEXT in crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8").markdown
        )


def test_the_definitions_of_rustdoc_have_their_ids_and_no_notes():
    page = (
        f'<main><h1>Struct Eggs</h1><p>{TEXT}</p><section id="method.spam" class="method"><span class="rightside"><span '
        'class="since">1.6.0</span> · <a class="src" href="../src/eggs.rs.html">Source</a></span><a href="#method.spam" '
        f'class="anchor"></a><h4 class="code-header">pub fn spam(n: u8)</h4></section><p>{TEXT}</p></main>'
    )
    found = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8")
    ((offset, name),) = found.anchors
    assert name == "method.spam"
    assert found.markdown[offset:].startswith("#### pub fn spam(n: u8)\n")


def test_the_signatures_of_pdoc_have_their_ids():
    page = (
        f'<main class="pdoc"><h1>eggs</h1><p>{TEXT}</p><section id="Eggs"><input id="Eggs-view-source" type="checkbox">'
        '<div class="attr class"><span class="def">class</span> <span class="name">Eggs</span>:</div><a class="headerlink" '
        f'href="#Eggs"></a><div class="docstring"><p>{TEXT}</p></div><div id="Eggs.spam" class="classattr"><div class="attr '
        'function"><span class="def">def</span> <span class="name">spam</span>(n: int):</div><a class="headerlink" '
        f'href="#Eggs.spam"></a><div class="docstring"><p>{TEXT}</p></div></div></section></main>'
    )
    found = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8")
    assert [(name, found.markdown[at:].partition("\n")[0]) for at, name in found.anchors] == [
        ("Eggs", "class Eggs:"),
        ("Eggs.spam", "def spam(n: int):"),
    ]


@pytest.mark.parametrize(
    ("markup", "ids", "line"),
    [
        pytest.param(
            '<div class="basemethod"><a name="eggs.Egg.boil">\n</a>\n<a name="boil">\n</a><div class="functionHeader"><span>def</span> '
            f'<span class="py-defname">boil</span>(self):</div><div class="docstring"><p>{TEXT}</p></div></div>',
            ["boil", "eggs.Egg.boil"],
            "def boil(self):",
            id="pydoctor",
        ),
        pytest.param(
            '<div class="border-bottom" id="eggboil"><div class="toggle-sibling"><div><a class="icon">▸</a> <span class="code">boil(times)'
            f'</span></div></div><div class="toggle-target"><section><p>{TEXT}</p></section></div></div>',
            ["eggboil"],
            "▸ boil(times)",
            id="documentation.js",
        ),
        pytest.param(
            '<section id="impl-Boil-for-Egg" class="impl"><a class="src rightside" href="s.html">Source</a><a href="#impl-Boil-for-Egg" '
            f'class="anchor">§</a><h3 class="code-header">impl Boil for Egg</h3></section><p>{TEXT}</p>',
            ["impl-Boil-for-Egg"],
            "### impl Boil for Egg",
            id="rustdoc",
        ),
        pytest.param(
            '<span id="structfield.size" class="structfield section-header"><a href="#structfield.size" class="anchor field">§</a><code>'
            f"size: u8</code></span><div class='docblock'><p>{TEXT}</p></div>",
            ["structfield.size"],
            "`size: u8`",
            id="a field in rustdoc",
        ),
    ],
)
def test_a_definition_is_found_by_the_ids_beside_it(markup: str, ids: list[str], line: str):
    page = f"<main><h1>eggs</h1><p>{TEXT}</p>{markup}</main>"
    found = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8")
    assert [(name, found.markdown[at:].partition("\n")[0]) for at, name in found.anchors] == [
        (one, line) for one in ids
    ]


def test_every_signature_of_haddock_stays_and_has_its_id():
    def signature(kind: str, name: str) -> str:
        return (
            f'<div class="top"><p class="src">{kind}<a id="v:{name}" class="def">{name}</a> :: (<a href="Eggs.html#t:Egg">Egg</a> '
            f'a) =&gt; <a href="Eggs.html#t:Pan">Pan</a> a <a href="src/Eggs.html#{name}" class="link">Source</a> '
            f'<a href="#v:{name}" class="selflink">#</a></p></div>'
        )

    names = [
        f"{verb}{way}" for verb in ("fry", "boil", "scramble") for way in ("Fast", "Slow", "P")
    ]
    listed = "".join(
        f'<li class="src short"><a href="#v:{name}">{name}</a> :: Pan a</li>' for name in names
    )
    page = (
        '<div id="package-header"><ul class="links"><li><a href="index.html">Contents</a></li></ul></div><div id="content">'
        f'<div id="synopsis"><ul class="details-toggle">{listed}</ul></div><div id="interface"><h1>Documentation</h1>'
        f'<div class="top"><p class="src"><span class="keyword">data</span> <a id="t:Egg" class="def">Egg</a></p><p>{TEXT}</p>'
        f"</div>{''.join(signature('', name) for name in names)}</div></div>"
    )
    found = crawled_html(page.encode(), "https://docs.example.org/Eggs.html", "utf-8")
    lines = {name: found.markdown[at:].partition("\n")[0] for at, name in found.anchors}
    assert lines["t:Egg"] == "data Egg"
    assert [lines[f"v:{name}"].split(" ")[0] for name in names] == names
    assert "Source" not in found.markdown


def test_a_short_member_of_typedoc_stays_with_its_heading():
    member = '<section class="tsd-member"><h3 id="name">name</h3><div class="tsd-signature">name: string</div></section>'
    code = f'<pre><code class="ts">{WHOLE}</code><button type="button">Copy</button></pre>'
    page = f'<body><div class="col-content"><h1>Class Eggs</h1><p>{TEXT}</p>{code}<h2>Properties</h2>{member}</div></body>'
    markdown = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8").markdown
    assert "### name\n\nname: string" in markdown
    assert f"```ts\n{CODE}\n```" in markdown


def test_of_typedoc_the_crumbs_and_the_menu_go_and_a_flag_is_a_word_of_its_own():
    page = (
        f'<body><div class="col-content"><ul class="tsd-breadcrumb"><li><a aria-current="page">Eggs</a></li></ul><h1>Class '
        f'Eggs</h1><p>{TEXT}</p><h3 class="tsd-anchor-link" id="size"><code class="tsd-tag">Readonly</code><span>size</span>'
        f'<a href="#size" class="tsd-anchor-icon"></a></h3><p>{TEXT}</p></div><div class="col-sidebar"><div class='
        '"page-menu"><div><h3>Settings</h3><ul><li>Protected</li></ul></div><h3>On This Page</h3></div></div></body>'
    )
    markdown = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8").markdown
    assert markdown == f"# Class Eggs\n\n{TEXT}\n\n### `Readonly` size\n\n{TEXT}"


def test_a_menu_beside_the_text_is_left_out():
    menu = (
        '<nav><h2><a href="index.html">Home</a></h2><h3>Modules</h3><ul><li><a href="module-eggs.html">eggs</a></li></ul>'
        '<h3>Classes</h3><ul><li><a href="module-eggs-Table.html">Table</a></li></ul></nav>'
    )
    text = (
        '<h3>Methods</h3><h4 class="name" id=".spam">spam(n)</h4><div class="description">Run a table.</div><h5>Parameters:'
        '</h5><table class="params"><thead><tr><th>Name</th><th>Type</th></tr></thead><tbody><tr><td>n</td><td>number</td>'
        "</tr></tbody></table>"
    )
    page = (
        f'<body><div id="main"><h1 class="page-title">Module: eggs</h1><section><article>{text}</article></section></div>'
        f'{menu}<br class="clear"><footer>Documentation generated by <a href="https://jsdoc.example">JSDoc</a></footer></body>'
    )
    markdown = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8").markdown
    assert "Modules" not in markdown
    assert "#### spam(n)" in markdown
    alone = crawled_html(
        f"<body>{menu}</body>".encode(), "https://docs.example.org/eggs", "utf-8"
    ).markdown
    assert "Home" in alone


def test_a_heading_that_links_to_itself_is_plain_text():
    page = (
        f'<main><h1 id="eggs"><a class="header-anchor" href="#eggs"><span>Eggs</span></a></h1><p>{TEXT}</p>'
        f'<h2><a href="other.html">Spam</a></h2><p>{TEXT}</p></main>'
    )
    markdown = crawled_html(page.encode(), "https://docs.example.org/x", "utf-8").markdown
    assert (
        markdown == f"# Eggs\n\n{TEXT}\n\n## [Spam](https://docs.example.org/other.html)\n\n{TEXT}"
    )


def test_the_words_before_code_stay_with_it_on_a_page_without_a_frame():
    before = "".join(
        f"<h2>Step {n}</h2><p>{TEXT}</p><pre><code>x = {n}</code></pre><p>{TEXT}</p>"
        for n in range(10)
    )
    steps = "".join(
        f"<li><p>{words}:</p><pre><code>frob</code></pre></li>"
        for words in ("First do this", "Then that")
    )
    page = f"<body><h1>Eggs</h1><p>{TEXT}</p>{before}<h2>In a list</h2><ol>{steps}</ol></body>"
    markdown = crawled_html(page.encode(), "https://docs.example.org/x", "utf-8").markdown
    assert "1. First do this:" in markdown
    assert "2. Then that:" in markdown


def test_buttons_in_headings_of_rustdoc_and_links_to_source_are_left_out():
    page = (
        '<main><h1>Struct <span>Eggs</span>&nbsp;<button id="copy-path">Copy item path</button></h1><span '
        'class="sub-heading"><a class="src" href="../src/eggs.rs.html#9">Source</a> </span><details class="toggle top-doc" '
        f'open><summary class="hideme"><span>Expand description</span></summary><p>{TEXT}</p></details><p>{TEXT}</p></main>'
    )
    markdown = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8").markdown
    assert markdown == f"# Struct Eggs\n\n{TEXT}\n\n{TEXT}"


def test_terms_with_ids_are_kept_with_their_texts_however_short():
    terms = "".join(
        f'<h4>m{n}()</h4><dl><dt id="eggs.m{n}">m{n}(x)</dt><dd></dd></dl><p>{TEXT}</p>'
        for n in range(9)
    )
    page = f"<body><div class='body'><h1>Eggs</h1><p>{TEXT}</p>{terms}</div></body>"
    found = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8")
    assert [name for _, name in found.anchors] == [f"eggs.m{n}" for n in range(9)]


def test_the_bar_and_the_empty_search_of_honkit_are_left_out():
    page = (
        '<html><body><div class="book-header" role="navigation"><h1><a href=".">Guide</a></h1></div><div role="main">'
        f'<section class="normal markdown-section"><h1>Guide</h1><p>{TEXT}</p></section><div class="search-results">'
        '<h1 class="search-results-title">No results matching ""</h1></div></div></body></html>'
    )
    markdown = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8").markdown
    assert markdown.strip() == f"# Guide\n\n{TEXT}"


def crawled(markup: str, title: str = "Eggs") -> str:
    page = f"<html><head><title>{title}</title></head><body>{markup}</body></html>"
    return crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8").markdown


def test_short_texts_stay_where_a_generator_marks_no_main_element():
    member = (
        '<h4 class="name" id="turn">turn(times)</h4><div class="description">Turn it.</div><dl class="details">'
        '<dt class="tag-source">Source:</dt><dd class="tag-source"><ul class="dummy"><li><a href="i.html">i.js</a>, <a '
        'href="i.html#line3">line 3</a></li></ul></dd></dl><h5>Returns:</h5><div class="param-desc">The turns made.</div>'
        '<dl><dt>Type</dt><dd><span class="param-type">string</span></dd></dl>'
    )
    menu = '<nav><h2><a href="index.html">Home</a></h2><h3>Classes</h3><ul><li><a href="Eggs.html">Eggs</a></li></ul></nav>'
    markdown = crawled(
        f'<div id="main"><h1 class="page-title">Class: Eggs</h1><section><header><h2>Eggs</h2></header><article>{member}'
        f"</article></section></div>{menu}<footer>Documentation generated by JSDoc 4</footer>"
    )
    assert re.findall(r"Turn it\.|The turns made\.|string", markdown) == [
        "Turn it.",
        "The turns made.",
        "string",
    ]
    assert not re.search(r"Home|Source|line 3|generated", markdown)


def test_a_card_is_not_the_article_of_its_page():
    card = '<article class="card"><p class="title"><span>Pans</span></p><div class="body"><p>Of iron.</p></div></article>'
    tree = '<starlight-file-tree><ul><li class="file"><span>eggs.md</span></li><li><span>pans.md</span></li></ul></starlight-file-tree>'
    quote = "<details><summary>More</summary><p>Boil them.</p></details><blockquote><p>So it is.</p></blockquote>"
    markdown = crawled(
        f"<main><h1>Eggs</h1><p>{TEXT}</p>{card}{tree}<h2>Boiled</h2><p>{TEXT}</p>{quote}</main>"
    )
    assert all(
        text in markdown
        for text in ("Of iron.", "eggs.md", "pans.md", "More", "Boil them.", "So it is.")
    )


def test_rows_of_names_stay_and_a_menu_above_the_text_goes_where_no_element_is_marked_as_main():
    row = "<tr><td>{0}</td><td><a href='#{0}'>{0}</a></td></tr>"
    names = "".join(map(row.format, ("hen", "pan", "salt")))
    part = f"<h2>Part</h2><p>{TEXT}</p><table><tr><th>Kind</th><th>Name</th></tr>{names}</table>"
    markdown = crawled(
        f"<div class='top'><a href='/'>Home</a> of all eggs</div><h1>Eggs</h1><p>{TEXT}</p>{part * 3}"
    )
    assert markdown.count("| salt | [salt](https://docs.example.org/eggs#salt) |") == 3
    assert not re.search(r"Home|of all eggs", markdown)


@pytest.mark.parametrize(
    "note",
    [
        '<aside class="footnote-list brackets"><aside class="footnote brackets" id="id2" role="doc-footnote"><span '
        'class="label"><a role="doc-backlink" href="#id1">1</a></span><p>Only hens.</p></aside></aside></main>',
        '</main><div id="footnotes"><hr><div class="footnote" id="_footnotedef_1"><a href="#_footnoteref_1">1</a>. Only '
        "hens.</div></div>",
    ],
)
def test_footnotes_are_text(note: str):
    assert "Only hens." in crawled(
        f"<main><h1>Eggs</h1><p>{TEXT}</p><pre>spam</pre><p>{TEXT}</p>{note}"
    )


def test_the_heading_above_the_main_element_stays_without_the_contents_below_it():
    contents = "".join(f'<li><a href="#part{n}">Part {n} of the eggs</a></li>' for n in range(9))
    parts = "".join(
        f'<div class="sect1"><h2 id="part{n}">Part {n} of the eggs</h2><p>{TEXT}</p></div>'
        for n in range(9)
    )
    toc = f'<div id="toc" class="toc"><div id="toctitle">Table of Contents</div><ul class="sectlevel1">{contents}</ul></div>'
    markdown = crawled(f'<div id="header"><h1>Eggs</h1>{toc}</div><div id="content">{parts}</div>')
    assert markdown.startswith("# Eggs\n\n## Part 0 of the eggs\n")
    written = crawled(
        f'<main><h1>Eggs</h1><nav class="contents" id="contents"><ul>{contents}</ul></nav>{parts}</main>'
    )
    assert written.startswith("# Eggs\n\n- [Part 0 of the eggs]")  # its author asked for it
    markdown = crawled(
        f'<main><h1>Eggs</h1><nav id="TableOfContents"><ul>{contents}</ul></nav>{parts}</main>'
    )
    assert markdown.startswith("# Eggs\n\n## Part 0 of the eggs\n")


def test_crumbs_and_a_footer_without_a_role_are_left_out():
    crumbs = '<div class="rustdoc-breadcrumbs"><a href="index.html">eggs</a>::<wbr><a href="pans/index.html">pans</a></div>'
    foot = '<div id="footer"><div id="footer-text">Last updated 2026-11-28 15:00:54 UTC</div></div>'
    assert crawled(f"<main>{crumbs}<h1>Eggs</h1><p>{TEXT}</p>{foot}</main>") == f"# Eggs\n\n{TEXT}"


def test_a_page_sends_its_readers_on_only_outside_of_noscript():
    moved = '<meta http-equiv="Refresh" content="0;eggs/package-summary.html">'
    for markup, target in (
        (f"<noscript>{moved}</noscript>", ""),
        (moved, "https://d.example/eggs/package-summary.html"),
    ):
        page = f"<html><head>{markup}</head><body><main><p>{TEXT}</p></main></body></html>"
        assert crawled_html(page.encode(), "https://d.example/", "utf-8").refresh == target


def test_banners_and_dialogs_are_left_out_and_a_heading_for_paper_too():
    banner = '<div class="header" role="banner"><h1><a href=".">Manual 1.0 documentation</a></h1><h2>Eggs</h2></div>'
    dialog = (
        '<div class="modal" role="dialog"><h4>Search</h4><p>From here you can search these documents. Enter your search '
        "terms below.</p></div>"
    )
    paper = (
        '<div class="onlyprint"><h1>Eggs</h1><div><h2> Contents </h2></div><nav aria-label="Page"><ul class="nav"><li '
        'class="toc-h2"><a href="#use">Use</a></li><li class="toc-h2"><a href="#see">See also</a></li></ul></nav></div>'
    )
    markdown = crawled(
        f'{banner}<div role="main">{paper}<article><section id="eggs"><h1>Eggs</h1><p>{TEXT}</p></section></article></div>{dialog}'
    )
    assert markdown == f"# Eggs\n\n{TEXT}"


def test_a_button_or_cell_with_text_of_its_own_stays():
    page = f"<main><h1>Eggs</h1><p>{TEXT}</p><button>How many eggs are there?</button><p class='ln'>{TEXT}</p></main>"
    markdown = crawled_html(page.encode(), "https://docs.example.org/eggs", "utf-8").markdown
    assert "How many eggs are there?" in markdown
    assert markdown.count(TEXT) == 2
