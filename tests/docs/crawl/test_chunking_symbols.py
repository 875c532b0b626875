"""The names that a page defines."""

import pytest

from websearch_gateway.docs.crawl.chunking import page_symbols
from websearch_gateway.docs.models import ChunkDraft


def named(line: str, anchor: str = "") -> list[tuple[str, str]]:
    anchors = ((0, anchor),) if anchor else ()
    return [
        (one.name, one.kind) for one in page_symbols(line, (ChunkDraft(0, len(line)),), anchors)
    ]


@pytest.mark.parametrize(
    ("line", "anchor", "name", "kind"),
    [
        ("**asyncio.timeout(*delay*)**", "asyncio.timeout", "asyncio.timeout", "api"),
        (
            "**create_task(*coro*)**",
            "asyncio.TaskGroup.create_task",
            "asyncio.TaskGroup.create_task",
            "api",
        ),
        ("*exception* **IndentationError**", "IndentationError", "IndentationError", "api"),
        (
            "**int PyArg_Parse([PyObject](https://x.example) *args)**",
            "c.PyArg_Parse",
            "PyArg_Parse",
            "api",
        ),
        ("`shared_buffers` (`integer`)", "GUC-SHARED-BUFFERS", "shared_buffers", "api"),
        ("**w(here)**", "pdbcommand-where", "where", "api"),
        ("**abstract base class**", "term-abstract-base-class", "abstract base class", "api"),
        ("foldM\\_ :: (Monad m) => m ()", "v:foldM_", "foldM_", "api"),
        ("data Tide a", "t:Tide", "Tide", "api"),
        ("**Function: max *(x, y)***", "index-max-3", "max", "api"),
        ("**: ceil *(x)***", "index-ceil", "ceil", "api"),
        ("**Command: push-mark**", "index-push_002dmark", "push-mark", "api"),
        ("#### abstract def high(day: Day): Tide", "high(day:Day):Tide", "high", "heading"),
        ("## high() \\[1/2]", "ae171b74b5d530846ee0836135ffcf837", "high", "heading"),
        (
            "#### pub fn with_capacity(capacity: usize)",
            "method.with_capacity",
            "with_capacity",
            "api",
        ),
        ("core.autocrlf", "", "core.autocrlf", "api"),
        ("| `to_json` ( `anyelement` ) | Converts. |", "", "to_json", "api"),
        ("# git-worktree(1) Manual Page", "", "git-worktree", "heading"),
        ("## pg_dump", "PG-DUMP", "pg_dump", "heading"),
        ("## `getpass`", "", "getpass", "heading"),
        ("### (5) TIDE_BUSY", "", "TIDE_BUSY", "heading"),
        ("### 3.2. `tide_open()`", "", "tide_open", "heading"),
        ("| `--jobs` | How many. |", "", "--jobs", "option"),
        ("## Strings in C#", "", "C#", "heading"),
        ("## Interoperation with C++", "", "C++", "heading"),
        ("# .NET", "", ".NET", "heading"),
        ("### `std::map::operator[]`", "", "operator[]", "heading"),
        (
            "- `EADDRINUSE` (Address already in use): A server failed to bind.",
            "",
            "EADDRINUSE",
            "heading",
        ),
        ("- `run_all()` – Runs [everything](https://x.example).", "", "run_all", "heading"),
        ("- **`TIDE_DONT_WAIT` -** never waits for high water.", "", "TIDE_DONT_WAIT", "heading"),
        ("| `EADDRINUSE` | The address is in use. |", "", "EADDRINUSE", "api"),
        ("| TIDE_CONSTRUCT_ONLY | Only set at first. |", "", "TIDE_CONSTRUCT_ONLY", "heading"),
    ],
)
def test_a_definition_has_the_name_that_people_search_for(line, anchor, name, kind):
    assert named(line, anchor) == [(name, kind)]


