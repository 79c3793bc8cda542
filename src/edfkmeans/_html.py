"""Small pieces of HTML for notebooks: text is escaped, and nothing needs a script or a style."""

from collections.abc import Iterable, Sequence
from html import escape


def paragraph(text: str, *, strong: bool = False) -> str:
    """Make a paragraph."""
    inner = escape(text)
    return f"<p><strong>{inner}</strong></p>" if strong else f"<p>{inner}</p>"


def listed(items: Iterable[str]) -> str:
    """Make a list, or nothing where there are no items."""
    inner = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<ul>{inner}</ul>" if inner else ""


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table; the first cell of a row is its title."""
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def folded(title: str, content: str) -> str:
    """Make something to be opened by a click."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"
