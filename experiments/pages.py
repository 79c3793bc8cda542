"""Put tables into pages of the docs, between marks: ``<!-- name -->``, ``<!-- /name -->``."""

import re


def filled(text, tables):
    """Return the text with every table, by the name of its mark, made anew."""
    for name, table in tables.items():
        text, found = re.subn(
            rf"(<!-- {name} -->\n).*?\n?(<!-- /{name} -->)",
            lambda match, table=table: match[1] + table + "\n" + match[2],
            text,
            flags=re.DOTALL,
        )
        assert found == 1, f"{found} places are marked {name}"
    return text


def markdown(frame):
    """Write a frame as a table in Markdown."""
    lines = ["| " + " | ".join(frame.columns) + " |", "|---" * len(frame.columns) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in frame.to_numpy()]
    return "\n".join(lines)


def html(frame):
    """Write a frame as a table in HTML; ``**bold**`` becomes bold."""
    text = frame.to_html(index=False, border=0, na_rep="")
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