@pytest.mark.parametrize(
    ("title", "markdown", "ids", "names"),
    [
        (
            "Table",
            "Package [tides](https://x.example/)\n\n# Class Table\n\n### LIMIT\n\nSeven.\n\n### high\n\nThe height.",
            ("Table", "LIMIT", "high(int,java.lang.String)"),
            ["Table", "Table.LIMIT", "Table.high"],
        ),
        ("table", "# Function table\n\ntable(name: string): Table", (), ["table"]),
        (
            "Table",
            "# Interface Table\\<T>\n\n### high\n\nThe height.",
            ("x", "high"),
            ["Table", "Table.high"],
        ),
        ("Enum types", "# Enum types\n\n## high", ("enum-types", "high"), []),
        ("API", "# API\n\n**[Table](https://x.example/Table.html)**", ("x", "table"), []),
        (
            "Table",
            "# Class Table\n\n### Methods of class java.lang.Object",
            ("x", "x-inherited-from-x.Object"),
            ["Table"],
        ),
        (
            "Table | tides",
            "# Class Table\n\n### `Readonly` size\n\nFive.",
            ("x", "size"),
            ["Table", "Table.size"],
        ),
        (
            "Class: Table",
            "# Class: Table\n\n#### (static) high(name) → {number}\n\nThe height.",
            ("x", ".high"),
            ["Table", "Table.high", "high"],
        ),
        (
            "Map.Entry (Java SE 17 & JDK 17)",
            "# Interface Map.Entry\\<K, V>\n\n### getKey\n\nThe key.",
            ("x", "getKey()"),
            ["Map.Entry", "Map.Entry.getKey", "getKey"],
        ),
        (
            "Table",
            "## Class Table\n\n### high\n\nThe height.",
            ("x", "high-int-int-"),
            ["Table", "Table.high"],
        ),
        (
            "Gull: gull::Table< T > Class Template Reference",
            "## Detailed Description\n\n## high()\n\nThe height.",
            ("details", "ae171b74b5d530846ee0836135ffcf837"),
            ["gull::Table", "gull::Table::high", "high"],
        ),
        ("Erlang -- tide", "#### high(Day) -> [Tide]", ("high-1",), ["tide", "tide:high", "high"]),
        ("Tide — Elixir v1.17.3", "# high?(day)", ("high?/1",), ["Tide", "Tide.high?", "high?"]),
        ("tide — stdlib v6.0", "# high(day)", ("high/1",), ["tide", "tide:high", "high"]),
        ("Table", "## [Java] Class Table", (), ["Table"]),
        (
            "Table (tides 2.4 API)",
            "The tides.\n\n#### protected [Tide](https://x.example) high(String day)",
            ("high(String)",),
            ["Table", "Table.high", "high"],
        ),
        (
            "Tide Class | Gull 5.15",
            "### [signal] const char *Tide::high() const\n\n### low : const bool\n\n### enum Tide::Phase",
            ("high", "low-prop", "Phase-enum"),
            ["Tide", "Tide::high", "Tide::low", "Tide::Phase", "high"],
        ),
        (
            "TideTable (tides API)",
            "# Class TideTable\n\n### TideTable\n\nMakes one.",
            ("x", "TideTable(int)"),
            ["TideTable", "TideTable.TideTable", "TideTable"],
        ),
        ("Control.Tide", "high :: Tide", ("v:high",), ["high", "Control.Tide.high"]),
        (
            "tides",
            "# tides\n\n#### (static) high(name, portopt) → {number}",
            ("x", ".high"),
            ["high"],
        ),
    ],
)
def test_pages_of_generators_define_their_class_and_its_members(title, markdown, ids, names):
    lines = [
        at
        for at, char in enumerate(f"\n{markdown}")
        if char == "\n" and markdown[at : at + 1] in "#*h"
    ]
    anchors = tuple(zip(lines, ids, strict=False))
    found = page_symbols(markdown, (ChunkDraft(0, len(markdown)),), anchors, (), None, title)
    assert [one.name for one in found] == names


def test_every_form_of_an_option_is_a_symbol():
    assert named("-n") == [("-n", "option")]
    assert named("`-j njobs`\n`--jobs=njobs`") == [("-j", "option"), ("--jobs", "option")]
    assert named("#### `-e`, `--inspect-brk[=[host:]port]`", "e") == [
        ("-e", "option"),
        ("--inspect-brk", "option"),
    ]
    assert named("--[no-]verify") == [("--verify", "option"), ("--no-verify", "option")]


@pytest.mark.parametrize(
    "line",
    [
        "The shared_buffers setting is a size.",
        "## How to install",
        "- an item, not an option",
        "```\n--in-code\n```",
        "| `true` | yes |",
    ],
)
def test_prose_defines_nothing(line):
    assert named(line, "some-section" if line.startswith("#") else "") == []


