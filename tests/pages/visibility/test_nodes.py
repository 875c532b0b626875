from __future__ import annotations

from lxml import html

from websearch_gateway.pages.visibility.nodes import Contents, Name, Node

NAME = Name("p", frozenset(), 0, {}, ())


def test_the_contents_of_a_tree_are_found_by_tag_attribute_and_class() -> None:
    contents = Contents(html.fromstring("<div id=top class='a b'><p class=b>One<P>Two</div>"))
    assert [element.tag for element in contents.elements] == ["div", "p", "p"]
    assert [element.text for element in contents.with_tag["p"]] == ["One", "Two"]
    assert len(contents.with_attribute["class"]) == 2
    assert contents.classes == {"a b": [".a", ".b"], "b": [".b"]}
    assert contents.keys == {"div", "p", ".a", ".b", "#top"}


def test_attributes_declare_as_styles_do() -> None:
    page = (
        "<div style='color: RED'><table bgcolor='#FFF'><td><font color=White>x</font></table></div>"
    )
    assert Contents(html.fromstring(page)).declared == {
        ("color", "red"),
        ("background", "#fff"),
        ("color", "white"),
    }


def test_a_child_knows_its_position_among_all_and_among_those_of_its_tag() -> None:
    tree = html.fromstring("<div><p>One</p><b>Two</b><p>Three</p></div>")
    root = Node(tree, [], None, NAME)
    last = Node(tree[2], [], root, NAME)
    assert (root.position, last.position) == (0, 2)
    assert root.children["p"][tree[2]] == 1