def test_inventory_names_are_symbols_at_the_place_of_their_anchors():
    text = "# Title\n\n**run()**\n\nRuns."
    chunks = (ChunkDraft(0, 7), ChunkDraft(9, len(text)))
    found = page_symbols(
        text, chunks, ((0, "top"), (9, "m.run")), [("m.run", "m.run"), ("--flag", "nowhere")]
    )
    assert [(one.name, one.kind, one.anchor, one.ordinal) for one in found] == [
        ("m.run", "api", "m.run", 1),
        ("--flag", "option", "nowhere", 0),
    ]


def symbols(text: str, title: str = "", *anchors: tuple[int, str]) -> list[tuple[str, str, str]]:
    found = page_symbols(text, (ChunkDraft(0, len(text)),), anchors, title=title)
    return [(one.name, one.kind, one.anchor) for one in found]


def test_a_name_is_defined_once_for_each_of_its_ids():
    text = "run_it\n\n**--fresh**\n\n**--fresh**\n\n**run_it(*n*)**"
    places = [text.index("**--fresh"), text.rindex("**--fresh"), text.index("**run_it")]
    anchors = [
        (place, name)
        for place, name in zip(places, ("a-fresh", "b-fresh", "x.run_it"), strict=True)
    ]
    assert sorted(symbols(text, "", *anchors)) == [
        ("--fresh", "option", "a-fresh"),
        ("--fresh", "option", "b-fresh"),
        ("run_it", "api", ""),
        ("x.run_it", "api", "x.run_it"),
    ]


def test_lists_of_links_define_nothing():
    assert (
        symbols("- [sql_open](https://x.example/open)\n- [`sql_close`](https://x.example/close)")
        == []
    )


def test_prototypes_in_c_define_their_functions_and_examples_do_not():
    prototypes = "```c\nint sql_open(\n  const char *name,  /* file */\n  sql **out\n);\nchar *sql_error(sql*);\n```"
    assert symbols(prototypes) == [("sql_open", "heading", ""), ("sql_error", "heading", "")]
    for example in (
        "int my_run(int n) {\n  return sql_step(n);\n}",
        "SELECT json_get(x);",
        "return sql_open(x);",
    ):
        assert symbols(f"```\n{example}\n```") == []


def test_methods_of_rustdoc_have_the_path_of_their_type():
    text = "#### pub fn drain(&mut self)"
    assert symbols(text, "Vec in std::vec - Rust", (0, "method.drain")) == [
        ("std::vec::Vec", "api", ""),
        ("std::vec::Vec::drain", "api", "method.drain"),
    ]


def test_a_name_of_an_inventory_whose_anchor_is_an_empty_element_is_in_the_section_with_its_heading():
    text = "# Settings\n\nAll of them.\n\n## worker_limit\n\nHow many."
    start = text.index("## ")
    chunks = (ChunkDraft(0, start), ChunkDraft(start, len(text)))
    anchors = ((0, "settings"), (start, "worker-limit"))
    found = page_symbols(text, chunks, anchors, [("worker_limit", "std-setting-worker_limit")])
    (one,) = (one for one in found if one.anchor == "std-setting-worker_limit")
    assert (one.name, one.kind, one.ordinal) == ("worker_limit", "api", 1)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("-4, --ipv4", ["-4", "--ipv4"]),
        ("-15, 'quad_segs=4'", []),
        ("-0.5 1.5 2", []),
        ("--Return the point of a line", []),
        ("--result--", []),
        ("--color WHEN", ["--color"]),
    ],
)
def test_numbers_and_comments_are_no_options(line, names):
    assert [name for name, kind in named(line) if kind == "option"] == names


@pytest.mark.parametrize(("letters", "count"), [(100, 1), (101, 0)])
def test_a_name_has_at_most_a_hundred_letters(letters: int, count: int) -> None:
    name = "tide.".ljust(letters, "x")
    assert len(named(f"**{name}(*height*)**", name)) == count


@pytest.mark.parametrize(("words", "count"), [(5, 1), (6, 0)])
def test_a_term_of_a_glossary_has_at_most_five_words(words: int, count: int) -> None:
    assert len(named(f"**{' '.join('abcdefg'[:words])}**", "term-some")) == count


@pytest.mark.parametrize(("before", "count"), [(380, 1), (401, 0)])
def test_a_name_is_looked_for_in_the_first_400_characters_of_a_line(
    before: int, count: int
) -> None:
    assert len(named(f"**{' ' * before}tide.rise(*height*)**", "tide.rise")) == count
